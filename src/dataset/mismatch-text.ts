/**
 * What the text of a refused change says (DS-75): which column, and the rest in words. For the pages, with and without script.
 */

/** The column a refusal is about; null when it names none. */
export function mismatchColumn(message: string): string | null {
  return /column (['"])(.*?)\1(?=[:])/s.exec(message)?.[2] ?? null;
}

/** The refusal without the words that are the same in all. */
export function mismatchReason(message: string): string {
  return message.replace(/^Schema validation failed: /, '').replace(/^column (['"]).*?\1: /s, '');
}

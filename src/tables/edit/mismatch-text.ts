/** For pages with and without script. */

/** Null when the refusal names no column. */
export function mismatchColumn(message: string): string | null {
  return /column (['"])(.*?)\1(?=[:])/s.exec(message)?.[2] ?? null;
}

/** Without the words common to all refusals. */
export function mismatchReason(message: string): string {
  return message.replace(/^Schema validation failed: /, '').replace(/^column (['"]).*?\1: /s, '');
}

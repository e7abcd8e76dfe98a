/** Longest name of a tool that all clients take. */
const MAX_LENGTH = 64;

/** `saved_errors_by_host_12`: what clients take in names of tools, told apart by its end. */
export function toolName(words: readonly string[], end: string): string {
  const text = words
    .join('_')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  return `${text.slice(0, MAX_LENGTH - end.length - 1)}_${end}`;
}

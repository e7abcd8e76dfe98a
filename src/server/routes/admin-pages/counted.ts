/**
 * Numbers of things in sentences.
 */

/** `1 session`, `2 sessions`: for nouns whose plural takes an s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Numbers of things in sentences.
 */

/** `1 session`, `2 sessions`: for nouns whose plural takes an s. */
export function counted(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}

/**
 * Where a line may break a text without spaces, such as a JSON object: behind the commas of it, not within dates and words.
 */

/** What is seen of a long text at first; behind it a browser breaks as it likes. */
const SHOWN_CHARACTERS = 1000;
const BREAK = /(?<=[,;&])(?=\S)/;

/** The parts of a text between which a line may break; joined they are the text. */
export function breakableParts(text: string): readonly string[] {
  const parts = text.slice(0, SHOWN_CHARACTERS).split(BREAK);
  return [...parts.slice(0, -1), parts.at(-1)! + text.slice(SHOWN_CHARACTERS)];
}

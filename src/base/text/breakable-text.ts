/** After commas, not within dates and words. */

/** Beyond this a browser breaks the text anywhere. */
const SHOWN_CHARACTERS = 1000;
const BREAK = /(?<=[,;&])(?=\S)/;

/** Lines may break between the parts; joined they are the text. */
export function breakableParts(text: string): readonly string[] {
  const parts = text.slice(0, SHOWN_CHARACTERS).split(BREAK);
  return [...parts.slice(0, -1), parts.at(-1)! + text.slice(SHOWN_CHARACTERS)];
}

/** UTF-16 units; Excel calls a file with more damaged. */
export const MAX_CELL_TEXT = 32_767;

/** `A`, `B`, …, `AA`; from 0. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last;
}

/** Markup, characters XML does not allow, and text that looks like their escapes. */
const SPECIAL = /[&<>\0-\x08\x0b-\x1f\ufffe\uffff]|\p{Surrogate}|_(?=x[0-9A-Fa-f]{4}_)/u;
const EVERY_SPECIAL = new RegExp(SPECIAL, 'gu');

/** Characters XML cannot hold are written `_xHHHH_` (22.9.2.19). */
export function sheetText(text: string): string {
  return SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, escapedCharacter) : text;
}

function escapedCharacter(character: string): string {
  if (character === '&') return '&amp;';
  if (character === '<') return '&lt;';
  if (character === '>') return '&gt;';
  const code = character.charCodeAt(0);
  return `_x${code.toString(16).toUpperCase().padStart(4, '0')}_`;
}

/**
 * Which texts are truth values, whatever their case: for files that are written and for pages that compare with them.
 */

/** The value by its text in lower case. */
export const BOOLEAN_TEXT: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['no', false],
]);

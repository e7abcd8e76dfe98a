/**
 * Which texts are truth values, whatever their case: in changes, in operands of filters, in files that are written and on
 * pages that compare with them (DS-53, DS-61, DS-78).
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

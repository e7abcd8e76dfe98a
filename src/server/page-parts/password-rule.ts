/**
 * What a page says of passwords before one is chosen (DS-110).
 */

/** The rule in a sentence. */
export const PASSWORD_RULE =
  'At least 12 characters of three kinds (lower case, upper case, digits, others), or 10 of all four.';

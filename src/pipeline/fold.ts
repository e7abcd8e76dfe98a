/**
 * Folding of SL-30: NFC, upper case, lower case, final sigma to sigma; nothing else, so accents matter.
 */
import { foldCase } from '../dataset/words.ts';

const NON_ASCII = /[^\x00-\x7f]/;

/** The text without differences of case and composition. */
export function fold(text: string): string {
  return NON_ASCII.test(text) ? foldCase(text.normalize('NFC')) : text.toLowerCase();
}

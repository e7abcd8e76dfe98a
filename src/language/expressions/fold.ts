/** The language's folding: NFC, upper case, lower case, final sigma to sigma. Accents still count. */
import { foldCase } from '../../tables/filter/words.ts';

const NON_ASCII = /[^\x00-\x7f]/;

export function fold(text: string): string {
  return NON_ASCII.test(text) ? foldCase(text.normalize('NFC')) : text.toLowerCase();
}

/**
 * Words of full-text queries and texts.
 *
 * A word is a run of Unicode letters, numbers and `_` in folded text. An FTS5 index over `foldedWords(text).join('
 * ')` (unicode61, `remove_diacritics 0`, `tokenchars '_'`) gives the same answers; over raw text it would not,
 * because FTS5 keeps й and ά.
 */

const MAX_QUERY_WORDS = 16;

const WORD = /[\p{L}\p{N}_]+/gu;
const WORD_CHARACTER = /[\p{L}\p{N}_]/u;
const NON_ASCII = /[^\x00-\x7f]/;
/** Combining diacritical marks; those of other scripts are vowels or change the letter. */
const DIACRITICS = /[\u0300-\u036f]/g;

export function foldCase(text: string): string {
  if (!NON_ASCII.test(text)) return text.toLowerCase();
  // Upper first: ß becomes ss and the variants of one letter meet. The lower case of Σ depends on its place in a word.
  return text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** Without differences of case and diacritics. */
export function foldText(text: string): string {
  if (!NON_ASCII.test(text)) return text.toLowerCase();
  const bare = text.normalize('NFD').replace(DIACRITICS, '');
  return foldCase(bare).normalize('NFD').replace(DIACRITICS, '').normalize('NFC');
}

/** In order. */
export function foldedWords(text: string): string[] {
  return foldText(text).match(WORD) ?? [];
}

/** The last one matches as a prefix. Empty: no restriction. */
export function queryWords(query: string): string[] {
  return foldedWords(query).slice(0, MAX_QUERY_WORDS);
}

/** The last of `words` (from `queryWords`) matches as a prefix. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const folded = foldText(text);
  return words.every((word, index) => hasWord(folded, word, index === words.length - 1));
}

function hasWord(folded: string, word: string, isPrefix: boolean): boolean {
  for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (!isWordBefore(folded, at) && (isPrefix || !isWordAt(folded, end))) return true;
  }
  return false;
}

function isWordAt(text: string, index: number): boolean {
  const code = text.codePointAt(index);
  return code !== undefined && WORD_CHARACTER.test(String.fromCodePoint(code));
}

function isWordBefore(text: string, index: number): boolean {
  if (index === 0) return false;
  const low = text.charCodeAt(index - 1);
  const isPair = low >= 0xdc00 && low <= 0xdfff && index > 1;
  return isWordAt(text, isPair ? index - 2 : index - 1);
}

/** Words are those of `tables/filter/words.ts`; the last one of a query matches as a prefix. */
import { foldText } from '../tables/filter/words.ts';

const WORD = /[\p{L}\p{N}_]+/gu;
const WORD_CHARACTER = /[\p{L}\p{N}_]/u;
/** More occurrences hardly change a score. */
const MAX_COUNTED = 50;
const PREFIX_WEIGHT = 0.7;

export function frequencyOf(folded: string, word: string, isPrefix: boolean): number {
  let frequency = 0;
  for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
    if (isWordBefore(folded, at)) continue;
    const isWhole = !isWordAt(folded, at + word.length);
    if (isWhole) frequency += 1;
    else if (isPrefix) frequency += PREFIX_WEIGHT;
    if (frequency >= MAX_COUNTED) break;
  }
  return frequency;
}

/** `end` is exclusive. */
export interface PlacedWord {
  readonly start: number;
  readonly end: number;
  /** First matching query word; -1 for none. */
  readonly hit: number;
}

export function placedWords(text: string, words: readonly string[]): PlacedWord[] {
  const placed: PlacedWord[] = [];
  for (const match of text.matchAll(WORD)) {
    const start = match.index;
    placed.push({ start, end: start + match[0].length, hit: hitOf(foldText(match[0]), words) });
  }
  return placed;
}

function hitOf(folded: string, words: readonly string[]): number {
  const last = words.length - 1;
  for (let index = 0; index <= last; index++) {
    if (folded === words[index]) return index;
  }
  return folded.startsWith(words[last]!) ? last : -1;
}

function isWordAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 128) return isAsciiWord(code);
  const point = text.codePointAt(index);
  return point !== undefined && WORD_CHARACTER.test(String.fromCodePoint(point));
}

function isWordBefore(text: string, index: number): boolean {
  if (index === 0) return false;
  const low = text.charCodeAt(index - 1);
  if (low < 128) return isAsciiWord(low);
  const isPair = low >= 0xdc00 && low <= 0xdfff && index > 1;
  return isWordAt(text, isPair ? index - 2 : index - 1);
}

function isAsciiWord(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    code === 95
  );
}

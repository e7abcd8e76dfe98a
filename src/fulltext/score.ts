/**
 * BM25 over title and body, with the title counting ten times.
 *
 * The statistics of the collection are constants: real BM25 uses all entries, and a secret document would move the
 * scores of others and reveal whether a word occurs in it. So a score depends on the entry and the query alone.
 */
import { frequencyOf } from './occurrences.ts';

const TITLE_WEIGHT = 10;
const BODY_WEIGHT = 1;
/** Saturation: how quickly more occurrences stop to count. */
const K1 = 1.2;
/** Length penalty. */
const B = 0.5;
/** Words of a text of ordinary length. */
const MEAN_WORDS = 80;
/** The penalty ends here, so that no score of a match falls to that of `UNRANKED`. */
const MAX_LENGTH_RATIO = 20;
/** Frequent words with little meaning, in the languages most files are in. */
const COMMON = new Set(
  (
    'a an and are as at be but by can do for from has have how i if in into is it its my not of on or our so that the ' +
    'their then there this to use using was we what when where which will with you your ' +
    'der die das den dem des ein eine einer und oder ist im in mit von zu auf für'
  ).split(' '),
);
const COMMON_WEIGHT = 0.2;

/** Score of matches that are not ranked: below all others, above mistyped ones. */
export const UNRANKED = 0.02;

/** `distance` counts the wrong letters. */
export function typoScore(distance: number): number {
  return rounded(0.015 / Math.max(1, distance));
}

interface ScoredText {
  readonly title: string;
  readonly body: string;
  /** Words in both, roughly. */
  readonly size: number;
}

/** Four decimals; higher is better. Every word is assumed to occur, even when the texts lack it. */
export function scoreOf({ title, body, size }: ScoredText, words: readonly string[]): number {
  const ratio = Math.min(MAX_LENGTH_RATIO, size / MEAN_WORDS);
  const saturation = K1 * (1 - B + B * ratio);
  let score = 0;
  for (const [index, word] of words.entries()) {
    const isPrefix = index === words.length - 1;
    const inTitle = frequencyOf(title, word, isPrefix);
    const frequency =
      TITLE_WEIGHT * inTitle + BODY_WEIGHT * (frequencyOf(body, word, isPrefix) || 1);
    const weight = COMMON.has(word) ? COMMON_WEIGHT : 1;
    score += (weight * frequency * (K1 + 1)) / (frequency + saturation);
  }
  return rounded(score);
}

function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}

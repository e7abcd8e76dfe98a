/**
 * One wrong letter in words of 4 to 7, two in longer ones. Every word must occur, exactly in title or text or
 * mistyped in the title of a document.
 */
import { foldedWords, foldText } from '../tables/filter/words.ts';
import type { Catalogue } from './catalogue.ts';
import { frequencyOf } from './occurrences.ts';

interface DocumentText {
  readonly title: string;
  readonly body: string;
}

/** A word close to the titles of more documents says too little. */
const MAX_CANDIDATES = 2_000;

export function tolerated(word: string): number {
  const letters = [...word].length;
  return letters >= 8 ? 2 : letters >= 4 ? 1 : 0;
}

/** In no order; `accepts` leaves out unreadable resources before any is counted. */
export function typoCandidates(
  catalogue: Catalogue,
  words: readonly string[],
  accepts: (no: number) => boolean,
): number[] {
  const found = new Set<number>();
  for (const word of words) {
    const distance = tolerated(word);
    if (distance === 0) continue;
    for (const id of catalogue.near(word, distance, accepts)) found.add(id);
  }
  return [...found].sort((a, b) => a - b).slice(0, MAX_CANDIDATES);
}

/**
 * Null when the document does not match, or matches without mistakes. `standsBehind` is asked for words that are
 * neither in the title nor in the given part of the text.
 */
export function typosIn(
  document: DocumentText,
  words: readonly string[],
  standsBehind: (index: number) => boolean = () => false,
): number | null {
  const title = foldText(document.title);
  const body = foldText(document.body);
  const titleWords = foldedWords(document.title);
  let typos = 0;
  for (const [index, word] of words.entries()) {
    const isPrefix = index === words.length - 1;
    if (frequencyOf(title, word, isPrefix) > 0 || frequencyOf(body, word, isPrefix) > 0) continue;
    if (standsBehind(index)) continue;
    const nearest = nearestDistance(word, titleWords);
    if (nearest === null) return null;
    typos += nearest;
  }
  return typos === 0 ? null : typos;
}

function nearestDistance(word: string, titleWords: readonly string[]): number | null {
  const limit = tolerated(word);
  let nearest = limit + 1;
  for (const candidate of titleWords) {
    if (Math.abs(candidate.length - word.length) > limit) continue;
    nearest = Math.min(nearest, editDistance(word, candidate));
  }
  return nearest <= limit ? nearest : null;
}

export function editDistance(a: string, b: string): number {
  const from = [...a];
  const to = [...b];
  const costs = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [row, letter] of from.entries()) {
    let diagonal = costs[0]!;
    costs[0] = row + 1;
    for (const [column, other] of to.entries()) {
      const above = costs[column + 1]!;
      const replaced = diagonal + (letter === other ? 0 : 1);
      costs[column + 1] = Math.min(above + 1, costs[column]! + 1, replaced);
      diagonal = above;
    }
  }
  return costs[to.length]!;
}

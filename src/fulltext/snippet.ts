/** As parts rather than markup: callers render JSON text or page elements. */
import { placedWords, type PlacedWord } from './occurrences.ts';

export interface SnippetPart {
  readonly text: string;
  readonly isHit: boolean;
}

const WORDS = 24;
const LEAD_WORDS = 6;
/** In longer texts only the surroundings of the first place of a word are searched. */
const MAX_CHARACTERS = 20_000;
const AROUND_CHARACTERS = 2_000;
/** Bounds what one endless word takes up. */
const MAX_SNIPPET_CHARACTERS = 600;

/** About 24 words around the hits, `…` where cut; the beginning when no word occurs. */
export function snippetOf(text: string, words: readonly string[]): SnippetPart[] {
  const near = text.length > MAX_CHARACTERS ? nearFirst(text, words) : { text, offset: 0 };
  const placed = placedWords(near.text, words);
  if (placed.length === 0) return [];
  const first = bestStart(placed);
  const last = Math.min(placed.length, first + WORDS) - 1;
  const isCutAtStart = first > 0 || near.offset > 0;
  const isCutAtEnd = last < placed.length - 1 || near.offset + near.text.length < text.length;
  const from = isCutAtStart ? placed[first]!.start : 0;
  const to = isCutAtEnd ? placed[last]!.end : near.text.length;
  const parts = partsOf(near.text, placed.slice(first, last + 1), from, to);
  return [
    ...(isCutAtStart ? [{ text: '…', isHit: false }] : []),
    ...shortened(parts),
    ...(isCutAtEnd ? [{ text: '…', isHit: false }] : []),
  ];
}

function nearFirst(text: string, words: readonly string[]): { text: string; offset: number } {
  // Lower case changes the length in a few letters at most; the place need not be exact.
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const at = places.length === 0 ? 0 : Math.min(...places);
  const offset = Math.max(0, at - AROUND_CHARACTERS);
  return { text: text.slice(offset, at + 2 * AROUND_CHARACTERS).toWellFormed(), offset };
}

/** The start of the window with most different hits, of those the first. */
function bestStart(placed: readonly PlacedWord[]): number {
  let best = 0;
  let most = 0;
  for (const [index, { hit }] of placed.entries()) {
    if (hit < 0) continue;
    const start = Math.max(0, index - LEAD_WORDS);
    const kinds = new Set<number>();
    for (const word of placed.slice(start, start + WORDS)) if (word.hit >= 0) kinds.add(word.hit);
    if (kinds.size <= most) continue;
    most = kinds.size;
    best = start;
  }
  return Math.max(0, Math.min(best, placed.length - WORDS));
}

function partsOf(
  text: string,
  placed: readonly PlacedWord[],
  from: number,
  to: number,
): SnippetPart[] {
  const parts: SnippetPart[] = [];
  let at = from;
  const add = (end: number, isHit: boolean): void => {
    if (end > at) parts.push({ text: text.slice(at, end).replace(/\s+/g, ' '), isHit });
    at = end;
  };
  for (const { start, end, hit } of placed) {
    if (hit < 0) continue;
    add(start, false);
    add(end, true);
  }
  add(to, false);
  return parts;
}

function shortened(parts: readonly SnippetPart[]): SnippetPart[] {
  let room = MAX_SNIPPET_CHARACTERS;
  return parts.flatMap(({ text, isHit }) => {
    if (room <= 0) return [];
    const part = { text: text.slice(0, room).toWellFormed(), isHit };
    room -= text.length;
    return [part];
  });
}

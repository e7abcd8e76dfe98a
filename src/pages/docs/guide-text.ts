/** The guide, made from docs/ when the executable is built (build/guide.ts); unpacked on demand, about a millisecond. */
import type { OutlineEntry } from '../../docroot/kind.ts';
import { bundledChapterNames, bundledGuide } from './guide-bundle.ts' with { type: 'macro' };

export interface GuideChapter {
  /** `''` for the index. */
  readonly name: string;
  readonly title: string;
  /** HTML of the allow list for documents. */
  readonly body: string;
  readonly outline: readonly OutlineEntry[];
  readonly sections: readonly GuideSection[];
}

interface GuideSection {
  readonly title: string;
  /** Null for what stands before the first heading. */
  readonly anchor: string | null;
  readonly text: string;
}

export interface GuideHit {
  readonly chapter: string;
  readonly title: string;
  readonly href: string;
  readonly snippet: readonly { readonly text: string; readonly isHit: boolean }[];
}

const MAX_WORDS = 10;
const MAX_HITS = 30;
const SNIPPET_CHARACTERS = 200;
/** Shown before the first word. */
const LEAD_CHARACTERS = 60;

/** Without the index. */
export const GUIDE_CHAPTERS: readonly string[] = bundledChapterNames().split(' ');

let unpacked: readonly GuideChapter[] | null = null;

/** The index first. */
export function guideChapters(): readonly GuideChapter[] {
  unpacked ??= JSON.parse(bundledGuide()) as GuideChapter[];
  return unpacked;
}

export function guideAddress(name: string, anchor: string | null = null): string {
  const path = name === '' ? '/docs/guide' : `/docs/guide/${name}`;
  return anchor === null ? path : `${path}#${encodeURIComponent(anchor)}`;
}

/** Sections with every word of `query`, ignoring case; those with one in their title first. At most 30. */
export function findInGuide(query: string): GuideHit[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  const wanted = words.slice(0, MAX_WORDS);
  const hits: { readonly hit: GuideHit; readonly score: number }[] = [];
  for (const { name, title: chapter, sections } of guideChapters()) {
    for (const { title, anchor, text } of sections) {
      const heading = title.toLowerCase();
      const below = text.toLowerCase();
      if (!wanted.every((word) => heading.includes(word) || below.includes(word))) continue;
      const score = wanted.filter((word) => heading.includes(word)).length;
      const hit = {
        chapter,
        title,
        href: guideAddress(name, anchor),
        snippet: snippetOf(text, wanted),
      };
      hits.push({ hit, score });
    }
  }
  return hits
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_HITS)
    .map(({ hit }) => hit);
}

function snippetOf(text: string, words: readonly string[]): GuideHit['snippet'] {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - LEAD_CHARACTERS);
  const start = places.length === 0 ? 0 : from;
  const cut = text.slice(start, start + SNIPPET_CHARACTERS);
  const parts: { text: string; isHit: boolean }[] = start > 0 ? [{ text: '…', isHit: false }] : [];
  const lowerCut = cut.toLowerCase();
  for (let at = 0; at < cut.length;) {
    const next = words
      .map((word) => ({ word, place: lowerCut.indexOf(word, at) }))
      .filter(({ place }) => place >= 0)
      .sort((a, b) => a.place - b.place || b.word.length - a.word.length)[0];
    if (next === undefined) {
      parts.push({ text: cut.slice(at), isHit: false });
      break;
    }
    if (next.place > at) parts.push({ text: cut.slice(at, next.place), isHit: false });
    at = next.place + next.word.length;
    parts.push({ text: cut.slice(next.place, at), isHit: true });
  }
  if (start + SNIPPET_CHARACTERS < text.length) parts.push({ text: '…', isHit: false });
  return parts;
}

/**
 * The words of all titles in Orama, for words with typing mistakes; in a worker, because Orama is synchronous. Its
 * results are candidates: `typos.ts` decides.
 *
 * Each word is stored once, with its places by resource: how often a word occurs in what a caller may not read does
 * not show in the time of the search. Titles only: two indexes with scores of their own could not give one order, and
 * Orama's cost grows with the square of a text's words.
 */
import { create, insert, load, remove, save, search } from '@orama/orama';
import type { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { foldedWords } from '../tables/filter/words.ts';
import { entryId, rangeOf } from './entry-id.ts';

const SNAPSHOT_FORMAT = 2;
/** Orama's cost grows with the square of the words. */
const MAX_TITLE_WORDS = 40;
/** About a kilobyte of memory each; others are found by exact words only. */
const MAX_TITLES = 200_000;
/** Before every word, so that none is an inherited member of objects. */
const MARK = '~';

interface Snapshot {
  readonly format: number;
  readonly resources: readonly (readonly [no: number, Titles])[];
  readonly orama: ReturnType<typeof save>;
}

interface Titles {
  readonly count: number;
  readonly words: readonly (readonly [word: string, ids: readonly number[]])[];
}

const tokenizer = {
  language: 'english',
  normalizationCache: new Map<string, string>(),
  tokenize: (text: string) => [
    ...new Set(
      foldedWords(text)
        .slice(0, MAX_TITLE_WORDS)
        .map((word) => MARK + word),
    ),
  ],
};

function emptyIndex() {
  return create({ schema: { title: 'string' } as const, components: { tokenizer } });
}

export class Catalogue {
  readonly #path: string;
  #orama = emptyIndex();
  #resources = new Map<number, Titles>();
  readonly #places = new Map<string, Map<number, readonly number[]>>();
  #isLoaded = false;
  #size = 0;

  /** `path` is the snapshot, which need not exist. */
  constructor(path: string) {
    this.#path = path;
  }

  get size(): number {
    return this.#size;
  }

  /** True when anything changed. */
  follow(db: Database): boolean {
    if (!this.#isLoaded) this.#load();
    const live = db
      .query("SELECT no, columns IS NOT NULL FROM resources WHERE state = 'live'")
      .values() as [number, number][];
    const present = new Set(live.map(([no]) => no));
    let isChanged = false;
    for (const no of this.#resources.keys()) {
      if (present.has(no)) continue;
      this.#forget(no);
      isChanged = true;
    }
    for (const [no, isDataset] of live) {
      if (this.#resources.has(no)) continue;
      this.#take(db, no, isDataset === 1);
      isChanged = true;
    }
    return isChanged;
  }

  /** Some are farther than `distance`. */
  near(word: string, distance: number, accepts: (no: number) => boolean = () => true): number[] {
    const { hits } = search(this.#orama, {
      term: word,
      properties: ['title'],
      tolerance: distance,
      limit: MAX_TITLES,
    }) as { hits: { id: string }[] };
    return hits.flatMap(({ id }) =>
      [...(this.#places.get(id.slice(MARK.length)) ?? [])].flatMap(([no, ids]) =>
        accepts(no) ? ids : [],
      ),
    );
  }

  /** Atomic. */
  async save(): Promise<void> {
    const snapshot: Snapshot = {
      format: SNAPSHOT_FORMAT,
      resources: [...this.#resources],
      orama: save(this.#orama),
    };
    const partial = `${this.#path}.new`;
    await writeFile(partial, JSON.stringify(snapshot), { mode: 0o600 });
    await rename(partial, this.#path);
  }

  /** The content is current: updates only the date, unless the file is missing. */
  async confirm(): Promise<void> {
    const now = new Date();
    await utimes(this.#path, now, now).catch(() => this.save());
  }

  #load(): void {
    this.#isLoaded = true;
    try {
      const snapshot = JSON.parse(readFileSync(this.#path, 'utf8')) as Snapshot;
      if (snapshot.format !== SNAPSHOT_FORMAT) return;
      load(this.#orama, snapshot.orama);
      for (const [no, titles] of snapshot.resources) this.#note(no, titles, () => {});
    } catch {
      // Missing or damaged: titles are read from the index instead.
      this.#orama = emptyIndex();
      this.#resources = new Map();
      this.#places.clear();
      this.#size = 0;
    }
  }

  #take(db: Database, no: number, isDataset: boolean): void {
    const [first, last] = rangeOf(no);
    const rows = db
      .query('SELECT id, title FROM entries WHERE id BETWEEN ? AND ?')
      .values(first, isDataset ? entryId(no, 0) : last) as [number, string | null][];
    const words = new Map<string, number[]>();
    let count = 0;
    for (const [id, title] of rows) {
      if (title === null || title === '' || this.#size + count >= MAX_TITLES) continue;
      count += 1;
      for (const marked of tokenizer.tokenize(title)) {
        const word = marked.slice(MARK.length);
        const ids = words.get(word);
        if (ids === undefined) words.set(word, [id]);
        else ids.push(id);
      }
    }
    this.#note(no, { count, words: [...words] }, (word) =>
      insert(this.#orama, { id: MARK + word, title: word }),
    );
  }

  #note(no: number, titles: Titles, onNew: (word: string) => void): void {
    this.#resources.set(no, titles);
    this.#size += titles.count;
    for (const [word, ids] of titles.words) {
      let places = this.#places.get(word);
      if (places === undefined) {
        places = new Map();
        this.#places.set(word, places);
        onNew(word);
      }
      places.set(no, ids);
    }
  }

  #forget(no: number): void {
    const { count, words } = this.#resources.get(no)!;
    this.#resources.delete(no);
    this.#size -= count;
    for (const [word] of words) {
      const places = this.#places.get(word)!;
      places.delete(no);
      if (places.size > 0) continue;
      this.#places.delete(word);
      remove(this.#orama, MARK + word);
    }
  }
}

/**
 * The titles of all documents (pages, sections, files, datasets, handlers) in Orama, for words with typing mistakes
 * (DS-148). Lives in a worker, because Orama works synchronously: 20,000 titles take it a second to take in.
 *
 * Titles only. Exact words of titles and texts alike are found by FTS5: two indexes with scores of their own could not
 * give one order, Orama's cost grows with the square of a text's words, and only titles tolerate mistakes anyway. What
 * it finds are candidates; `typos.ts` decides. A snapshot beside the index spares the next start the work.
 */
import { create, insert, load, remove, save, search } from '@orama/orama';
import type { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { foldedWords } from '../dataset/words.ts';
import { entryId, rangeOf, resourceNoOf } from './entry-id.ts';

const SNAPSHOT_FORMAT = 1;
/** A longer title hardly is one; Orama's cost grows with the square of the words. */
const MAX_TITLE_WORDS = 40;
/** Titles past this number are found by their exact words only: each takes about a kilobyte of memory. */
const MAX_TITLES = 200_000;
/** Before every word, so that none is the name of a member of JavaScript's objects. */
const MARK = '~';

interface Snapshot {
  readonly format: number;
  /** The titles taken in, by resource. */
  readonly ids: readonly (readonly [number, readonly number[]])[];
  readonly orama: ReturnType<typeof save>;
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

/** The titles of one index file, brought up to date when they are asked for. */
export class Catalogue {
  readonly #path: string;
  #orama = emptyIndex();
  /** Entries taken in, by resource. */
  #ids = new Map<number, readonly number[]>();
  #isLoaded = false;
  #size = 0;

  /** `path` is the file of the snapshot, which need not exist. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Titles held. */
  get size(): number {
    return this.#size;
  }

  /** Takes in what is new in the index and lets go of what is no longer live. True when there was something to do. */
  follow(db: Database): boolean {
    if (!this.#isLoaded) this.#load();
    const live = db
      .query("SELECT no, columns IS NOT NULL FROM resources WHERE state = 'live'")
      .values() as [number, number][];
    const present = new Set(live.map(([no]) => no));
    let isChanged = false;
    for (const no of this.#ids.keys()) {
      if (present.has(no)) continue;
      this.#forget(no);
      isChanged = true;
    }
    for (const [no, isDataset] of live) {
      if (this.#ids.has(no)) continue;
      this.#take(db, no, isDataset === 1);
      isChanged = true;
    }
    return isChanged;
  }

  /** Entries with a word in the title that is about the given folded one; some are farther away than `distance`. */
  near(word: string, distance: number): number[] {
    const { hits } = search(this.#orama, {
      term: word,
      properties: ['title'],
      tolerance: distance,
      limit: MAX_TITLES,
    }) as { hits: { id: string }[] };
    return hits.map(({ id }) => Number(id));
  }

  /** Writes the snapshot; a reader sees the old or the new one. */
  async save(): Promise<void> {
    const snapshot: Snapshot = {
      format: SNAPSHOT_FORMAT,
      ids: [...this.#ids],
      orama: save(this.#orama),
    };
    const partial = `${this.#path}.new`;
    await writeFile(partial, JSON.stringify(snapshot), { mode: 0o600 });
    await rename(partial, this.#path);
  }

  /** Dates the snapshot now, as what it would hold is what it holds; writes it where it is missing. */
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
      this.#ids = new Map(snapshot.ids);
      for (const ids of this.#ids.values()) this.#size += ids.length;
    } catch {
      // Missing or damaged: the titles are read from the index instead.
      this.#orama = emptyIndex();
      this.#ids = new Map();
      this.#size = 0;
    }
  }

  #take(db: Database, no: number, isDataset: boolean): void {
    const [first, last] = rangeOf(no);
    const rows = db
      .query('SELECT id, title FROM entries WHERE id BETWEEN ? AND ?')
      .values(first, isDataset ? entryId(no, 0) : last) as [number, string | null][];
    const ids: number[] = [];
    for (const [id, title] of rows) {
      if (title === null || title === '' || this.#size >= MAX_TITLES) continue;
      insert(this.#orama, { id: String(id), title });
      ids.push(id);
      this.#size += 1;
    }
    this.#ids.set(no, ids);
  }

  #forget(no: number): void {
    const ids = this.#ids.get(no) ?? [];
    for (const id of ids) if (resourceNoOf(id) === no) remove(this.#orama, String(id));
    this.#size -= ids.length;
    this.#ids.delete(no);
  }
}

/**
 * Each call is one transaction.
 *
 * A resource is read into a range of its own, which becomes live when complete; its old range turns dead in the same
 * transaction and is deleted later, a piece at a time.
 */
import type { Database, Statement } from 'bun:sqlite';
import { AppError } from '../base/errors.ts';
import type { RowTexts } from '../tables/copy/copy-rows.ts';
import { foldedWords } from '../tables/filter/words.ts';
import { entryId, MAX_RESOURCE_NO, rangeOf } from './entry-id.ts';
import {
  ALL_NAMES,
  deleteIndex,
  HEAD_CHARACTERS,
  openForWriting,
  TITLE_MARK,
} from './index-file.ts';
import { rowText, sizeOf } from './row-text.ts';

const NON_ASCII = /[^\x00-\x7f]/;

export interface IndexedResource {
  readonly no: number;
  /** Rel of the file, and the sheet if it is one. */
  readonly key: string;
  readonly version: string;
  readonly documents: number;
  /** Rows past the configured limit. */
  readonly leftOut: number;
  /** File name of the typed copy that has the texts of the rows; null for a document. */
  readonly copy: string | null;
}

export const LIVE_RESOURCES =
  "SELECT no, key, version, documents, left_out AS leftOut, copy FROM resources WHERE state = 'live'";

export interface DocumentEntry {
  readonly title: string;
  readonly anchor: string | null;
  readonly text: string;
}

export class IndexWriter {
  readonly path: string;
  #db: Database;

  constructor(path: string) {
    this.path = path;
    this.#db = this.#opened();
  }

  #opened(): Database {
    const db = openForWriting(this.path);
    const last = db.query('SELECT max(no) FROM resources').values()[0]?.[0];
    if (typeof last !== 'number' || last < MAX_RESOURCE_NO / 2) return db;
    db.close();
    deleteIndex(this.path);
    return openForWriting(this.path);
  }

  /** For readers in the same process. */
  get db(): Database {
    return this.#db;
  }

  /** For a starting server: also abandons ranges an earlier one did not finish. */
  live(): IndexedResource[] {
    this.#db.run("UPDATE resources SET state = 'dead' WHERE state = 'building'");
    return this.#db.query(LIVE_RESOURCES).all() as IndexedResource[];
  }

  /** `copy`: file name of the typed copy. */
  begin(key: string, columns: readonly string[], copy: string): number {
    const { lastInsertRowid } = this.#db
      .query(
        "INSERT INTO resources (key, version, state, columns, copy) VALUES (?, '', 'building', ?, ?)",
      )
      .run(key, JSON.stringify(columns), copy);
    return Number(lastInsertRowid);
  }

  /** By how many entries the range grew. Throws `conflict` when the range was abandoned. */
  changeRows(
    no: number,
    columns: readonly string[],
    { put, remove }: { readonly put: Iterable<RowTexts>; readonly remove: readonly number[] },
  ): number {
    return this.#db.transaction(() => {
      this.#requireInUse(no);
      const words = this.#insertWords();
      let change = 0;
      for (const rowId of remove) change -= this.#deleteWords(entryId(no, rowId));
      for (const [rowId, ...cells] of put) {
        const id = entryId(no, rowId);
        change -= this.#deleteWords(id);
        const { title, body, isWhole } = rowText(cells, columns);
        const text = isWhole ? `${wordsOf(cells.join(' '))} ${ALL_NAMES}` : wordsOf(body);
        words.run(id, `${text} ${markedWords(title)}`);
        change += 1;
      }
      this.#db.query('UPDATE resources SET documents = documents + ? WHERE no = ?').run(change, no);
      return change;
    })();
  }

  finish(no: number, version: string, dataset: DocumentEntry, leftOut: number): void {
    this.#db.transaction(() => {
      this.#requireInUse(no);
      this.#putDocument(entryId(no, 0), dataset);
      this.#db
        .query('UPDATE resources SET documents = documents + 1, left_out = ? WHERE no = ?')
        .run(leftOut, no);
      this.#publish(no, version);
    })();
  }

  replaceDocument(key: string, version: string, sections: readonly DocumentEntry[]): number {
    return this.#db.transaction(() => {
      const { lastInsertRowid } = this.#db
        .query(
          "INSERT INTO resources (key, version, state, documents) VALUES (?, '', 'building', ?)",
        )
        .run(key, sections.length);
      const no = Number(lastInsertRowid);
      for (const [index, section] of sections.entries()) {
        this.#putDocument(entryId(no, index), section);
      }
      this.#publish(no, version);
      return no;
    })();
  }

  setVersion(no: number, version: string): void {
    this.#db.query('UPDATE resources SET version = ? WHERE no = ?').run(version, no);
  }

  abandon(nos: readonly number[]): void {
    const update = this.#db.query("UPDATE resources SET state = 'dead' WHERE no = ?");
    this.#db.transaction(() => {
      for (const no of nos) update.run(no);
    })();
  }

  /** False when none are left. */
  clear(count: number): boolean {
    const dead = this.#db
      .query("SELECT no FROM resources WHERE state = 'dead' ORDER BY no LIMIT 1")
      .values()[0] as [number] | undefined;
    if (dead === undefined) return false;
    const [no] = dead;
    return this.#db.transaction(() => {
      const ids = this.#db
        .query('SELECT id FROM words_docsize WHERE id BETWEEN ? AND ? LIMIT ?')
        .values(...rangeOf(no), count) as [number][];
      for (const [id] of ids) this.#delete(id);
      if (ids.length < count) this.#db.query('DELETE FROM resources WHERE no = ?').run(no);
      return true;
    })();
  }

  /** For quiet moments. */
  tidy(): void {
    this.#db.run("INSERT INTO words (words, rank) VALUES ('merge', 200)");
    // The log of a large reading would stay beside the index; with readers under way it waits for the next quiet moment.
    this.#db.run(
      'PRAGMA busy_timeout = 50; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = 5000',
    );
  }

  reset(): void {
    this.#db.close();
    deleteIndex(this.path);
    this.#db = this.#opened();
  }

  close(): void {
    this.#db.close();
  }

  #requireInUse(no: number): void {
    const state = this.#db.query('SELECT state FROM resources WHERE no = ?').values(no)[0]?.[0];
    if (state === 'building' || state === 'live') return;
    throw new AppError('conflict', 'The entries were given up meanwhile');
  }

  #publish(no: number, version: string): void {
    this.#db
      .query(
        "UPDATE resources SET state = 'dead' WHERE state = 'live' AND no <> ?1 AND key = (SELECT key FROM resources WHERE no = ?1)",
      )
      .run(no);
    this.#db
      .query("UPDATE resources SET state = 'live', version = ? WHERE no = ?")
      .run(version, no);
  }

  #putDocument(id: number, { title, anchor, text }: DocumentEntry): void {
    this.#delete(id);
    // A cut inside a surrogate pair would break the character.
    const cut = text.length > HEAD_CHARACTERS && isLowSurrogate(text, HEAD_CHARACTERS) ? 1 : 0;
    const head = text.slice(0, HEAD_CHARACTERS - cut);
    const rest = text.slice(HEAD_CHARACTERS - cut);
    this.#insertEntry().run(id, title, anchor, sizeOf(text), head, rest === '' ? null : rest);
    this.#insertWords().run(id, `${wordsOf(title)} ${wordsOf(text)} ${markedWords(title)}`);
  }

  #delete(id: number): void {
    this.#db.query('DELETE FROM entries WHERE id = ?').run(id);
    this.#deleteWords(id);
  }

  /** How many entries that were. */
  #deleteWords(id: number): number {
    // Asked first, because deleting what is not there takes FTS5 several times as long.
    if (!hasEntry(this.#db, id)) return 0;
    this.#db.query('DELETE FROM words WHERE rowid = ?').run(id);
    return 1;
  }

  #insertEntry(): Statement {
    return this.#db.query(
      'INSERT INTO entries (id, title, anchor, size, body, rest) VALUES (?, ?, ?, ?, ?, ?)',
    );
  }

  #insertWords(): Statement {
    return this.#db.query('INSERT INTO words (rowid, text) VALUES (?, ?)');
  }
}

/** Whether the index has words for an entry. */
export function hasEntry(db: Database, id: number): boolean {
  return db.query('SELECT 1 FROM words_docsize WHERE id = ?').values(id).length > 0;
}

/** The text for FTS5, which splits ASCII as we do, but knows fewer scripts and their diacritics. */
function wordsOf(text: string): string {
  return NON_ASCII.test(text) ? foldedWords(text).join(' ') : text;
}

function markedWords(title: string): string {
  return foldedWords(title)
    .map((word) => TITLE_MARK + word)
    .join(' ');
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

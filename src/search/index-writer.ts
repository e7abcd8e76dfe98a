/**
 * Everything that changes the index, each call one transaction (architecture: the index has one writer).
 *
 * A resource is read into a range of its own, which becomes live when it is complete; the range that was live before
 * turns dead in the same transaction and is cleared away later, a piece at a time. Putting an entry where there is one
 * replaces it, so a piece of work that was done twice does no harm.
 */
import type { Database, Statement } from 'bun:sqlite';
import { AppError } from '../base/errors.ts';
import type { RowTexts } from '../dataset/copy-rows.ts';
import { foldedWords } from '../dataset/words.ts';
import { entryId, MAX_RESOURCE_NO, rangeOf } from './entry-id.ts';
import { deleteIndex, HEAD_CHARACTERS, openForWriting, TITLE_MARK } from './index-file.ts';
import { packCells, unpackRow } from './row-text.ts';

const NON_ASCII = /[^\x00-\x7f]/;
/** A word of average length and what separates it from the next. */
const CHARACTERS_PER_WORD = 6;

/** A live resource of the index. */
export interface IndexedResource {
  readonly no: number;
  /** Rel of the file, and the sheet if it is one. */
  readonly key: string;
  /** Tells whether the file has changed since. */
  readonly version: string;
  readonly documents: number;
  /** Rows past the limit of the configuration. */
  readonly leftOut: number;
}

/** Statement for all `IndexedResource`s. */
export const LIVE_RESOURCES =
  "SELECT no, key, version, documents, left_out AS leftOut FROM resources WHERE state = 'live'";

/** A document or a section of one. */
export interface DocumentEntry {
  readonly title: string;
  readonly anchor: string | null;
  readonly text: string;
}

/** The index, open for writing. */
export class IndexWriter {
  readonly path: string;
  #db: Database;

  /** Opens or makes the index. */
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

  /** What the index holds, for a server that starts: ranges that an earlier one did not finish are given up. */
  live(): IndexedResource[] {
    this.#db.run("UPDATE resources SET state = 'dead' WHERE state = 'building'");
    return this.#db.query(LIVE_RESOURCES).all() as IndexedResource[];
  }

  /** A new range for a dataset with these columns. */
  begin(key: string, columns: readonly string[]): number {
    const { lastInsertRowid } = this.#db
      .query("INSERT INTO resources (key, version, state, columns) VALUES (?, '', 'building', ?)")
      .run(key, JSON.stringify(columns));
    return Number(lastInsertRowid);
  }

  /**
   * Puts rows into a range and takes others out of it; answers by how many it grew. Throws `conflict` when the range
   * was given up.
   */
  changeRows(
    no: number,
    columns: readonly string[],
    { put, remove }: { readonly put: Iterable<RowTexts>; readonly remove: readonly number[] },
  ): number {
    return this.#db.transaction(() => {
      this.#requireInUse(no);
      const entry = this.#insertEntry();
      const words = this.#insertWords();
      let change = 0;
      for (const rowId of remove) change -= this.#delete(entryId(no, rowId));
      for (const [rowId, ...cells] of put) {
        const id = entryId(no, rowId);
        change -= this.#delete(id);
        const packed = packCells(cells);
        const { title, body } = unpackRow(packed, columns);
        entry.run(id, null, null, sizeOf(body), packed, null);
        words.run(id, `${wordsOf(body)} ${markedWords(title)}`);
        change += 1;
      }
      this.#db.query('UPDATE resources SET documents = documents + ? WHERE no = ?').run(change, no);
      return change;
    })();
  }

  /** Makes the range of a dataset live, with an entry for the dataset itself. */
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

  /** The sections of a document in place of those it had; answers their range. */
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

  /** Notes that a range holds another version of its file by now. */
  setVersion(no: number, version: string): void {
    this.#db.query('UPDATE resources SET version = ? WHERE no = ?').run(version, no);
  }

  /** The ranges are searched no more. */
  abandon(nos: readonly number[]): void {
    const update = this.#db.query("UPDATE resources SET state = 'dead' WHERE no = ?");
    this.#db.transaction(() => {
      for (const no of nos) update.run(no);
    })();
  }

  /** Deletes up to `count` entries of dead ranges; false when there are none left. */
  clear(count: number): boolean {
    const dead = this.#db
      .query("SELECT no FROM resources WHERE state = 'dead' ORDER BY no LIMIT 1")
      .values()[0] as [number] | undefined;
    if (dead === undefined) return false;
    const [no] = dead;
    return this.#db.transaction(() => {
      const ids = this.#db
        .query('SELECT id FROM entries WHERE id BETWEEN ? AND ? LIMIT ?')
        .values(...rangeOf(no), count) as [number][];
      for (const [id] of ids) this.#delete(id);
      if (ids.length < count) this.#db.query('DELETE FROM resources WHERE no = ?').run(no);
      return true;
    })();
  }

  /** Puts the pieces of the word index together and gives the log's room back; for quiet moments. */
  tidy(): void {
    this.#db.run("INSERT INTO words (words, rank) VALUES ('merge', 200)");
    this.#db.run('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Throws the index away and begins an empty one. */
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
    // A cut between the halves of a letter would make two broken ones.
    const cut = text.length > HEAD_CHARACTERS && isLowSurrogate(text, HEAD_CHARACTERS) ? 1 : 0;
    const head = text.slice(0, HEAD_CHARACTERS - cut);
    const rest = text.slice(HEAD_CHARACTERS - cut);
    this.#insertEntry().run(id, title, anchor, sizeOf(text), head, rest === '' ? null : rest);
    this.#insertWords().run(id, `${wordsOf(title)} ${wordsOf(text)} ${markedWords(title)}`);
  }

  /** How many entries went: 1 or 0. */
  #delete(id: number): number {
    const { changes } = this.#db.query('DELETE FROM entries WHERE id = ?').run(id);
    if (changes > 0) this.#db.query('DELETE FROM words WHERE rowid = ?').run(id);
    return changes;
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

/** What FTS5 is given: it takes ASCII texts apart as we do, but knows fewer scripts and their diacritics. */
function wordsOf(text: string): string {
  return NON_ASCII.test(text) ? foldedWords(text).join(' ') : text;
}

/** The words of a title once more, so that they are words of their own. */
function markedWords(title: string): string {
  return foldedWords(title)
    .map((word) => TITLE_MARK + word)
    .join(' ');
}

function sizeOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_WORD);
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

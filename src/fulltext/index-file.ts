/**
 * The SQLite file of the search index.
 *
 * `words` is a contentless FTS5 table over folded words (`tables/filter/words.ts`): which entries have which words, not
 * where. Words of titles are in it again, with a mark, so that matches in titles are found at once among a million
 * others. Prefixes of one and two letters, which stand for thousands of words, have lists of their own. `entries` has
 * the texts of documents for snippets and scores; those of rows are read from the typed copy they were indexed from
 * (`resources.copy`), because a second copy of them was a third of all state. `resources` maps ranges of entries; only
 * `live` ranges are searched, so a resource is read anew beside its old entries and replaces them in one step. Derived
 * data: deleted and built again when in doubt.
 */
import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDamage } from '../base/sqlite-damage.ts';

/** Raised when the meaning of the content changes: an older index is then built anew. */
const INDEX_FORMAT = 4;

/** Stored apart, so that scoring reads a few pages at most. */
export const HEAD_CHARACTERS = 16_384;

/** A private-use character: no word of a text contains it, and FTS5 treats it as part of a word. */
export const TITLE_MARK = '\ue000';

/**
 * In place of the names of all columns, in rows without a blank cell: names in every row were a third of the words.
 * Begins as marked titles do, so that it takes no list of prefixes.
 */
export const ALL_NAMES = TITLE_MARK;

/** For readers: the words in order, one row for each of their places. */
export const WORD_PLACES = 'temp.word_places';

const DAMAGE_NOTE = '-damaged';

const SCHEMA = `
  CREATE TABLE resources (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    version TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('building', 'live', 'dead')),
    columns TEXT,
    copy TEXT,
    documents INTEGER NOT NULL DEFAULT 0,
    left_out INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE entries (id INTEGER PRIMARY KEY, title TEXT, anchor TEXT, size INTEGER, body TEXT, rest TEXT);
  CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail=none, prefix='1 2',
    tokenize="unicode61 remove_diacritics 0 tokenchars '_'");
  PRAGMA user_version = ${INDEX_FORMAT};
`;

/** Builds the file anew when it has another format or is no database. */
export function openForWriting(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const db = connect(path);
    const version = db.query('PRAGMA user_version').values()[0]?.[0];
    if (version === INDEX_FORMAT) return db;
    const isEmpty = db.query('SELECT count(*) FROM sqlite_schema').values()[0]?.[0] === 0;
    if (!isEmpty) {
      db.close();
      return recreate(path);
    }
    db.transaction(() => db.run(SCHEMA))();
    return db;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return recreate(path);
  }
}

export function openForReading(path: string): Database | null {
  let db: Database | null = null;
  try {
    // Not readonly: such a connection cannot create the shared memory file of a WAL database.
    db = new Database(path, { readwrite: true, create: false });
    db.run('PRAGMA busy_timeout = 2000; PRAGMA mmap_size = 0');
    db.run('PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY');
    if (db.query('PRAGMA user_version').values()[0]?.[0] === INDEX_FORMAT) {
      db.run(`CREATE VIRTUAL TABLE ${WORD_PLACES} USING fts5vocab(main, words, instance)`);
      db.run('PRAGMA query_only = ON');
      return db;
    }
  } catch (error) {
    db?.close();
    if (error instanceof SQLiteError && error.code === 'SQLITE_CANTOPEN') return null;
    throw error;
  }
  db.close();
  return null;
}

export const DAMAGED = 'The search index is damaged';

/** The next start builds the index again; until then the numbers of its ranges are in use. */
export function noteDamage(path: string): void {
  writeFileSync(path + DAMAGE_NOTE, '', { mode: 0o600 });
}

export function isDamageNoted(path: string): boolean {
  return existsSync(path + DAMAGE_NOTE);
}

export function deleteIndex(path: string): void {
  for (const end of ['', '-wal', '-shm', DAMAGE_NOTE]) rmSync(path + end, { force: true });
}

function recreate(path: string): Database {
  deleteIndex(path);
  const db = connect(path);
  db.transaction(() => db.run(SCHEMA))();
  return db;
}

function connect(path: string): Database {
  const db = new Database(path, { readwrite: true, create: true });
  try {
    // NORMAL: a power loss may lose the last changes, never the consistency; the versions show what is missing.
    db.run('PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    db.run('PRAGMA busy_timeout = 5000; PRAGMA mmap_size = 0; PRAGMA cache_size = -32000');
    db.run('PRAGMA journal_size_limit = 33554432');
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

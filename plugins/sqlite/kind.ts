import type { Kind, KindContext } from '../../src/docroot/kind.ts';
import type { Database } from 'bun:sqlite';
import { unreadable } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { sizeText } from '../../src/base/text/size-text.ts';
import type { FileColumn } from '../../src/tables/infer/file-type.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';
import type { Cell, ReadOptions, RowSink } from '../../src/tables/types.ts';
import { isDatabase, withSnapshot } from './snapshot.ts';

/**
 * One dataset for each table and view.
 *
 * Values keep the type they are stored with: whole numbers all 64 bits, texts never numbers. A column declared
 * boolean that holds nothing but 0 and 1 is boolean, one declared real holds numbers.
 */
export const sqlite: Kind = {
  type: 'sqlite',
  family: 'dataset',
  extensions: ['.sqlite', '.sqlite3', '.db'],
  dataset: {
    hasNull: true,
    besides: ['-wal', '-journal'],
    read: readDatabase,
    sheets: tableNames,
    readOnlyReason: () =>
      'SQLite databases are read-only here; change them with a program that knows their rules',
  },
};

const ROWS_AT_ONCE = 1_024;
/** A view may give any number of rows: at most 200 times the file, once above this. */
const FREE_BYTES = 64 * 1024 * 1024;
const MAX_RATIO = 200;

type Value = bigint | number | string | Uint8Array | null;

/** Without the tables that a virtual table keeps its content in. None for a file that is no database. */
export async function tableNames(source: FileSource, context: KindContext): Promise<string[]> {
  if (!(await isDatabase(source))) return [];
  return withSnapshot(source, context, (db) => {
    const rows = db
      .query(
        `SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        ORDER BY name`,
      )
      .values() as [string][];
    return rows.map(([name]) => name);
  });
}

/** Throws `unreadable-file`. */
export async function readDatabase(
  source: FileSource,
  { sheet }: ReadOptions,
  sink: RowSink,
  context: KindContext,
): Promise<void> {
  const limit = Math.min(context.maxBytes, Math.max(FREE_BYTES, source.size * MAX_RATIO));
  await withSnapshot(source, context, (db) => readTable(db, sheet ?? '', sink, limit));
}

function readTable(db: Database, table: string, sink: RowSink, limit: number): void {
  const from = `"${table.replaceAll('"', '""')}"`;
  const rows = db.query<Record<string, Value>, []>(`SELECT * FROM ${from}`);
  const names = rows.columnNames;
  if (names.length > MAX_COLUMNS) throw unreadable(`more than ${MAX_COLUMNS} columns`);
  const declared = declaredColumns(db, table, from, names);
  const isBoolean = declared.map((column) => column?.type.kind === 'boolean');
  sink.header(cleanNames(names), declared);
  let bytes = 0;
  let pending: Cell[][] = [];
  const flush = (): void => {
    if (pending.length > 0) sink.segment({ rows: pending.length, bytes: 0 }, pending);
    pending = [];
  };
  for (const row of rows.iterate()) {
    pending.push(
      names.map((name, position) => {
        const cell = cellOf(row[name] ?? null, name);
        bytes += typeof cell === 'string' ? cell.length + 1 : 8;
        return isBoolean[position]! && cell !== null ? cell !== 0 : cell;
      }),
    );
    if (bytes > limit) throw unreadable(`its rows take more than ${sizeText(limit)}`);
    if (pending.length === ROWS_AT_ONCE) flush();
  }
  flush();
  sink.layout({}, 0);
}

function cellOf(value: Value, column: string): Cell {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (value === null) return null;
  if (typeof value !== 'string') return bytesText(value);
  if (value.length > MAX_CELL_CHARACTERS) {
    throw unreadable(
      `more than ${MAX_CELL_CHARACTERS} characters in a value of column '${column}'`,
    );
  }
  // The typed copy would end there.
  return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}

/** Pictures and the like do not make a table unreadable. */
function bytesText(value: Uint8Array): string {
  const text = Buffer.from(value).toString('base64');
  return text.length <= MAX_CELL_CHARACTERS ? text : `(${sizeText(value.length)})`;
}

/** By their declaration, where no value contradicts it; of views nothing is declared. */
function declaredColumns(
  db: Database,
  table: string,
  from: string,
  names: readonly string[],
): (FileColumn | null)[] {
  const types = new Map(
    db
      .query(
        `SELECT i.name, i.type FROM pragma_table_xinfo(?1) i
        JOIN pragma_table_list l ON l.name = ?1 AND l.schema = 'main' AND l.type = 'table'`,
      )
      .values(table) as [string, string][],
  );
  const wanted = names.flatMap((name) => {
    const type = types.get(name)?.toUpperCase() ?? '';
    const column = `"${name.replaceAll('"', '""')}"`;
    if (/^BOOL/.test(type)) return { name, kind: 'boolean', misfit: `${column} NOT IN (0, 1)` };
    if (!/REAL|FLOA|DOUB/.test(type)) return [];
    return { name, kind: 'float', misfit: `typeof(${column}) NOT IN ('real', 'null')` };
  });
  if (wanted.length === 0) return names.map(() => null);
  const sums = wanted.map(({ misfit }) => `sum(${misfit})`).join(', ');
  const [found] = db.query(`SELECT ${sums} FROM ${from}`).values() as [(bigint | null)[]];
  const fitting = new Map(
    wanted.filter((_, index) => !found[index]).map(({ name, kind }) => [name, kind]),
  );
  return names.map((name) => {
    const kind = fitting.get(name);
    if (kind === undefined) return null;
    const type = kind === 'boolean' ? { kind } : { kind: 'float', bits: 64 };
    return { type: type as FileColumn['type'], isRequired: false };
  });
}

/** Makes Parquet files with DuckDB and reads them back with it and with the reader, for the tests of the Parquet kind. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { readFileSync, writeFileSync } from 'node:fs';
import { readParquet } from '../../plugins/parquet/reader.ts';
import { sourceOf as openSourceOf } from './byte-source.ts';
import type { FileColumn } from '../../src/tables/infer/file-type.ts';
import {
  type Cell,
  type ColumnSink,
  type Learned,
  ReadAgain,
  type Segment,
  type TableLayout,
} from '../../src/tables/types.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let connected: Promise<DuckDBConnection> | null = null;

/** One in-memory database for all tests of a file. */
function duckdb(): Promise<DuckDBConnection> {
  connected ??= DuckDBInstance.create(':memory:').then((instance) => instance.connect());
  return connected;
}

/** The file DuckDB writes for a query; `options` as in `COPY`. */
export async function parquetFile(query: string, options = ''): Promise<Uint8Array> {
  using folder = temporaryFolder();
  const path = folder.at('t.parquet');
  const suffix = options === '' ? '' : `, ${options}`;
  await (await duckdb()).run(`COPY (${query}) TO '${path}' (FORMAT parquet${suffix})`);
  return new Uint8Array(readFileSync(path));
}

/** Rows of a query over a file, which it calls `file`, with DuckDB's own texts for what JSON has no words for. */
export async function duckRows(
  bytes: Uint8Array,
  query = 'SELECT * FROM file',
): Promise<unknown[][]> {
  using folder = temporaryFolder();
  const path = folder.at('t.parquet');
  writeFileSync(path, bytes);
  const connection = await duckdb();
  const text = query.replace(/\bfile\b/, `read_parquet('${path}', file_row_number = false)`);
  return (await connection.runAndReadAll(text)).getRowsJson();
}

/** What DuckDB says about a file's schema, key-values or metadata. */
export async function duckMetadata(
  bytes: Uint8Array,
  what: 'parquet_schema' | 'parquet_kv_metadata' | 'parquet_metadata',
  columns: string,
): Promise<unknown[][]> {
  using folder = temporaryFolder();
  const path = folder.at('t.parquet');
  writeFileSync(path, bytes);
  const connection = await duckdb();
  return (
    await connection.runAndReadAll(`SELECT ${columns} FROM ${what}('${path}')`)
  ).getRowsJson();
}

interface ReadParquet {
  readonly names: readonly string[];
  readonly columns: readonly FileColumn[];
  readonly rows: Cell[][];
  readonly layout: TableLayout;
}

/** The whole table in a file. */
export async function readTable(bytes: Uint8Array, learned: Learned = {}): Promise<ReadParquet> {
  const sink = new CollectingSink();
  try {
    await readParquet(openSourceOf(bytes), { learned }, sink);
  } catch (error) {
    if (!(error instanceof ReadAgain)) throw error;
    return readTable(bytes, error.learned);
  }
  const { names, columns, rows, dialect, bodyOffset, segments } = sink;
  return { names, columns, rows, layout: { dialect, bodyOffset, segments } };
}

class CollectingSink implements ColumnSink {
  names: readonly string[] = [];
  columns: readonly FileColumn[] = [];
  readonly rows: Cell[][] = [];
  readonly segments: Segment[] = [];
  dialect: Record<string, unknown> = {};
  bodyOffset = -1;

  header(names: readonly string[], columns: readonly FileColumn[] = []): void {
    this.names = names;
    this.columns = columns;
  }

  segment(segment: Segment, rows: readonly (readonly Cell[])[]): void {
    if (segment.rows !== rows.length) throw new Error('a segment counts its rows wrong');
    this.segments.push({ ...segment });
    for (const row of rows) this.rows.push([...row]);
  }

  segmentByColumn(segment: Segment, cells: readonly (readonly Cell[])[]): void {
    const rows = Array.from({ length: segment.rows }, (_, row) => cells.map((own) => own[row]!));
    this.segment(segment, rows);
  }

  layout(dialect: Record<string, unknown>, bodyOffset: number): void {
    this.dialect = dialect;
    this.bodyOffset = bodyOffset;
  }
}

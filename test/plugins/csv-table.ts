/** Builds CSV files in memory and reads them back, for the tests of the CSV kind. */
import { readCsv } from '../../plugins/csv/reader.ts';
import type { Cell, ReadOptions, RowSink, Segment, TableLayout } from '../../src/tables/types.ts';
import { sourceOf } from './byte-source.ts';

export type TestEncoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | 'latin1';

/** Bytes of a text; the UTF-16 forms and `utf-8-bom` begin with their byte order mark. */
export function encoded(text: string, encoding: TestEncoding = 'utf-8'): Uint8Array {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8');
  if (encoding === 'utf-8-bom') return Buffer.from(`\uFEFF${text}`, 'utf8');
  if (encoding === 'latin1') return Buffer.from(text, 'latin1');
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

interface ReadTable {
  readonly names: readonly string[];
  readonly rows: string[][];
  readonly layout: TableLayout;
}

/** Collects what a reader delivers, with numbers back as text. */
export class CollectingSink implements RowSink {
  names: readonly string[] = [];
  readonly rows: string[][] = [];
  readonly segments: Segment[] = [];
  dialect: Record<string, unknown> = {};
  bodyOffset = -1;

  header(names: readonly string[]): void {
    this.names = names;
  }

  segment(segment: Segment, rows: readonly (readonly Cell[])[]): void {
    if (segment.rows !== rows.length) throw new Error('a segment counts its rows wrong');
    this.segments.push({ ...segment });
    this.rows.push(...rows.map((row) => row.map(String)));
  }

  layout(dialect: Record<string, unknown>, bodyOffset: number): void {
    this.dialect = dialect;
    this.bodyOffset = bodyOffset;
  }
}

/** The whole table in `file`. */
export async function readTable(
  file: Uint8Array | string,
  options: ReadOptions = {},
): Promise<ReadTable> {
  const bytes = typeof file === 'string' ? encoded(file) : file;
  const sink = new CollectingSink();
  await readCsv(sourceOf(bytes), options, sink);
  const { names, rows, dialect, bodyOffset, segments } = sink;
  return { names, rows, layout: { dialect, bodyOffset, segments } };
}

/**
 * A Parquet file as rows, a slice of a row group at a time. Memory: one page of every column and the slice.
 *
 * All damage is `unreadable-file`: sizes are checked before use.
 */
import { AppError, errnoOf } from '../../src/base/errors.ts';
import { cleanNames } from '../../src/tables/infer/header-names.ts';
import { damaged } from '../../src/tables/parquet/bytes.ts';
import { PageType, Repetition } from '../../src/tables/parquet/format.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import type { FileType } from '../../src/tables/infer/file-type.ts';
import { type Cell, type ColumnSink, ReadAgain, type ReadOptions } from '../../src/tables/types.ts';
import { cellsOf, IS_NO_TEXT } from './cells.ts';
import { ChunkPages } from './chunk-pages.ts';
import { type Chunk, type ParquetFile, readFooter, type RowGroup } from './footer.ts';
import { type Entries, NestedJson } from './nested-json.ts';
import { dictionaryValues, type PageValues, pageValues } from './page-values.ts';
import type { CellAt } from './raw-values.ts';
import { columnType, type SchemaNode } from './schema.ts';

/** Rows of a segment, which is scanned to find one of them. */
export const SEGMENT_ROWS = 8_192;
/** Nested values included. */
const SLICE_VALUES = 262_144;

/** A row with more list items would exceed the longest cell. */
const MAX_ENTRIES_PER_ROW = 1_048_576;

/** With the types of the schema. Throws `unreadable-file` with the reason. */
export async function readParquet(
  source: FileSource,
  { learned }: ReadOptions,
  sink: ColumnSink,
): Promise<void> {
  const file = await guarded(() => readFooter(source));
  const { fields } = file.schema;
  sink.header(
    cleanNames(fields.map(({ name }) => name)),
    fields.map((field, position) => ({
      type: learned?.base64?.includes(position) ? BASE64 : columnType(field),
      isRequired: field.repetition !== Repetition.optional,
    })),
  );
  const base64 = learned?.base64 ?? [];
  for (const group of file.groups) await readGroup(source, file, group, base64, sink);
  sink.layout({}, 0);
}

async function readGroup(
  source: FileSource,
  { schema }: ParquetFile,
  group: RowGroup,
  base64: readonly number[],
  sink: ColumnSink,
): Promise<void> {
  const columns = schema.fields.map(
    (field, position) => new ColumnReader(source, field, group, base64.includes(position)),
  );
  const size = sliceRows(group);
  const cells = columns.map(() => new Array<Cell>(Math.min(size, group.rows)).fill(null));
  for (let start = 0; start < group.rows; start += size) {
    const count = Math.min(size, group.rows - start);
    await guarded(async () => {
      for (const [position, column] of columns.entries()) {
        try {
          await column.fill(cells[position]!, count);
        } catch (error) {
          if (error !== IS_NO_TEXT) throw error;
          throw new ReadAgain({ base64: [...base64, position] });
        }
      }
    });
    sink.segmentByColumn({ rows: count, bytes: 0 }, cells);
  }
  await guarded(async () => {
    for (const column of columns) await column.end();
  });
}

function sliceRows({ rows, chunks }: RowGroup): number {
  const values = chunks.reduce((sum, chunk) => sum + chunk.values, 0);
  const perRow = Math.max(1, values / Math.max(1, rows));
  return Math.max(1, Math.min(SEGMENT_ROWS, Math.floor(SLICE_VALUES / perRow)));
}

class ColumnReader {
  readonly #field: SchemaNode;
  readonly #leaves: readonly LeafReader[];

  constructor(source: FileSource, field: SchemaNode, { chunks }: RowGroup, isBase64: boolean) {
    this.#field = field;
    const { firstLeaf, leafCount } = field;
    const own = chunks.slice(firstLeaf, firstLeaf + leafCount);
    this.#leaves = own.map((chunk) => new LeafReader(source, isBase64 ? inBase64(chunk) : chunk));
  }

  async fill(cells: Cell[], rows: number): Promise<void> {
    if (columnType(this.#field).kind !== 'nested') return this.#leaves[0]!.fill(cells, rows);
    const entries = await Promise.all(this.#leaves.map((leaf) => leaf.entries(rows)));
    const json = new NestedJson(this.#field, entries);
    for (let row = 0; row < rows; row++) cells[row] = json.next();
    json.end();
  }

  /** Throws when values are left after the row group's rows. */
  async end(): Promise<void> {
    for (const leaf of this.#leaves) await leaf.end();
  }
}

/** Errors of a decoder are the file's fault, unless they come from the disk or from us. */
async function guarded<Result>(decode: () => Promise<Result>): Promise<Result> {
  try {
    return await decode();
  } catch (error) {
    const isKnown = error instanceof AppError || error instanceof ReadAgain;
    if (isKnown || errnoOf(error) !== undefined) throw error;
    throw damaged('its bytes make no sense', error);
  }
}

const BASE64: FileType = { kind: 'opaque', isBase64: true };

function inBase64(chunk: Chunk): Chunk {
  return { ...chunk, leaf: { ...chunk.leaf, type: BASE64 } };
}

class LeafReader {
  readonly #chunk: Chunk;
  readonly #pages: ChunkPages;
  #dictionary: readonly Cell[] | null = null;
  #page: PageValues | null = null;
  #cellAt: CellAt = () => null;
  /** Index among the page's levels, and among its values. */
  #at = 0;
  #valueAt = 0;

  constructor(source: FileSource, chunk: Chunk) {
    this.#chunk = chunk;
    this.#pages = new ChunkPages(source, chunk);
  }

  /** Sets the first `rows` of `cells`; only for a column without repetition levels. */
  async fill(cells: Cell[], rows: number): Promise<void> {
    for (let row = 0; row < rows;) {
      if (!(await this.#hasMore())) throw this.#short();
      const { count, definition } = this.#page!;
      const end = Math.min(rows, row + count - this.#at);
      const cellAt = this.#cellAt;
      let at = this.#at;
      let valueAt = this.#valueAt;
      this.#at += end - row;
      if (definition) {
        for (; row < end; row++, at++) {
          cells[row] = definition[at] === 1 ? cellAt(valueAt++) : null;
        }
      } else for (; row < end; row++) cells[row] = cellAt(valueAt++);
      this.#valueAt = valueAt;
    }
  }

  async entries(rows: number): Promise<Entries> {
    const found: Entries = { definition: [], repetition: [], cells: [] };
    const { maxDefinition } = this.#chunk.leaf;
    let begun = 0;
    let inRow = 0;
    while (await this.#hasMore()) {
      const { count, definition, repetition } = this.#page!;
      for (; this.#at < count; this.#at++) {
        const level = repetition ? repetition[this.#at]! : 0;
        if (level === 0 && begun === rows) return found;
        if (level === 0) {
          begun++;
          inRow = 0;
        } else if (begun === 0) throw this.#short();
        if (++inRow > MAX_ENTRIES_PER_ROW) {
          throw damaged('a row with more than a million list items');
        }
        const depth = definition ? definition[this.#at]! : maxDefinition;
        found.repetition.push(level);
        found.definition.push(depth);
        if (depth === maxDefinition) found.cells.push(this.#cellAt(this.#valueAt++));
      }
    }
    if (begun < rows) throw this.#short();
    return found;
  }

  /** Throws when the column has more values than rows. */
  async end(): Promise<void> {
    if (await this.#hasMore()) throw this.#short();
  }

  #short(): Error {
    return damaged(`column '${this.#chunk.leaf.name}' has another number of rows`);
  }

  /** Turns to the next page with entries when the present one is read. */
  async #hasMore(): Promise<boolean> {
    const { leaf, codec } = this.#chunk;
    while (this.#page === null || this.#at === this.#page.count) {
      const page = await this.#pages.next();
      if (page === null) return false;
      if (page.header.type === PageType.dictionary) {
        const values = dictionaryValues(page, leaf, codec);
        const cellAt = cellsOf(values, leaf);
        this.#dictionary = Array.from({ length: values.count }, (_, index) => cellAt(index));
        continue;
      }
      const dictionary = this.#dictionary ?? [];
      const decoded = pageValues(page, leaf, codec, this.#dictionary?.length ?? null);
      const { values, indexes } = decoded;
      this.#page = decoded;
      this.#at = this.#valueAt = 0;
      this.#cellAt = values ? cellsOf(values, leaf) : (index) => dictionary[indexes![index]!]!;
    }
    return true;
  }
}

/**
 * Loads a file's rows into a typed copy.
 *
 * Types depend on all rows, yet most files are read once: types are supposed from the first SAMPLE_BYTES, and rows
 * written as they arrive. A cell that refutes a type, or stands past the known columns, ends the writing; the rest is
 * counted, and the file read again with known types. Numbers with marks after plain ones take a third reading.
 */
import { AppError } from '../../base/errors.ts';
import { CopyFile } from './copy-file.ts';
import { LoadColumn } from './load-column.ts';
import type { CompanionSchema } from '../infer/companion.ts';
import type { FileColumn } from '../infer/file-type.ts';
import { extraName, withSuffix } from '../infer/header-names.ts';
import { type BlankMode, classOf } from '../infer/infer.ts';
import {
  type CountedColumn,
  PLAIN_CONTEXT,
  readingsOf,
  type TextContext,
} from '../infer/reading.ts';
import { MAX_COLUMNS } from '../limits.ts';
import type {
  Cell,
  Column,
  ColumnSink,
  Reading,
  ReadOptions,
  Segment,
  TableLayout,
} from '../types.ts';

/** Rows held back to suppose types from. Smaller files are never read twice; memory is about ten times this. */
export const SAMPLE_BYTES = 2 * 1024 * 1024;

/** The same in cells, for files whose bytes say little about their cells. */
const SAMPLE_CELLS = 400_000;

interface HeldSegment {
  readonly segment: Segment;
  readonly rows: readonly (readonly Cell[])[];
}

export interface LoadOptions {
  /** An existing file is replaced. */
  readonly path: string;
  /** Called again when the supposed types do not hold. */
  readonly read: (sink: ColumnSink) => Promise<void>;
  /** Size of the file; absent: a large one. */
  readonly fileBytes?: number;
  /** Null: all types are inferred. */
  readonly companion: Pick<CompanionSchema, 'columns'> | null;
  /** Row ids in order; a function because the file may be read twice. Absent: 1…n. */
  readonly ids?: () => Iterable<number>;
  /** `empty` unless the file knows nulls. */
  readonly blank?: BlankMode;
  /** How the companion says texts are spelled. */
  readonly spellings?: Pick<
    ReadOptions,
    'decimal' | 'thousands' | 'dateOrder' | 'dateFormat' | 'hasUnits'
  >;
}

export interface LoadedTable {
  /** In file order; then columns past the header that have a non-blank cell. */
  readonly columns: Column[];
  readonly rowCount: number;
  /** 0 without rows. */
  readonly lastRowId: number;
  readonly layout: TableLayout;
  /** What its texts were read by. */
  readonly context: TextContext;
  /** False: `ids` were too few, too many or not growing, and rows are numbered 1…n. */
  readonly keptIds: boolean;
}

/**
 * Throws what `read` throws, `unreadable-file` past MAX_COLUMNS, and `unavailable` when the second reading gives
 * other rows; then no file is left. Memory is the sample and one segment. Blocks: for the parse child.
 */
export async function loadTable(options: LoadOptions): Promise<LoadedTable> {
  let order = options;
  let known: ReadonlyMap<number, CountedColumn> | null = null;
  for (let reading = 1; reading <= MAX_READINGS; reading++) {
    const writer: TableWriter = new TableWriter(order, known);
    const copied = await fill(writer, order);
    if (copied) return { ...copied, keptIds: order === options };
    if (writer.ids.isBroken) order = { ...options, ids: undefined };
    known = writer.counted();
  }
  throw new AppError('unavailable', 'The file changed while it was read');
}

const MAX_READINGS = 3;

/** Null when the suppositions did not hold. */
async function fill(writer: TableWriter, { read }: LoadOptions): Promise<CopiedTable | null> {
  try {
    await read(writer);
    writer.end();
    if (writer.isGood) return await writer.finish();
  } catch (error) {
    await writer.discard();
    throw error;
  }
  await writer.discard();
  return null;
}

type CopiedTable = Omit<LoadedTable, 'keptIds'>;

/** Writes while the supposed types hold, and always counts. */
class TableWriter implements ColumnSink {
  readonly ids: RowIds;
  readonly #options: LoadOptions;
  /** By position, from an earlier reading; null: types are supposed from a sample. */
  readonly #known: ReadonlyMap<number, CountedColumn> | null;
  #names: readonly string[] = [];
  #fileColumns: readonly (FileColumn | null)[] = [];
  #context: TextContext = PLAIN_CONTEXT;
  /** By position: first the header's, then those past it. */
  readonly #columns = new Map<number, LoadColumn>();
  /** Columns past the header that the copy lacks, by position. */
  readonly #late = new Map<number, LoadColumn>();
  /** Held back to suppose types from; then null. */
  #sample: HeldSegment[] | null = [];
  #sampleBytes = 0;
  #sampleCells = 0;
  #copy: CopyFile | null = null;
  #isRefuted = false;
  #rowCount = 0;
  readonly #segments: (Segment & { firstRowId: number })[] = [];
  /** In the order of `#columns`; after `end`. */
  #readings: (Reading | null)[] = [];
  #dialect: Record<string, unknown> = {};
  #bodyOffset = 0;

  constructor(options: LoadOptions, known: ReadonlyMap<number, CountedColumn> | null) {
    this.#options = options;
    this.#known = known;
    this.ids = new RowIds(options.ids?.());
  }

  /** Valid after `end`. */
  get isGood(): boolean {
    return this.#copy !== null && !this.#isRefuted;
  }

  /** Over the rows so far, by position. */
  counted(): Map<number, CountedColumn> {
    const columns = [...this.#columns.values(), ...this.#late.values()];
    return new Map(columns.map((column) => [column.position, column.counted]));
  }

  header(
    names: readonly string[],
    columns?: readonly (FileColumn | null)[],
    delimiter?: string,
  ): void {
    if (names.length > MAX_COLUMNS) throw tooManyColumns();
    const spellsNumbers = delimiter !== undefined;
    this.#context = {
      ...this.#options.spellings,
      ...(spellsNumbers && { delimiter }),
      spellsNumbers,
    };
    this.#names = names;
    this.#fileColumns = columns ?? [];
    names.forEach((_, position) => this.#columns.set(position, this.#newColumn(position)));
    // Types from the file need no sample.
    if (this.#known || columns?.every((column) => column !== null))
      this.#startWriting(this.#known ?? this.counted());
  }

  segment(segment: Segment, rows: readonly (readonly Cell[])[]): void {
    if (this.#sample === null) return this.#take(segment, rows);
    this.#sample.push({ segment, rows });
    this.#sampleBytes += segment.bytes;
    this.#sampleCells += rows.length * Math.max(1, this.#names.length);
    if (this.#sampleBytes >= SAMPLE_BYTES || this.#sampleCells >= SAMPLE_CELLS)
      this.#settleSample();
  }

  segmentByColumn(segment: Segment, cells: readonly (readonly Cell[])[]): void {
    if (this.#sample !== null || this.#isRefuted) {
      return this.segment(segment, rowsOf(segment.rows, cells));
    }
    this.#rowCount += segment.rows;
    this.#wrote(segment, this.#writeColumns(segment.rows, cells));
  }

  layout(dialect: Record<string, unknown>, bodyOffset: number): void {
    this.#dialect = dialect;
    this.#bodyOffset = bodyOffset;
  }

  /** Call after the last row. */
  end(): void {
    if (this.#sample !== null) this.#settleSample();
    this.ids.end();
    this.#readings = this.#readingsOf([...this.#columns.values()].map(({ counted }) => counted));
    const isHeld = [...this.#columns.values()].every((column, index) =>
      column.holds(this.#readings[index]!),
    );
    if (this.ids.isBroken || !isHeld) this.#isRefuted = true;
    // A segment without rows begins where the next row would be.
    let next = this.ids.last + 1;
    for (const segment of this.#segments.toReversed()) {
      if (segment.rows === 0) segment.firstRowId = next;
      next = segment.firstRowId;
    }
  }

  #readingsOf(columns: readonly CountedColumn[]): (Reading | null)[] {
    return readingsOf(columns, this.#context);
  }

  /** Only for a good copy. */
  async finish(): Promise<CopiedTable> {
    await this.#copy!.finish(this.#segments);
    const segments = this.#segments.map(({ rows, bytes }) => ({ rows, bytes }));
    return {
      columns: this.#described(),
      rowCount: this.#rowCount,
      lastRowId: this.ids.last,
      layout: { dialect: this.#dialect, bodyOffset: this.#bodyOffset, segments },
      context: this.#context,
    };
  }

  async discard(): Promise<void> {
    this.ids.close();
    await this.#copy?.discard();
    this.#copy = null;
  }

  #newColumn(position: number): LoadColumn {
    if (this.#columns.size + this.#late.size >= MAX_COLUMNS) throw tooManyColumns();
    const { companion, blank } = this.#options;
    const declared = companion?.columns?.get(this.#names[position] ?? extraName(position));
    const file = this.#fileColumns[position] ?? undefined;
    return new LoadColumn(position, declared, blank ?? 'empty', file, this.#context);
  }

  #settleSample(): void {
    const sample = this.#sample ?? [];
    for (const { rows } of sample) this.#count(rows);
    this.#startWriting(this.counted());
    for (const { segment, rows } of sample) this.#take(segment, rows);
  }

  #startWriting(sample: ReadonlyMap<number, CountedColumn>): void {
    this.#sample = null;
    this.#late.clear();
    const readings = this.#readingsOf([...sample.values()]);
    [...sample].forEach(([position, { counts }], index) => {
      const column = this.#columns.get(position) ?? this.#newColumn(position);
      column.suppose(counts, readings[index]!);
      this.#columns.set(position, column);
    });
    const columns = [...this.#columns.values()].flatMap(({ position, isKeyed }) =>
      isKeyed ? [`c${position}`, `k${position}`] : [`c${position}`],
    );
    const { path, fileBytes } = this.#options;
    this.#copy = new CopyFile(path, columns, fileBytes);
  }

  #take(segment: Segment, rows: readonly (readonly Cell[])[]): void {
    this.#rowCount += rows.length;
    if (this.#isRefuted) {
      this.#count(rows);
      for (let row = 0; row < rows.length; row++) this.ids.next();
      return;
    }
    this.#wrote(segment, this.#write(rows));
  }

  #wrote(segment: Segment, firstRowId: number): void {
    this.#segments.push({ ...segment, firstRowId });
    const columns = [...this.#columns.values()];
    this.#isRefuted =
      this.ids.isBroken || this.#late.size > 0 || !columns.every((column) => column.mayHold());
  }

  /** Returns the first row's id. */
  #write(rows: readonly (readonly Cell[])[]): number {
    const copy = this.#copy!;
    const columns = [...this.#columns.values()];
    const width = this.#names.length;
    let firstRowId = 0;
    for (const row of rows) {
      const id = this.ids.next();
      firstRowId ||= id;
      for (let index = 0; index < columns.length; index++) {
        const column = columns[index]!;
        const value = column.take(row[column.position]);
        copy.add(value);
        if (column.isKeyed) copy.add(column.key(value));
      }
      copy.endRow(id);
      if (row.length > width) this.#countBeyond(row);
    }
    return firstRowId;
  }

  /** Returns the first row's id. */
  #writeColumns(count: number, cells: readonly (readonly Cell[])[]): number {
    const copy = this.#copy!;
    const columns = [...this.#columns.values()];
    const values = columns.map((column) => column.takeAll(cells[column.position]!, count));
    let firstRowId = 0;
    for (let row = 0; row < count; row++) {
      const id = this.ids.next();
      firstRowId ||= id;
      for (let index = 0; index < values.length; index++) {
        const value = values[index]![row]!;
        copy.add(value);
        if (columns[index]!.isKeyed) copy.add(columns[index]!.key(value));
      }
      copy.endRow(id);
    }
    return firstRowId;
  }

  #count(rows: readonly (readonly Cell[])[]): void {
    const columns = [...this.#columns.values()];
    for (const row of rows) {
      for (const column of columns) column.count(row[column.position] ?? null);
      if (row.length > this.#names.length) this.#countBeyond(row);
    }
  }

  /** Blank cells past the known columns make no column. */
  #countBeyond(row: readonly Cell[]): void {
    for (let position = this.#names.length; position < row.length; position++) {
      if (this.#columns.has(position)) continue;
      const cell = row[position]!;
      if (classOf(cell) === 'blank') continue;
      let column = this.#late.get(position);
      if (!column) this.#late.set(position, (column = this.#newColumn(position)));
      column.count(cell);
    }
  }

  #described(): Column[] {
    const width = this.#names.length;
    const taken = new Set(this.#names);
    const columns = [...this.#columns.values()].map(
      (column, index) => [column, this.#readings[index]!] as const,
    );
    return columns
      .sort(([a], [b]) => a.position - b.position)
      .map(([column, reading]) => {
        const isExtra = column.position >= width;
        if (!isExtra) return column.described(this.#names[column.position]!, false, reading);
        const wanted = extraName(column.position);
        const name = taken.has(wanted) ? withSuffix(wanted, taken) : wanted;
        taken.add(name);
        return column.described(name, true, reading);
      });
  }
}

function rowsOf(count: number, columns: readonly (readonly Cell[])[]): Cell[][] {
  return Array.from({ length: count }, (_, row) => columns.map((cells) => cells[row]!));
}

function tooManyColumns(): AppError {
  return new AppError('unreadable-file', `more than ${MAX_COLUMNS} columns`);
}

/** 1…n, or ids kept from an earlier copy of the same rows. */
/** One id per row, in order. */
class RowIds {
  readonly #kept: Iterator<number> | null;
  #last = 0;
  #isBroken = false;

  /** `kept`: ids in row order; absent: 1…n. */
  constructor(kept?: Iterable<number>) {
    this.#kept = kept ? kept[Symbol.iterator]() : null;
  }

  /** Highest so far; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Meaningless once the ids are broken. */
  next(): number {
    if (this.#kept === null) return ++this.#last;
    const { done, value } = this.#kept.next();
    if (done || !(value > this.#last)) {
      this.#isBroken = true;
      this.close();
      return ++this.#last;
    }
    this.#last = value;
    return value;
  }

  /** Leftover ids break the numbering too. */
  end(): void {
    if (this.#kept !== null && !this.#kept.next().done) this.#isBroken = true;
    this.close();
  }

  close(): void {
    this.#kept?.return?.();
  }
}

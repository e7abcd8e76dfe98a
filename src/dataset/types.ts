/**
 * The shapes shared by everything that handles tables, whatever their file.
 *
 * A dataset is read from a typed SQLite copy of one file version (architecture 4.1). Rows stand in file order, and
 * file order equals `_row_id` order (architecture 4.3).
 */

import type { Piece } from '../base/piece-writer.ts';
import type { FileColumn } from './file-type.ts';

/** Column types of DS-59; Parquet adds date-time and nested values behind the same four names (DS-67). */
export type ColumnType = 'integer' | 'number' | 'boolean' | 'string';

/**
 * A cell as a reader delivers it or an edit writes it. Strings are the file's text (CSV) or text cells; `null` is a
 * Parquet null or, in an edit, "store blank" (DS-78). An empty or whitespace-only string is a blank cell (DS-59).
 */
export type Cell = string | number | boolean | bigint | null;

/** How many cells of a column fit each class of DS-59; blanks are in none. Decides the inferred type. */
export interface ClassCounts {
  integer: number;
  number: number;
  boolean: number;
  string: number;
}

/** A column of a table, as read from one file version. */
export interface Column {
  /** Name as presented, unique within the table (DS-50, DS-63). */
  readonly name: string;
  readonly type: ColumnType;
  /** 0-based position of the cell in a file row. Column `i` of the copy is SQL column `c<i>`. */
  readonly position: number;
  /** Declared by a companion schema (DS-61): cells that do not fit stay text. */
  readonly declared: boolean;
  /** The type name a companion declares, verbatim; decides validation (DS-78). */
  readonly declaredType?: string;
  /** What the file itself declares (Parquet, DS-67): the type is then never inferred. */
  readonly file?: FileColumn;
  /** Stands past the header's width: exists only while some row has a non-blank cell there (DS-63). */
  readonly extra: boolean;
  readonly counts: ClassCounts;
}

/** A run of consecutive rows in the file: lets an edit find a row's bytes without reading the whole file. */
export interface Segment {
  /** Rows in this run; runs without rows (blank lines only) are allowed. */
  rows: number;
  /** Bytes from the first byte of the run to the first byte of the next one. */
  bytes: number;
}

/** Where the rows of a table stand in their file. Kept with the typed copy and changed with every edit. */
export interface TableLayout {
  /** What the kind needs to write in the file's own style (delimiter, encoding, line ending…); private to the kind. */
  readonly dialect: Record<string, unknown>;
  /** Bytes before the first segment (BOM, rows above the header, the header row). */
  readonly bodyOffset: number;
  readonly segments: readonly Segment[];
}

/** Companion options (DS-72); absent members are detected. */
export interface ReadOptions {
  readonly headerRow?: number;
  readonly delimiter?: ',' | ';' | '\t' | '|';
  readonly encoding?: 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin1' | 'windows-1252';
  /** Worksheet name, for workbooks. */
  readonly sheet?: string;
}

/**
 * Receives a file's rows from a kind's reader, in file order. Header names are already cleaned (DS-63); rows may be
 * shorter or longer than the header.
 */
export interface RowSink {
  /** `columns`, one for each name, when the file itself declares types: then no cell decides about them. */
  header(names: readonly string[], columns?: readonly FileColumn[]): void;
  /** A segment and its rows; `rows.length === segment.rows`. */
  segment(segment: Segment, rows: readonly (readonly Cell[])[]): void;
  /** Called once, last. */
  layout(dialect: Record<string, unknown>, bodyOffset: number): void;
}

/** Takes segments by column too, from files that store them so. */
export interface ColumnSink extends RowSink {
  /**
   * A segment and, for each name, a list that holds the cell of every row and maybe more. The lists are only good until
   * the call returns.
   */
  segmentByColumn(segment: Segment, cells: readonly (readonly Cell[])[]): void;
}

/** Changes to one file version, folded: each row at most once, positions 0-based in file order of that version. */
export interface TableChanges {
  /** Cells by column position; columns not named keep their bytes. */
  readonly updates: ReadonlyMap<number, ReadonlyMap<number, Cell>>;
  readonly deletes: ReadonlySet<number>;
  /** New rows after the last one; cells by column position, others blank. */
  readonly creates: readonly ReadonlyMap<number, Cell>[];
}

/** What a kind answers to an edit: the new file as pieces, and what changed in it. */
export interface EditPlan {
  readonly pieces: readonly Piece[];
  readonly layout: TableLayout;
  /**
   * Every cell that changed, with its text before and after (undefined: the cell did not, or does not, exist), so
   * that the class counts follow without reading the file again. A deleted row lists all its cells.
   */
  readonly cells: readonly {
    position: number;
    before: Cell | undefined;
    after: Cell | undefined;
  }[];
  /**
   * Cells that a reader of the new file gets as something else than was asked for (a date as a serial number). Of an
   * existing row by its position in the old file, of a new one by its index in `creates`.
   */
  readonly delivered?: readonly {
    readonly origin: { readonly update: number } | { readonly create: number };
    readonly position: number;
    readonly cell: Cell;
  }[];
}

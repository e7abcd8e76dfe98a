/** Rows are in file order, which equals `_row_id` order. */

import type { Piece } from '../base/files/piece-writer.ts';
import type { ColumnType, FileColumn } from './infer/file-type.ts';
import type { ColumnDates } from './values/column-dates.ts';
import type { DateOrder } from './values/date-form.ts';
import type { DecimalMark, NumberStyle } from './values/number-spelling.ts';

/** A value as the typed copy holds it: booleans are 0 and 1. */
export type StoredValue = string | number | bigint | null;

/**
 * As a reader delivers it or an edit writes it. Strings are the file's text; `null` is a Parquet null or, in an edit,
 * "store blank". An empty or white-space string is a blank cell.
 */
export type Cell = string | number | boolean | bigint | null;

/** Cells per class, without blanks. Decides the inferred type. */
export interface ClassCounts {
  integer: number;
  number: number;
  boolean: number;
  string: number;
}

/** Spellings in a column. Blank cells and booleans are in none of these. */
export interface FormCounts {
  /** Cells by the number of their form; null: not all were looked at. */
  forms: Record<string, number> | null;
  /** Strings in no form; fewer than there are when `forms` is null. */
  odd: number;
  /** Numbers like `1.234`. */
  pointed: number;
  /** Cells that fit the date format of the file. */
  formatted: number;
  /** Numbers with a unit, by `affixKey`; their forms are those of the bare numbers. */
  units: Record<string, number>;
}

export interface Reading {
  readonly type: ColumnType;
  readonly format?: 'date' | 'date-time';
  readonly dates?: ColumnDates;
  readonly numbers?: NumberStyle;
}

export interface Column extends Reading {
  /** Unique within the table. */
  readonly name: string;
  /** 0-based position of the cell in a file row. Column `i` of the copy is SQL column `c<i>`. */
  readonly position: number;
  /** By a companion schema: cells that do not fit stay text. */
  readonly declared: boolean;
  /** Verbatim from the companion; decides validation. */
  readonly declaredType?: string;
  readonly declaredFormat?: string;
  /** Declared by the file (Parquet): the type is never inferred. */
  readonly file?: FileColumn;
  /** Exists only while some row has a non-blank cell there. */
  readonly extra: boolean;
  /** When the copy was made; edits count on from there in its state. */
  readonly counts: ClassCounts;
  readonly forms: FormCounts;
}

export interface Segment {
  /** Consecutive rows, so that an edit finds a row's bytes without reading the whole file; 0 for blank lines only. */
  rows: number;
  /** From the first byte of the run to the first byte of the next. */
  bytes: number;
}

/** Kept with the typed copy and changed with every edit. */
export interface TableLayout {
  /** For writing in the file's own style (delimiter, encoding, line ending…); private to the kind. */
  readonly dialect: Record<string, unknown>;
  /** Bytes before the first segment (BOM, rows above the header, the header row). */
  readonly bodyOffset: number;
  readonly segments: readonly Segment[];
}

/** In the order they are offered. */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'latin1',
  'windows-1252',
  'cp850',
  'windows-1250',
  'windows-1251',
  'iso-8859-2',
  'macintosh',
] as const;

export interface ReadOptions {
  /** Of the file's name, lower case with its dot. */
  readonly extension?: string;
  /** Of the list in a JSON file: member names with points between. */
  readonly path?: string;
  /** Of a JSON object: its members are rows. */
  readonly orient?: 'index';
  readonly headerRow?: number;
  readonly delimiter?: ',' | ';' | '\t' | '|';
  readonly encoding?: (typeof ENCODINGS)[number];
  readonly sheet?: string;
  /** Of a sheet, in A1 notation, header included; one cell: from there on. */
  readonly range?: string;
  /** Sees the rows of a sheet as they stand there, and ends the reading by throwing. */
  readonly look?: (row: number, cells: Cell[]) => void;
  /** What an earlier reading found out, from `ReadAgain`. */
  readonly learned?: Learned;
  readonly decimal?: DecimalMark;
  readonly thousands?: string;
  readonly dateOrder?: DateOrder;
  /** See `parseDatePattern`. */
  readonly dateFormat?: string;
  readonly hasUnits?: boolean;
  /** Formulas without a result are calculated. */
  readonly calculatesFormulas?: true;
  /** The last row is the total of the others, or there is none; undefined: to be found. */
  readonly totalRow?: 'last' | 'none';
}

export interface Learned {
  readonly encoding?: ReadOptions['encoding'];
  /** From 0. */
  readonly firstColumn?: number;
  /** Columns of bytes with values that are no text, from 0. */
  readonly base64?: readonly number[];
  /** Results of formulas that the file holds none of, by the reader's own key of the cell. */
  readonly calculated?: ReadonlyMap<number, string | number | boolean>;
}

/** How a table is read that is not read in the usual way; members as in the schema. */
export interface SourceNote {
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly header_row?: number;
  /** In A1 notation, header included. */
  readonly range?: string;
  /** Cells that show their formula, because the file holds no result. */
  readonly uncalculated?: number;
  /** Cells whose result is not in the file but was calculated when it was read. */
  readonly calculated?: number;
  /** Below the table and none of its rows; values by column. */
  readonly total_row?: { readonly row?: number; readonly values: Readonly<Record<string, Cell>> };
  /** Nobody declared these. */
  readonly guessed: readonly string[];
}

/** Rows of a wrong reading are with the sink already. */
export class ReadAgain extends Error {
  constructor(readonly learned: Learned) {
    super('the file is to be read again');
  }
}

/**
 * Receives a file's rows in file order. Header names are already cleaned; rows may be shorter or longer than the
 * header.
 */
export interface RowSink {
  /**
   * `columns`, one per name, when the file declares types: cells then do not decide; null where they do. `delimiter`:
   * of a text file, whose numbers may be spelled with marks.
   */
  header(
    names: readonly string[],
    columns?: readonly (FileColumn | null)[],
    delimiter?: string,
  ): void;
  /** `rows.length === segment.rows`. */
  segment(segment: Segment, rows: readonly (readonly Cell[])[]): void;
  /** Called once, last. */
  layout(dialect: Record<string, unknown>, bodyOffset: number): void;
}

/** Also takes segments by column, for files that store them so. */
export interface ColumnSink extends RowSink {
  /** One list per name with a cell for each row, maybe more. The lists are valid only during the call. */
  segmentByColumn(segment: Segment, cells: readonly (readonly Cell[])[]): void;
}

/** Changes to one file version: each row at most once, positions 0-based in that version's file order. */
export interface TableChanges {
  /** By column position; other columns keep their bytes. */
  readonly updates: ReadonlyMap<number, ReadonlyMap<number, Cell>>;
  readonly deletes: ReadonlySet<number>;
  /** After the last row, by column position; other cells are blank. */
  readonly creates: readonly ReadonlyMap<number, Cell>[];
}

/** A kind's answer to an edit. */
export interface EditPlan {
  readonly pieces: readonly Piece[];
  readonly layout: TableLayout;
  /**
   * Every changed cell before and after (undefined: no such cell), so that class counts follow without rereading the
   * file. A deleted row lists all its cells.
   */
  readonly cells: readonly {
    /** Of a text file: position of the row in the old file; null for a new one. */
    row?: number | null;
    position: number;
    before: Cell | undefined;
    after: Cell | undefined;
  }[];
  /**
   * Cells that read back differently than asked for (a date as a serial number) or follow from the changes (a
   * formula).
   */
  readonly delivered?: readonly {
    readonly origin: { readonly update: number } | { readonly create: number };
    readonly position: number;
    readonly cell: Cell;
  }[];
  /** Other tables of the file that changed: their copies are made anew, with the same row ids. */
  readonly changedSheets?: readonly string[];
  /** More changed than is listed: the copy is made anew. */
  readonly isReread?: boolean;
}

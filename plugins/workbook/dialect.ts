/** What an edit needs to know about a worksheet; stored with the typed copy. */

export interface Dialect {
  /** `xls` is never written. */
  readonly format: 'xlsx' | 'xls';
  readonly sheet: string;
  /** Sheet row, from 1. */
  readonly headerRow: number;
  /** Columns up to the last header cell that is not empty. */
  readonly width: number;
  /** A `RowMap`. */
  readonly rows: readonly number[];
  /** In any sheet of the workbook; null until an edit has checked. */
  readonly hasFormulas: boolean | null;
}

/**
 * What an edit has to know about a worksheet that was read; kept with the typed copy.
 */

/** Where the table stands in the workbook. */
export interface Dialect {
  /** `xls` workbooks are never written. */
  readonly format: 'xlsx' | 'xls';
  /** Name of the worksheet. */
  readonly sheet: string;
  /** Sheet row of the header, from 1. */
  readonly headerRow: number;
  /** Columns of the table: up to the last header cell that is not empty. */
  readonly width: number;
  /** A `RowMap`. */
  readonly rows: readonly number[];
  /** Whether any sheet of the workbook has formulas; null until an edit wanted to know. */
  readonly hasFormulas: boolean | null;
}

/** The dialect stored in a layout this kind has made. */
export function storedDialect(layout: { readonly dialect: Record<string, unknown> }): Dialect {
  return layout.dialect as unknown as Dialect;
}

/** The form kept with the typed copy; plain JSON. */
export function dialectRecord(dialect: Dialect): Record<string, unknown> {
  return { ...dialect };
}

import type { Cell, RowSink, Segment, SourceNote } from '../types.ts';

/** Lines and rows of a preview; each cell is cut. */
export const MAX_PREVIEW_ROWS = 40;
const MAX_PREVIEW_COLUMNS = 100;
const MAX_PREVIEW_TEXT = 300;

export interface FilePreview {
  /** As they stand in the file, numbered from 1: of text one cell each, of a sheet its cells. */
  readonly lines: readonly { readonly number: number; readonly cells: readonly string[] }[];
  /** How it would be read, declared or guessed; null where that is not known. */
  readonly found: SourceNote | null;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Why it cannot be read so. */
  readonly problem: string | null;
}

/** With what these rows say of each column; the others may say something else. */
export interface TypedPreview extends FilePreview {
  readonly types: readonly { readonly type: string; readonly format?: string }[];
}

export class FirstRows implements RowSink {
  columns: readonly string[] = [];
  readonly rows: string[][] = [];
  dialect: Record<string, unknown> | null = null;

  header(names: readonly string[]): void {
    this.columns = names.slice(0, MAX_PREVIEW_COLUMNS).map(previewText);
  }

  segment(_segment: Segment, rows: readonly (readonly Cell[])[]): void {
    for (const row of rows.slice(0, MAX_PREVIEW_ROWS - this.rows.length)) {
      this.rows.push(row.slice(0, MAX_PREVIEW_COLUMNS).map(previewText));
    }
  }

  layout(dialect: Record<string, unknown>): void {
    this.dialect = dialect;
  }
}

export function previewText(cell: Cell): string {
  const text = cell === null ? '' : String(cell);
  return text.length > MAX_PREVIEW_TEXT ? `${text.slice(0, MAX_PREVIEW_TEXT)}…` : text;
}

export function previewCells(cells: readonly Cell[]): string[] {
  return cells.slice(0, MAX_PREVIEW_COLUMNS).map(previewText);
}

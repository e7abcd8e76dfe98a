import type { Kind } from '../../src/docroot/kind.ts';
import { MAX_CELL_TEXT } from '../../src/tables/encode/sheet-text.ts';
import { type Dialect, guessedSource } from './dialect.ts';
import { editWorkbook, LEGACY_IS_READ_ONLY } from './edit/editor.ts';
import { previewWorkbook } from './preview.ts';
import { readWorkbook, readWorksheetNames } from './reader.ts';

/** One dataset per worksheet: .xlsx and .xlsm read and written, legacy .xls read-only. */
export const workbook: Kind = {
  type: 'excel',
  family: 'dataset',
  extensions: ['.xlsx', '.xlsm', '.xls'],
  dataset: {
    read: readWorkbook,
    edit: editWorkbook,
    editsWholeFile: true,
    hasTypedCells: true,
    preview: previewWorkbook,
    maxTextLength: MAX_CELL_TEXT,
    sheets: readWorksheetNames,
    source: (dialect) => guessedSource(dialect as unknown as Dialect),
    readOnlyReason: (rel) => (rel.toLowerCase().endsWith('.xls') ? LEGACY_IS_READ_ONLY : null),
  },
};

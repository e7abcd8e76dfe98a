import { extensionOf } from '../../src/base/paths.ts';
import type { Kind } from '../../src/docroot/kind.ts';
import { MAX_CELL_TEXT } from '../../src/tables/encode/sheet-text.ts';
import { type Dialect, guessedSource } from './dialect.ts';
import { editWorkbook, LEGACY_IS_READ_ONLY } from './edit/editor.ts';
import { FOREIGN_IS_READ_ONLY } from './foreign-reader.ts';
import { previewWorkbook } from './preview.ts';
import { readWorkbook, readWorksheetNames } from './reader.ts';

const READ_ONLY: ReadonlyMap<string, string> = new Map([
  ['.xls', LEGACY_IS_READ_ONLY],
  ...['.ods', '.fods', '.xlsb'].map((extension) => [extension, FOREIGN_IS_READ_ONLY] as const),
]);

/** One dataset per worksheet: .xlsx and .xlsm read and written, the others read-only. */
export const workbook: Kind = {
  type: 'excel',
  family: 'dataset',
  extensions: ['.xlsx', '.xlsm', '.xls', '.ods', '.fods', '.xlsb'],
  dataset: {
    read: readWorkbook,
    edit: editWorkbook,
    editsWholeFile: true,
    hasTypedCells: true,
    preview: previewWorkbook,
    maxTextLength: MAX_CELL_TEXT,
    sheets: readWorksheetNames,
    source: (dialect) => guessedSource(dialect as unknown as Dialect),
    readOnlyReason: (rel) => READ_ONLY.get(extensionOf(rel)) ?? null,
  },
};

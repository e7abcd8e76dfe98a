import {
  COMPRESSED_IS_READ_ONLY,
  isCompressed,
  withCompressed,
} from '../../src/base/files/compressed-file.ts';
import type { Kind } from '../../src/docroot/kind.ts';
import { type Dialect, guessedSource } from './dialect.ts';
import { editCsv } from './editor.ts';
import { previewCsv } from './preview.ts';
import { readCsv } from './reader.ts';

export const csv: Kind = {
  type: 'csv',
  family: 'dataset',
  extensions: withCompressed(['.csv', '.tsv', '.psv']),
  dataset: {
    read: readCsv,
    edit: editCsv,
    readOnlyReason: (rel) => (isCompressed(rel) ? COMPRESSED_IS_READ_ONLY : null),
    preview: previewCsv,
    source: (dialect) => guessedSource(dialect as unknown as Dialect),
  },
};

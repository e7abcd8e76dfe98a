import type { Kind } from '../../src/docroot/kind.ts';
import { type Dialect, guessedSource } from './dialect.ts';
import { editCsv } from './editor.ts';
import { readCsv } from './reader.ts';

export const csv: Kind = {
  type: 'csv',
  family: 'dataset',
  extensions: ['.csv'],
  dataset: {
    read: readCsv,
    edit: editCsv,
    source: (dialect) => guessedSource(dialect as unknown as Dialect),
  },
};

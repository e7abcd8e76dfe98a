import type { Kind } from '../../src/docroot/kind.ts';
import { editCsv } from './editor.ts';
import { readCsv } from './reader.ts';

export const csv: Kind = {
  type: 'csv',
  family: 'dataset',
  extensions: ['.csv'],
  dataset: { read: readCsv, edit: editCsv },
};

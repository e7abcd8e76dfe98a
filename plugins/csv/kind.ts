/** CSV files as datasets (DS-62, DS-63, DS-86). */
import type { Kind } from '../../src/docroot/kind.ts';
import { editCsv } from './editor.ts';
import { readCsv } from './reader.ts';

/** Tables in comma, semicolon, tab or bar separated text; read and written. */
export const csv: Kind = {
  type: 'csv',
  family: 'dataset',
  extensions: ['.csv'],
  dataset: { read: readCsv, edit: editCsv },
};

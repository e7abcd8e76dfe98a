import type { Kind } from '../../src/docroot/kind.ts';

/** Tables of dBASE, FoxPro and shapefiles. */
export const dbf: Kind = {
  type: 'dbf',
  family: 'dataset',
  extensions: ['.dbf'],
  dataset: {
    hasNull: true,
    read: async (source, options, sink) =>
      (await import('./reader.ts')).readDbf(source, options, sink),
    readOnlyReason: () => 'dBASE files are read-only; save the table as CSV or .xlsx to edit it',
  },
};

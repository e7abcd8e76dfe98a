/** Parquet files as datasets (DS-67, DS-88). Its code is loaded when the first such file is met. */
import type { Kind } from '../../src/docroot/kind.ts';

/** Tables in Parquet files; read and written. */
export const parquet: Kind = {
  type: 'parquet',
  family: 'dataset',
  extensions: ['.parquet'],
  dataset: {
    read: async (source, options, sink) =>
      (await import('./reader.ts')).readParquet(source, options, sink),
    editsWholeFile: true,
    edit: async (source, layout, changes) =>
      (await import('./editor.ts')).editParquet(source, layout, changes),
  },
};

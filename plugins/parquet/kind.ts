import type { Kind } from '../../src/docroot/kind.ts';

/** Loaded when the first such file is met. */
export const parquet: Kind = {
  type: 'parquet',
  family: 'dataset',
  extensions: ['.parquet'],
  dataset: {
    hasNull: true,
    read: async (source, options, sink) =>
      (await import('./reader.ts')).readParquet(source, options, sink),
    editsWholeFile: true,
    edit: async (source, layout, changes) =>
      (await import('./editor.ts')).editParquet(source, layout, changes),
  },
};

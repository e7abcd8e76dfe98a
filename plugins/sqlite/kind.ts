import type { Kind } from '../../src/docroot/kind.ts';

/** One dataset for each table and view; other programs keep writing them. */
export const sqlite: Kind = {
  type: 'sqlite',
  family: 'dataset',
  extensions: ['.sqlite', '.sqlite3', '.db'],
  dataset: {
    hasNull: true,
    besides: ['-wal', '-journal'],
    read: async (source, options, sink, context) =>
      (await import('./reader.ts')).readDatabase(source, options, sink, context),
    sheets: async (source, context) => (await import('./reader.ts')).tableNames(source, context),
    readOnlyReason: () =>
      'SQLite databases are read-only here; change them with a program that knows their rules',
  },
};

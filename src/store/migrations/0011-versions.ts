/** Contents of files that were replaced, changes by other programs, and where what is kept begins. */
import type { Migration } from '../migrate.ts';

export const versions: Migration = {
  version: 11,
  name: '0011-versions',
  statements: [
    `CREATE TABLE file_versions (
      change_id INTEGER PRIMARY KEY REFERENCES changes (id) ON DELETE CASCADE,
      hash TEXT NOT NULL,
      size INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX file_versions_by_hash ON file_versions (hash)',
    `CREATE TABLE change_maps (
      change_id INTEGER PRIMARY KEY REFERENCES changes (id) ON DELETE CASCADE,
      before_numbering TEXT NOT NULL,
      map BLOB
    ) STRICT`,
    `CREATE TABLE history_ends (
      rel TEXT NOT NULL,
      sheet TEXT NOT NULL,
      change_id INTEGER NOT NULL,
      at TEXT NOT NULL,
      PRIMARY KEY (rel, sheet)
    ) STRICT, WITHOUT ROWID`,
  ],
};

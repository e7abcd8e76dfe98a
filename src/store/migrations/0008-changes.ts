/** What edits did to the rows of files (see tables/history/change-log.ts). */
import type { Migration } from '../migrate.ts';

export const changes: Migration = {
  version: 8,
  name: '0008-changes',
  statements: [
    `CREATE TABLE changes (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      rel TEXT NOT NULL,
      sheet TEXT NOT NULL,
      numbering TEXT NOT NULL,
      at TEXT NOT NULL,
      user_id INTEGER NOT NULL,
      username TEXT NOT NULL,
      action TEXT NOT NULL,
      row_count INTEGER NOT NULL,
      size INTEGER NOT NULL,
      state TEXT NOT NULL,
      undoes TEXT,
      undone_rows TEXT
    ) STRICT`,
    'CREATE INDEX changes_by_file ON changes (rel, sheet, id)',
    `CREATE TABLE change_rows (
      id INTEGER PRIMARY KEY,
      change_id INTEGER NOT NULL REFERENCES changes (id) ON DELETE CASCADE,
      first_row INTEGER NOT NULL,
      last_row INTEGER NOT NULL,
      rows BLOB NOT NULL
    ) STRICT`,
    'CREATE INDEX change_rows_by_change ON change_rows (change_id, first_row)',
  ],
};

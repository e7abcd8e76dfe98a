/** What happened to published files, in the order it became known (see feed/change-feed.ts). */
import type { Migration } from '../migrate.ts';

export const feed: Migration = {
  version: 14,
  name: '0014-feed',
  statements: [
    `CREATE TABLE feed (
      id INTEGER PRIMARY KEY,
      at TEXT NOT NULL,
      rel TEXT NOT NULL,
      sheet TEXT NOT NULL,
      name TEXT NOT NULL,
      long_name TEXT NOT NULL,
      family TEXT NOT NULL,
      username TEXT,
      action TEXT NOT NULL,
      row_count INTEGER NOT NULL,
      row_ids TEXT,
      change_id INTEGER
    ) STRICT`,
    `CREATE TABLE feed_files (
      rel TEXT PRIMARY KEY,
      stamp TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE TABLE feed_identity (id TEXT NOT NULL, has_files INTEGER NOT NULL) STRICT',
    'INSERT INTO feed_identity VALUES (lower(hex(randomblob(4))), 0)',
  ],
};

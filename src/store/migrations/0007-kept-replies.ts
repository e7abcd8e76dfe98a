/** Answers to changes with an `Idempotency-Key` (see store/kept-replies.ts). */
import type { Migration } from '../migrate.ts';

export const keptReplies: Migration = {
  version: 7,
  name: '0007-kept-replies',
  statements: [
    `CREATE TABLE kept_replies (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      route TEXT NOT NULL,
      key TEXT NOT NULL,
      request_hash TEXT NOT NULL,
      status INTEGER,
      headers TEXT,
      body TEXT,
      size INTEGER NOT NULL DEFAULT 0,
      created_at TEXT NOT NULL,
      UNIQUE (user_id, route, key)
    ) STRICT`,
  ],
};

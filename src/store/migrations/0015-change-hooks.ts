/** Who is told of changes of files by a webhook (see feed/change-hooks.ts). */
import type { Migration } from '../migrate.ts';

export const changeHooks: Migration = {
  version: 15,
  name: '0015-change-hooks',
  statements: [
    `CREATE TABLE change_hooks (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      owner_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      target TEXT NOT NULL,
      place INTEGER NOT NULL,
      created_at TEXT NOT NULL
    ) STRICT`,
    'CREATE INDEX change_hooks_by_owner ON change_hooks (owner_id)',
  ],
};

/** What local accounts sign in with besides their password (see accounts/factors). */
import type { Migration } from '../migrate.ts';

export const secondFactors: Migration = {
  version: 13,
  name: '0013-second-factors',
  statements: [
    `CREATE TABLE second_factors (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      is_confirmed INTEGER NOT NULL,
      sealed BLOB,
      last_step INTEGER NOT NULL DEFAULT 0,
      credential_id TEXT UNIQUE,
      public_key BLOB,
      counter INTEGER NOT NULL DEFAULT 0,
      created_at TEXT NOT NULL,
      last_used_at TEXT
    ) STRICT`,
    'CREATE INDEX second_factors_by_user ON second_factors (user_id)',
    `CREATE TABLE recovery_codes (
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      code_hash TEXT NOT NULL,
      PRIMARY KEY (user_id, code_hash)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE used_challenges (
      nonce TEXT PRIMARY KEY,
      expires_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `ALTER TABLE sessions ADD COLUMN strength TEXT NOT NULL DEFAULT 'password'`,
  ],
};

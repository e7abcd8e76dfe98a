import type { Migration } from '../migrate.ts';

export const events: Migration = {
  version: 4,
  name: '0004-events',
  statements: [
    // `sealed`: the value under the instance key, so that it can be shown again.
    `CREATE TABLE tokens (
      user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      token_hash TEXT NOT NULL UNIQUE,
      sealed BLOB NOT NULL,
      created_at TEXT NOT NULL,
      last_used_at TEXT
    ) STRICT`,
    // `indexes`: a JSON array, null for all that the owner may write. No row means all defaults.
    `CREATE TABLE ingest_settings (
      api_key_id INTEGER PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
      create_only INTEGER NOT NULL CHECK (create_only IN (0, 1)),
      indexes TEXT,
      default_index TEXT,
      default_sourcetype TEXT,
      default_source TEXT,
      default_host TEXT,
      ack INTEGER NOT NULL CHECK (ack IN (0, 1)),
      alias_hash TEXT UNIQUE
    ) STRICT`,
    // One row for each credential and dialect.
    `CREATE TABLE ingest_counters (
      kind TEXT NOT NULL,
      id TEXT NOT NULL,
      dialect TEXT NOT NULL,
      label TEXT NOT NULL,
      requests INTEGER NOT NULL,
      accepted INTEGER NOT NULL,
      rejected INTEGER NOT NULL,
      duplicates INTEGER NOT NULL,
      throttled INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      last_at TEXT,
      last_error TEXT,
      last_error_at TEXT,
      PRIMARY KEY (kind, id, dialect)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE saved_searches (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      owner_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      query TEXT NOT NULL,
      is_public INTEGER NOT NULL CHECK (is_public IN (0, 1)),
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT`,
    'CREATE INDEX saved_searches_by_owner ON saved_searches (owner_id)',
    `CREATE TABLE saved_search_shares (
      search_id INTEGER NOT NULL REFERENCES saved_searches (id) ON DELETE CASCADE,
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      PRIMARY KEY (search_id, user_id)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX saved_search_shares_by_user ON saved_search_shares (user_id)',
  ],
};

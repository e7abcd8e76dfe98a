/**
 * Ids are AUTOINCREMENT: a deleted id is never used again, since audit entries and scripts remember ids. Times are
 * RFC 3339 text, flags 0 and 1, names compare byte by byte.
 */
import type { Migration } from '../migrate.ts';

export const accounts: Migration = {
  version: 1,
  name: '0001-accounts',
  statements: [
    // `password_hash` null: no local login. `is_oidc_created` stays when the account later gets a password, since
    // only such accounts follow the roles of their issuer.
    `CREATE TABLE users (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      username TEXT NOT NULL UNIQUE,
      password_hash TEXT,
      is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
      is_superuser INTEGER NOT NULL DEFAULT 0 CHECK (is_superuser IN (0, 1)),
      created_at TEXT NOT NULL,
      oidc_issuer TEXT,
      oidc_sub TEXT,
      is_oidc_created INTEGER NOT NULL DEFAULT 0 CHECK (is_oidc_created IN (0, 1)),
      UNIQUE (oidc_issuer, oidc_sub)
    ) STRICT`,
    `CREATE TABLE groups (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      description TEXT
    ) STRICT`,
    `CREATE TABLE group_members (
      group_id INTEGER NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      oidc_managed INTEGER NOT NULL DEFAULT 0 CHECK (oidc_managed IN (0, 1)),
      PRIMARY KEY (user_id, group_id)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX group_members_by_group ON group_members (group_id)',
    `CREATE TABLE permissions (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      resource TEXT NOT NULL,
      action TEXT NOT NULL CHECK (action IN ('read', 'write')),
      description TEXT,
      UNIQUE (resource, action)
    ) STRICT`,
    `CREATE TABLE group_permissions (
      group_id INTEGER NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
      permission_id INTEGER NOT NULL REFERENCES permissions (id) ON DELETE CASCADE,
      PRIMARY KEY (group_id, permission_id)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX group_permissions_by_permission ON group_permissions (permission_id)',
    // `id_token`: only for sign-out at the issuer.
    `CREATE TABLE sessions (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      token_hash TEXT NOT NULL UNIQUE,
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      created_at TEXT NOT NULL,
      last_active_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      ip_address TEXT,
      user_agent TEXT,
      id_token TEXT
    ) STRICT`,
    'CREATE INDEX sessions_by_user ON sessions (user_id)',
    'CREATE INDEX sessions_by_expiry ON sessions (expires_at)',
    // `scopes`: a JSON array of texts such as `read:<pattern>`.
    `CREATE TABLE api_keys (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      key_hash TEXT NOT NULL UNIQUE,
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      description TEXT,
      created_at TEXT NOT NULL,
      expires_at TEXT,
      last_used_at TEXT,
      is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
      scopes TEXT
    ) STRICT`,
    'CREATE INDEX api_keys_by_user ON api_keys (user_id)',
    // An audit may hold millions of rows; each exact filter and sort has its index.
    `CREATE TABLE audit (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      timestamp TEXT NOT NULL,
      user_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
      action TEXT NOT NULL,
      resource TEXT,
      details TEXT,
      ip_address TEXT
    ) STRICT`,
    'CREATE INDEX audit_by_timestamp ON audit (timestamp)',
    'CREATE INDEX audit_by_user ON audit (user_id)',
    'CREATE INDEX audit_by_action ON audit (action)',
    'CREATE INDEX audit_by_resource ON audit (resource)',
    `CREATE TABLE locks (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      resource TEXT NOT NULL UNIQUE,
      owner TEXT NOT NULL,
      acquired_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      reason TEXT
    ) STRICT`,
    `CREATE TABLE settings (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
  ],
};

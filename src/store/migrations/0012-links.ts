/** Links that open one thing to whoever has them (see accounts/rights/links.ts). */
import type { Migration } from '../migrate.ts';

export const links: Migration = {
  version: 12,
  name: '0012-links',
  statements: [
    `CREATE TABLE links (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      secret_hash TEXT NOT NULL UNIQUE,
      user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CHECK (kind IN ('read', 'upload')),
      resource TEXT NOT NULL,
      fixed_view TEXT,
      description TEXT,
      password_hash TEXT,
      max_bytes INTEGER,
      uploaded_bytes INTEGER NOT NULL DEFAULT 0,
      created_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      revoked_at TEXT,
      uses INTEGER NOT NULL DEFAULT 0,
      last_used_at TEXT
    ) STRICT`,
    'CREATE INDEX links_by_user ON links (user_id, id)',
    'CREATE INDEX links_by_resource ON links (resource, id)',
  ],
};

/** What alerts found (see findings/findings.ts), and messages on their way out (see deliveries/queue.ts). */
import type { Migration } from '../migrate.ts';

export const findings: Migration = {
  version: 9,
  name: '0009-findings',
  statements: [
    // Each distinct set of sources once, so that rights are asked once for all findings of a set.
    `CREATE TABLE finding_scopes (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      sources TEXT NOT NULL UNIQUE
    ) STRICT`,
    `CREATE TABLE findings (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      alert_id TEXT NOT NULL,
      alert_name TEXT NOT NULL,
      alert_source TEXT NOT NULL,
      alert_owner_id INTEGER,
      key TEXT NOT NULL,
      scope_id INTEGER NOT NULL REFERENCES finding_scopes (id),
      severity TEXT NOT NULL,
      severity_set INTEGER NOT NULL DEFAULT 0,
      status TEXT NOT NULL,
      is_open INTEGER NOT NULL,
      owner_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
      notes TEXT NOT NULL,
      first_seen TEXT NOT NULL,
      last_seen TEXT NOT NULL,
      closed_at TEXT,
      count INTEGER NOT NULL,
      query TEXT NOT NULL,
      window_from INTEGER,
      window_to INTEGER,
      columns TEXT NOT NULL,
      rows TEXT NOT NULL,
      row_count INTEGER NOT NULL,
      version INTEGER NOT NULL
    ) STRICT`,
    'CREATE UNIQUE INDEX findings_open ON findings (alert_id, key) WHERE is_open = 1',
    'CREATE INDEX findings_by_last_seen ON findings (last_seen)',
    'CREATE INDEX findings_by_scope ON findings (scope_id, is_open)',
    `CREATE TABLE deliveries (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      uid TEXT NOT NULL,
      kind TEXT NOT NULL,
      subject TEXT NOT NULL,
      finding_id INTEGER REFERENCES findings (id) ON DELETE SET NULL,
      owner_id INTEGER,
      channel TEXT NOT NULL,
      receiver TEXT NOT NULL,
      lane TEXT NOT NULL,
      order_key TEXT,
      target TEXT NOT NULL,
      message TEXT NOT NULL,
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      round INTEGER NOT NULL,
      next_at TEXT,
      claimed_until TEXT,
      last_error TEXT,
      created_at TEXT NOT NULL,
      done_at TEXT
    ) STRICT`,
    'CREATE INDEX deliveries_by_state ON deliveries (state, next_at, claimed_until, lane, order_key)',
    "CREATE INDEX deliveries_in_order ON deliveries (order_key, id) WHERE state = 'waiting' AND order_key IS NOT NULL",
    'CREATE INDEX deliveries_by_finding ON deliveries (finding_id)',
  ],
};

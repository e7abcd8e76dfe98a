/** Alerts, their runs, and what is kept of each value between runs (see alerts/store.ts). */
import type { Migration } from '../migrate.ts';

export const alerts: Migration = {
  version: 10,
  name: '0010-alerts',
  statements: [
    `CREATE TABLE alerts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      source TEXT NOT NULL,
      owner_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
      title TEXT NOT NULL,
      definition TEXT NOT NULL,
      hash TEXT NOT NULL,
      approved_hash TEXT,
      state TEXT NOT NULL,
      problem TEXT,
      next_slot TEXT,
      due_at TEXT,
      missed INTEGER NOT NULL,
      last_rows TEXT,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      version INTEGER NOT NULL
    ) STRICT`,
    "CREATE UNIQUE INDEX alerts_by_source ON alerts (source) WHERE source <> ''",
    'CREATE INDEX alerts_by_owner ON alerts (owner_id)',
    'CREATE INDEX alerts_due ON alerts (due_at) WHERE due_at IS NOT NULL',
    `CREATE TABLE alert_runs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      alert_id INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
      slot TEXT NOT NULL,
      kind TEXT NOT NULL,
      state TEXT NOT NULL,
      holder TEXT,
      claimed_until TEXT,
      attempt INTEGER NOT NULL,
      started_at TEXT,
      ended_at TEXT,
      duration_ms INTEGER,
      row_count INTEGER,
      fired INTEGER NOT NULL,
      resolved INTEGER NOT NULL,
      quiet INTEGER NOT NULL,
      missed INTEGER NOT NULL,
      error TEXT
    ) STRICT`,
    "CREATE UNIQUE INDEX alert_runs_by_slot ON alert_runs (alert_id, slot) WHERE kind <> 'manual'",
    'CREATE INDEX alert_runs_by_alert ON alert_runs (alert_id, id)',
    "CREATE INDEX alert_runs_open ON alert_runs (state, claimed_until) WHERE state <> 'done'",
    `CREATE TABLE alert_keys (
      alert_id INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
      key TEXT NOT NULL,
      state TEXT NOT NULL,
      PRIMARY KEY (alert_id, key)
    ) STRICT, WITHOUT ROWID`,
  ],
};

/** An alert that fires, as its engine would tell of it, in a running service. */
import type { Firing } from '../../src/findings/finding.ts';
import { recordFinding } from '../../src/findings/findings.ts';
import type { Database } from '../../src/store/database.ts';

export const FIRED_AT = 1_700_000_000_000_000;

export function firing(more: Partial<Firing> = {}): Firing {
  return {
    alert: { id: '7', name: 'Failed logins', source: '', ownerId: null },
    severity: 'high',
    at: FIRED_AT,
    key: '203.0.113.9',
    columns: ['address', 'count'],
    rows: [{ address: '203.0.113.9', count: 12 }],
    query: 'index=auth | stats count by address',
    from: FIRED_AT - 300e6,
    to: FIRED_AT,
    indexes: ['auth'],
    datasets: [],
    deliveries: [],
    ...more,
  };
}

export function fire(db: Database, more: Partial<Firing> = {}) {
  return db.transaction((tx) => recordFinding(tx, firing(more)));
}

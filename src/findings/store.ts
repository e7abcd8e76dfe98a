/** Findings as they are kept, for those who work through them. */
import { timestamp } from '../base/clock.ts';
import type { Database, SqlValue } from '../store/database.ts';
import type { ListColumn, ListSource } from '../store/list-source.ts';
import { OPEN_STATUSES, SEVERITIES, type Severity, type Status } from './finding.ts';

/** What must be readable to see a finding. */
export interface FindingScope {
  readonly id: number;
  readonly indexes: readonly string[];
  readonly datasets: readonly string[];
}

/** As the API shows it in lists; times RFC 3339. */
export interface FindingLine {
  readonly id: number;
  readonly alert_id: string;
  readonly alert: string;
  readonly alert_source: string;
  readonly key: string;
  readonly severity: Severity;
  readonly severity_rank: number;
  readonly status: Status;
  readonly is_open: boolean;
  /** Name; null while nobody has taken it. */
  readonly owner: string | null;
  readonly notes: string;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly closed_at: string | null;
  readonly count: number;
  readonly row_count: number;
  /** Grows with each change by a person. */
  readonly version: number;
}

export interface Finding extends FindingLine {
  readonly query: string;
  /** Microseconds of the epoch. */
  readonly window_from: number | null;
  readonly window_to: number | null;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** Absent members stay as they are. */
export interface FindingChange {
  readonly status?: Status;
  readonly severity?: Severity;
  readonly ownerId?: number | null;
  readonly notes?: string;
}

const RANK = `CASE severity ${SEVERITIES.map((name, rank) => `WHEN '${name}' THEN ${rank}`).join(' ')} ELSE 0 END`;

const COLUMNS: readonly ListColumn[] = [
  { name: 'id', type: 'integer', sql: 'findings.id' },
  { name: 'alert_id', type: 'string', sql: 'alert_id' },
  { name: 'alert', type: 'string', sql: 'alert_name' },
  { name: 'alert_source', type: 'string', sql: 'alert_source' },
  { name: 'key', type: 'string', sql: 'key' },
  { name: 'severity', type: 'string', sql: 'severity' },
  { name: 'severity_rank', type: 'integer', sql: RANK },
  { name: 'status', type: 'string', sql: 'status' },
  { name: 'is_open', type: 'boolean', sql: 'is_open' },
  { name: 'owner', type: 'string', sql: 'users.username' },
  { name: 'notes', type: 'string', sql: 'notes' },
  { name: 'first_seen', type: 'date-time', sql: 'first_seen' },
  { name: 'last_seen', type: 'date-time', sql: 'last_seen' },
  { name: 'closed_at', type: 'date-time', sql: 'closed_at' },
  { name: 'count', type: 'integer', sql: 'count' },
  { name: 'row_count', type: 'integer', sql: 'row_count' },
  { name: 'version', type: 'integer', sql: 'version' },
];
export const FINDING_SORTS = [
  'id',
  'last_seen',
  'first_seen',
  'severity_rank',
  'status',
  'alert',
  'owner',
  'count',
] as const;

/** Those of the scopes, and those of no source whose alert has this owner; null: all. */
export interface VisibleFindings {
  readonly scopeIds: readonly number[];
  readonly unscoped: { readonly scopeId: number; readonly ownerId: number } | null;
}

export function findingList(visible: VisibleFindings | null): ListSource {
  const { sql, params } = visibility(visible);
  return {
    name: 'findings',
    from: `(SELECT * FROM findings WHERE ${sql}) AS findings LEFT JOIN users ON users.id = findings.owner_id`,
    params,
    id: 'findings.id',
    columns: COLUMNS,
    sortable: FINDING_SORTS,
    order: 'asc',
  };
}

function visibility(visible: VisibleFindings | null): { sql: string; params: SqlValue[] } {
  if (visible === null) return { sql: '1 = 1', params: [] };
  const { scopeIds, unscoped } = visible;
  const conditions = [
    ...(scopeIds.length === 0 ? [] : [`scope_id IN (${scopeIds.map(() => '?').join(', ')})`]),
    ...(unscoped === null ? [] : ['(scope_id = ? AND alert_owner_id = ?)']),
  ];
  return {
    sql: conditions.length === 0 ? '1 = 0' : conditions.join(' OR '),
    params: [...scopeIds, ...(unscoped === null ? [] : [unscoped.scopeId, unscoped.ownerId])],
  };
}

export async function listScopes(db: Database): Promise<FindingScope[]> {
  const rows = await db.all<{ id: number; sources: string }>(
    'SELECT id, sources FROM finding_scopes',
  );
  return rows.map(({ id, sources }) => ({
    id,
    ...(JSON.parse(sources) as Omit<FindingScope, 'id'>),
  }));
}

/** Those of the ids that may be seen, in the order of the ids. */
export async function readFindings(
  db: Database,
  visible: VisibleFindings | null,
  ids: readonly number[],
): Promise<Finding[]> {
  if (ids.length === 0) return [];
  const { from, params = [] } = findingList(visible);
  const columns = COLUMNS.map(({ name, sql }) => `${sql} AS "${name}"`).join(', ');
  const rows = await db.all<Record<string, SqlValue>>(
    `SELECT ${columns}, query, window_from, window_to, columns, rows FROM ${from}
     WHERE findings.id IN (${ids.map(() => '?').join(', ')}) ORDER BY findings.id`,
    [...params, ...ids],
  );
  return rows.map((row) => ({
    ...(row as unknown as Finding),
    is_open: row['is_open'] === 1,
    columns: JSON.parse(String(row['columns'])) as string[],
    rows: JSON.parse(String(row['rows'])) as Finding['rows'],
  }));
}

/**
 * A finding that is opened again while its alert has a newer open one of the same key stays closed; null then.
 */
export async function changeFinding(
  tx: Database,
  id: number,
  change: FindingChange,
  now: number,
): Promise<{ readonly isChanged: boolean } | null> {
  const old = await tx.get<{
    alert_id: string;
    key: string;
    status: Status;
    severity: Severity;
    owner_id: number | null;
    notes: string;
    is_open: number;
    closed_at: string | null;
  }>(
    'SELECT alert_id, key, status, severity, owner_id, notes, is_open, closed_at FROM findings WHERE id = ?',
    [id],
  );
  if (old === null) return null;
  const status = change.status ?? old.status;
  const isOpen = OPEN_STATUSES.includes(status);
  if (isOpen && old.is_open === 0) {
    const other = await tx.get(
      'SELECT id FROM findings WHERE alert_id = ? AND key = ? AND is_open = 1',
      [old.alert_id, old.key],
    );
    if (other !== null) return null;
  }
  const ownerId = change.ownerId === undefined ? old.owner_id : change.ownerId;
  const severity = change.severity ?? old.severity;
  const notes = change.notes ?? old.notes;
  const isChanged =
    status !== old.status ||
    ownerId !== old.owner_id ||
    severity !== old.severity ||
    notes !== old.notes;
  if (!isChanged) return { isChanged };
  const closedAt = isOpen ? null : (old.closed_at ?? timestamp(now));
  await tx.run(
    `UPDATE findings SET status = ?, is_open = ?, closed_at = ?, owner_id = ?, severity = ?, notes = ?,
       severity_set = CASE WHEN ? = severity THEN severity_set ELSE 1 END, version = version + 1 WHERE id = ?`,
    [status, isOpen ? 1 : 0, closedAt, ownerId, severity, notes, severity, id],
  );
  return { isChanged };
}

/** Deletes closed ones that ended before `before`, in steps, and what is left of their sources. */
export async function pruneFindings(db: Database, before: number): Promise<number> {
  let pruned = 0;
  for (;;) {
    const { changes } = await db.run(
      'DELETE FROM findings WHERE id IN (SELECT id FROM findings WHERE is_open = 0 AND closed_at < ? LIMIT 500)',
      [timestamp(before)],
    );
    pruned += changes;
    if (changes === 0) break;
    await new Promise(setImmediate);
  }
  if (pruned > 0) {
    await db.run(
      'DELETE FROM finding_scopes WHERE id NOT IN (SELECT scope_id FROM findings WHERE scope_id IS NOT NULL)',
    );
  }
  return pruned;
}

export async function countOpenFindings(
  db: Database,
): Promise<readonly { readonly severity: string; readonly n: number }[]> {
  return db.all('SELECT severity, count(*) AS n FROM findings WHERE is_open = 1 GROUP BY severity');
}

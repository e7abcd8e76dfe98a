/**
 * What alerts found, for people to work through.
 *
 * A finding is open until somebody closes it or its alert resolves it; while it is open, the same alert and key count
 * on it instead of making another. Its deliveries are written in the same transaction, so both are kept or neither.
 */
import { recordWithin } from '../accounts/audit/audit.ts';
import { timestamp } from '../base/clock.ts';
import { enqueue } from '../deliveries/queue.ts';
import type { Database } from '../store/database.ts';
import type { Firing, Status } from './finding.ts';
import { messageOf } from './finding-message.ts';

export interface RecordedFinding {
  readonly id: number;
  readonly isNew: boolean;
  readonly count: number;
  /** Deliveries for which the queue had no room; administrators can send them again. */
  readonly refused: number;
}

const MAX_ROWS = 100;
const MAX_ROW_BYTES = 64 * 1024;
const AUDITED = 'finding';

export async function recordFinding(tx: Database, firing: Firing): Promise<RecordedFinding> {
  const { alert, key, severity } = firing;
  const now = firing.at / 1000;
  const at = timestamp(Math.floor(now));
  const rows = boundedRows(firing.rows);
  const scopeId = await scopeOf(tx, firing);
  const seen = [
    alert.name,
    alert.source,
    alert.ownerId,
    scopeId,
    severity,
    at,
    firing.query,
    firing.from,
    firing.to,
    JSON.stringify(firing.columns),
    JSON.stringify(rows),
    firing.rows.length,
  ];
  const open = await tx.get<{ id: number; count: number; first_seen: string; status: Status }>(
    'SELECT id, count, first_seen, status FROM findings WHERE alert_id = ? AND key = ? AND is_open = 1',
    [alert.id, key],
  );
  let id: number;
  if (open === null) {
    ({ lastId: id } = await tx.run(
      `INSERT INTO findings (alert_name, alert_source, alert_owner_id, scope_id, severity, last_seen, query,
         window_from, window_to, columns, rows, row_count, alert_id, key, status, is_open, notes, first_seen, count,
         version)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'new', 1, '', ?, 1, 1)`,
      [...seen, alert.id, key, at],
    ));
    await audit(tx, 'create_finding', id, `${alert.name}: ${severity}`, now);
  } else {
    id = open.id;
    await tx.run(
      `UPDATE findings SET alert_name = ?, alert_source = ?, alert_owner_id = ?, scope_id = ?,
         severity = CASE WHEN severity_set = 0 THEN ? ELSE severity END, last_seen = ?, query = ?, window_from = ?,
         window_to = ?, columns = ?, rows = ?, row_count = ?, count = count + 1 WHERE id = ?`,
      [...seen, id],
    );
  }
  const count = (open?.count ?? 0) + 1;
  const message = messageOf(firing, rows, {
    id,
    count,
    status: open?.status ?? 'new',
    firstSeen: open?.first_seen ?? at,
  });
  let refused = 0;
  for (const target of firing.deliveries) {
    const made = {
      subject: alert.id,
      findingId: id,
      ownerId: alert.ownerId,
      target,
      message,
    };
    if (!(await enqueue(tx, made, Math.floor(now)))) refused++;
  }
  return { id, isNew: open === null, count, refused };
}

/** The alert no longer holds. Null when nothing of this key is open. */
export async function resolveFinding(
  tx: Database,
  alertId: string,
  key: string,
  /** Microseconds of the epoch. */
  at: number,
): Promise<number | null> {
  const open = await tx.get<{ id: number; alert_name: string }>(
    'SELECT id, alert_name FROM findings WHERE alert_id = ? AND key = ? AND is_open = 1',
    [alertId, key],
  );
  if (open === null) return null;
  const now = Math.floor(at / 1000);
  await tx.run(
    "UPDATE findings SET status = 'resolved', is_open = 0, closed_at = ?, version = version + 1 WHERE id = ?",
    [timestamp(now), open.id],
  );
  await audit(tx, 'resolve_finding', open.id, `${open.alert_name}: its condition ended`, now);
  return open.id;
}

/** By nobody: the alert did it. */
function audit(
  tx: Database,
  action: string,
  id: number,
  details: string,
  now: number,
): Promise<void> {
  const note = { userId: null, action, resource: `${AUDITED}/${id}`, details, ipAddress: null };
  return recordWithin(tx, note, Math.floor(now));
}

async function scopeOf(
  tx: Database,
  { indexes, datasets }: Pick<Firing, 'indexes' | 'datasets'>,
): Promise<number> {
  const sources = JSON.stringify({
    indexes: [...new Set(indexes)].sort(),
    datasets: [...new Set(datasets)].sort(),
  });
  await tx.run('INSERT INTO finding_scopes (sources) VALUES (?) ON CONFLICT (sources) DO NOTHING', [
    sources,
  ]);
  return (await tx.get<{ id: number }>('SELECT id FROM finding_scopes WHERE sources = ?', [
    sources,
  ]))!.id;
}

function boundedRows(rows: Firing['rows']): Firing['rows'] {
  const kept: Firing['rows'][number][] = [];
  let bytes = 0;
  for (const row of rows.slice(0, MAX_ROWS)) {
    bytes += Buffer.byteLength(JSON.stringify(row));
    if (bytes > MAX_ROW_BYTES) break;
    kept.push(row);
  }
  return kept;
}

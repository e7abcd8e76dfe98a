/**
 * Alerts and their runs in the state database.
 *
 * A run is a row before its query begins: it is held under a lease that its server renews, and ends in the transaction
 * that writes what it found. So a killed process's run is taken up by the next server, and none is recorded twice.
 */
import { timestamp } from '../base/clock.ts';
import type { Database, SqlValue } from '../store/database.ts';
import type { AlertDefinition } from './definition.ts';
import type { KeyState } from './condition.ts';
import { durationMs, type Schedule, scheduleOf } from './schedule.ts';

/** `stopped`: its owner lost the rights; `unapproved`, `broken`, `gone`: of a file. Only `on` runs by its schedule. */
export const ALERT_STATES = ['on', 'off', 'stopped', 'unapproved', 'broken', 'gone'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** Times are RFC 3339. */
export interface Alert {
  readonly id: number;
  /** Its file in the folder; `''`: it is kept here. */
  readonly source: string;
  /** Null: the account is gone, or nobody has approved the file. */
  readonly ownerId: number | null;
  /** Of a broken file the last one that could be read; null when there was none. */
  readonly definition: AlertDefinition | null;
  readonly title: string;
  /** Of the file's bytes; `''` for one that is kept here. */
  readonly hash: string;
  readonly approvedHash: string | null;
  readonly state: AlertState;
  readonly problem: string | null;
  readonly nextSlot: string | null;
  readonly dueAt: string | null;
  /** Times that passed while no server ran. */
  readonly missed: number;
  /** JSON; only of a search without a condition. */
  readonly lastRows: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

interface AlertRow {
  readonly id: number;
  readonly source: string;
  readonly owner_id: number | null;
  readonly title: string;
  readonly definition: string;
  readonly hash: string;
  readonly approved_hash: string | null;
  readonly state: AlertState;
  readonly problem: string | null;
  readonly next_slot: string | null;
  readonly due_at: string | null;
  readonly missed: number;
  readonly last_rows: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly version: number;
}

function alertOf(row: AlertRow): Alert {
  return {
    id: row.id,
    source: row.source,
    ownerId: row.owner_id,
    title: row.title,
    definition: JSON.parse(row.definition) as AlertDefinition | null,
    hash: row.hash,
    approvedHash: row.approved_hash,
    state: row.state,
    problem: row.problem,
    nextSlot: row.next_slot,
    dueAt: row.due_at,
    missed: row.missed,
    lastRows: row.last_rows,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  };
}

export const RUN_KINDS = ['scheduled', 'late', 'manual'] as const;
export type RunKind = (typeof RUN_KINDS)[number];
export type RunState = 'waiting' | 'running' | 'done' | 'failed';

export interface AlertRun {
  readonly id: number;
  readonly alert_id: number;
  /** The time for which it ran. */
  readonly slot: string;
  readonly kind: RunKind;
  readonly state: RunState;
  readonly attempt: number;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly row_count: number | null;
  readonly fired: number;
  readonly resolved: number;
  /** Values for which it held while it was throttled or muted. */
  readonly quiet: number;
  /** Times before this one at which nobody ran it. */
  readonly missed: number;
  readonly error: string | null;
}

const RUN_COLUMNS =
  'id, alert_id, slot, kind, state, attempt, started_at, ended_at, duration_ms, row_count, fired, resolved, quiet, missed, error';

/** Runs that are kept of each alert. */
export const KEPT_RUNS = 100;
/** Of one run, before it counts as failed: its query may be what kills the server. */
const MAX_ATTEMPTS = 3;
/** Behind its time by more than that, a run is late. */
const LATE_MS = 60_000;

export async function getAlert(db: Database, id: number): Promise<Alert | null> {
  const row = await db.get<AlertRow>('SELECT * FROM alerts WHERE id = ?', [id]);
  return row === null ? null : alertOf(row);
}

export async function findFileAlert(db: Database, source: string): Promise<Alert | null> {
  const row = await db.get<AlertRow>('SELECT * FROM alerts WHERE source = ?', [source]);
  return row === null ? null : alertOf(row);
}

export async function fileAlerts(db: Database): Promise<Alert[]> {
  return (await db.all<AlertRow>("SELECT * FROM alerts WHERE source <> ''")).map(alertOf);
}

/** By title, then id, behind `after`; without those whose file is gone. */
export async function listAlerts(
  db: Database,
  {
    ownerId,
    after = null,
    limit,
  }: {
    /** With all that are defined in files; null: everything. */
    readonly ownerId: number | null;
    readonly after?: { readonly title: string; readonly id: number } | null;
    readonly limit: number;
  },
): Promise<Alert[]> {
  const values: SqlValue[] = [];
  let where = "state <> 'gone'";
  if (ownerId !== null) {
    where += " AND (owner_id = ? OR source <> '')";
    values.push(ownerId);
  }
  if (after !== null) {
    where += ' AND (title > ? OR (title = ? AND id > ?))';
    values.push(after.title, after.title, after.id);
  }
  const rows = await db.all<AlertRow>(
    `SELECT * FROM alerts WHERE ${where} ORDER BY title, id LIMIT ?`,
    [...values, limit],
  );
  return rows.map(alertOf);
}

export async function countAlerts(db: Database): Promise<{ state: AlertState; n: number }[]> {
  return db.all("SELECT state, count(*) AS n FROM alerts WHERE state <> 'gone' GROUP BY state");
}

export async function countOwnAlerts(db: Database, ownerId: number): Promise<number> {
  const row = await db.get<{ n: number }>(
    "SELECT count(*) AS n FROM alerts WHERE owner_id = ? AND source = ''",
    [ownerId],
  );
  return row!.n;
}

export function scheduleFor(definition: AlertDefinition): Schedule {
  return scheduleOf(definition.schedule, definition.timezone ?? 'UTC');
}

/** The columns of the first time after `now`. */
function nextOf(definition: AlertDefinition, after: number): [slot: string, dueAt: string] {
  const slot = scheduleFor(definition).after(after);
  if (slot > Date.UTC(9999, 0)) return [timestamp(Date.UTC(9999, 0)), timestamp(Date.UTC(9999, 0))];
  return [timestamp(slot), timestamp(slot + delayOf(definition))];
}

function delayOf({ delay }: AlertDefinition): number {
  return delay === undefined ? 0 : durationMs(delay)!;
}

export interface AlertContent {
  readonly source: string;
  readonly ownerId: number | null;
  readonly title: string;
  readonly definition: AlertDefinition | null;
  readonly hash: string;
  readonly approvedHash: string | null;
  readonly state: AlertState;
  readonly problem: string | null;
}

export async function insertAlert(
  tx: Database,
  content: AlertContent,
  now: number,
): Promise<number> {
  const at = timestamp(now);
  const { lastId } = await tx.run(
    `INSERT INTO alerts (source, owner_id, title, definition, hash, approved_hash, state, problem, next_slot, due_at,
       missed, created_at, updated_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, 1)`,
    [...contentValues(content, now), at, at],
  );
  return lastId;
}

/** Begins anew: what was kept between runs belonged to the old definition. */
export async function replaceAlert(
  tx: Database,
  id: number,
  content: AlertContent,
  now: number,
): Promise<void> {
  await tx.run(
    `UPDATE alerts SET source = ?, owner_id = ?, title = ?, definition = ?, hash = ?, approved_hash = ?, state = ?,
       problem = ?, next_slot = ?, due_at = ?, last_rows = NULL, updated_at = ?, version = version + 1 WHERE id = ?`,
    [...contentValues(content, now), timestamp(now), id],
  );
  await tx.run('DELETE FROM alert_keys WHERE alert_id = ?', [id]);
}

function contentValues(content: AlertContent, now: number): SqlValue[] {
  const { source, ownerId, title, definition, hash, approvedHash, state, problem } = content;
  const next = state === 'on' && definition !== null ? nextOf(definition, now) : [null, null];
  return [
    source,
    ownerId,
    title,
    JSON.stringify(definition),
    hash,
    approvedHash,
    state,
    problem,
    ...next,
  ];
}

/** Turns it on, off, or stops it; what was kept between runs stays. */
export async function setAlertState(
  db: Database,
  alert: Alert,
  { state, problem = null }: { readonly state: AlertState; readonly problem?: string | null },
  now: number,
): Promise<void> {
  const next =
    state === 'on' && alert.definition !== null ? nextOf(alert.definition, now) : [null, null];
  await db.run(
    `UPDATE alerts SET state = ?, problem = ?, next_slot = ?, due_at = ?, updated_at = ?, version = version + 1
     WHERE id = ?`,
    [state, problem, ...next, timestamp(now), alert.id],
  );
}

export async function deleteAlert(db: Database, id: number): Promise<void> {
  await db.run('DELETE FROM alerts WHERE id = ?', [id]);
}

/** Newest first. */
export async function listRuns(
  db: Database,
  alertId: number,
  { before = null, limit }: { readonly before?: number | null; readonly limit: number },
): Promise<AlertRun[]> {
  return db.all<AlertRun>(
    `SELECT ${RUN_COLUMNS} FROM alert_runs WHERE alert_id = ? AND id < ? ORDER BY id DESC LIMIT ?`,
    [alertId, before ?? Number.MAX_SAFE_INTEGER, limit],
  );
}

export async function lastRuns(
  db: Database,
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, AlertRun>> {
  const rows = await db.all<AlertRun>(
    `SELECT ${RUN_COLUMNS} FROM alert_runs WHERE id IN
       (SELECT max(id) FROM alert_runs WHERE alert_id IN (${alertIds.map(() => '?').join(', ')}) GROUP BY alert_id)`,
    alertIds,
  );
  return new Map(rows.map((run) => [run.alert_id, run]));
}

export async function getRun(db: Database, id: number): Promise<AlertRun | null> {
  return db.get<AlertRun>(`SELECT ${RUN_COLUMNS} FROM alert_runs WHERE id = ?`, [id]);
}

/** A run at once, which counts like any other; the running server takes it up. */
export async function askForRun(db: Database, alertId: number, now: number): Promise<number> {
  const { lastId } = await db.run(
    `INSERT INTO alert_runs (alert_id, slot, kind, state, attempt, fired, resolved, quiet, missed)
     VALUES (?, ?, 'manual', 'waiting', 0, 0, 0, 0, 0)`,
    [alertId, timestamp(now)],
  );
  return lastId;
}

/** One that this server has to do. */
export interface ClaimedRun {
  readonly id: number;
  readonly alertId: number;
  readonly ownerId: number | null;
  /** Milliseconds of the epoch. */
  readonly slot: number;
  readonly kind: RunKind;
  readonly attempt: number;
  readonly missed: number;
}

interface Claim {
  readonly holder: string;
  readonly now: number;
  readonly leaseMs: number;
  readonly most: number;
}

interface OpenRow {
  readonly id: number;
  readonly alert_id: number;
  readonly owner_id: number | null;
  readonly slot: string;
  readonly kind: RunKind;
  readonly attempt: number;
}

/** Of one owner among those that are taken together, so that many alerts of one do not hold up those of others. */
const OWNER_SHARE = 20;
/** Those due longest, among which owners take turns: all that are due may be very many. */
const FIRST_DUE = 2_000;
/** What the partial index needs to be told. */
const OPEN = "state <> 'done'";

/**
 * Takes runs whose server is gone, those that were asked for, and what is due, in this order and never two of one alert.
 * Of several times that passed only the last is run.
 */
export async function claimRuns(db: Database, claim: Claim): Promise<ClaimedRun[]> {
  const { now, most } = claim;
  const at = timestamp(now);
  const open = await db.all<OpenRow>(
    `SELECT alert_runs.id, alert_id, owner_id, slot, kind, attempt FROM alert_runs
     JOIN alerts ON alerts.id = alert_runs.alert_id
     WHERE alert_runs.id IN (
       SELECT id FROM alert_runs WHERE ${OPEN} AND state = 'waiting' AND alert_id NOT IN
         (SELECT alert_id FROM alert_runs WHERE ${OPEN} AND state = 'running')
       UNION ALL
       SELECT id FROM alert_runs WHERE ${OPEN} AND state = 'running' AND claimed_until <= ?)
     ORDER BY alert_runs.id LIMIT ?`,
    [at, most],
  );
  const ids = await db.all<{ id: number }>(
    `SELECT id FROM (
       SELECT id, due_at, row_number() OVER (PARTITION BY owner_id ORDER BY due_at, id) AS place FROM (
         SELECT id, owner_id, due_at FROM alerts WHERE due_at <= ? AND id NOT IN
           (SELECT alert_id FROM alert_runs WHERE ${OPEN} AND state IN ('running', 'waiting'))
         ORDER BY due_at, id LIMIT ?) AS longest
     ) AS ranked WHERE place <= ? ORDER BY due_at, id LIMIT ?`,
    [at, FIRST_DUE, OWNER_SHARE, Math.max(0, most - open.length)],
  );
  const due = await db.all<AlertRow>(
    `SELECT * FROM alerts WHERE id IN (${ids.map(() => '?').join(', ')}) ORDER BY due_at, id`,
    ids.map(({ id }) => id),
  );
  if (open.length + due.length === 0) return [];
  // Cron lines take longer than the statements do.
  const planned = due.map((row) => ({ row, ...planOf(alertOf(row), now) }));
  return db.transaction(async (tx) => {
    const claimed: ClaimedRun[] = [];
    for (const row of open) {
      const taken = await takeOpen(tx, row, claim);
      if (taken !== null) claimed.push(taken);
    }
    for (const one of planned) {
      const taken = await takeDue(tx, one, claim);
      if (taken !== null) claimed.push(taken);
    }
    return claimed;
  });
}

interface Plan {
  readonly row: AlertRow;
  readonly slot: number;
  readonly missed: number;
  readonly next: readonly [string, string];
}

function planOf({ definition, nextSlot }: Alert, now: number): Omit<Plan, 'row'> {
  const first = Date.parse(nextSlot!);
  const { slot, missed } = scheduleFor(definition!).latest(first, now - delayOf(definition!));
  return { slot, missed, next: nextOf(definition!, slot) };
}

async function takeOpen(
  tx: Database,
  row: OpenRow,
  { holder, now, leaseMs }: Claim,
): Promise<ClaimedRun | null> {
  const { id, alert_id: alertId, owner_id: ownerId, kind } = row;
  const attempt = row.attempt + 1;
  const at = timestamp(now);
  if (attempt > MAX_ATTEMPTS) {
    await tx.run(
      "UPDATE alert_runs SET state = 'failed', ended_at = ?, error = ? WHERE id = ? AND attempt = ?",
      [at, `The server ended ${MAX_ATTEMPTS} times while it ran`, id, row.attempt],
    );
    return null;
  }
  const { changes } = await tx.run(
    `UPDATE alert_runs SET state = 'running', holder = ?, claimed_until = ?, attempt = ?, started_at = ?
     WHERE id = ? AND attempt = ? AND state IN ('waiting', 'running')
       AND (claimed_until IS NULL OR claimed_until <= ?)`,
    [holder, timestamp(now + leaseMs), attempt, at, id, row.attempt, at],
  );
  if (changes === 0) return null;
  return { id, alertId, ownerId, slot: Date.parse(row.slot), kind, attempt, missed: 0 };
}

async function takeDue(
  tx: Database,
  { row, slot, missed, next }: Plan,
  { holder, now, leaseMs }: Claim,
): Promise<ClaimedRun | null> {
  const { changes } = await tx.run(
    `UPDATE alerts SET next_slot = ?, due_at = ?, missed = missed + ?
     WHERE id = ? AND next_slot = ? AND version = ? AND state = 'on'`,
    [...next, missed, row.id, row.next_slot, row.version],
  );
  if (changes === 0) return null;
  const kind =
    now - slot - delayOf(JSON.parse(row.definition) as AlertDefinition) > LATE_MS
      ? 'late'
      : 'scheduled';
  // A slot has one row for ever: a second server, or a definition that was saved again, finds it there.
  const inserted = await tx.run(
    `INSERT INTO alert_runs (alert_id, slot, kind, state, holder, claimed_until, attempt, started_at, fired, resolved,
       quiet, missed) VALUES (?, ?, ?, 'running', ?, ?, 1, ?, 0, 0, 0, ?)
     ON CONFLICT (alert_id, slot) WHERE kind <> 'manual' DO NOTHING`,
    [row.id, timestamp(slot), kind, holder, timestamp(now + leaseMs), timestamp(now), missed],
  );
  if (inserted.changes === 0) return null;
  return {
    id: inserted.lastId,
    alertId: row.id,
    ownerId: row.owner_id,
    slot,
    kind,
    attempt: 1,
    missed,
  };
}

export async function renewLeases(
  db: Database,
  holder: string,
  now: number,
  leaseMs: number,
): Promise<void> {
  await db.relaxed.run(
    "UPDATE alert_runs SET claimed_until = ? WHERE state = 'running' AND holder = ?",
    [timestamp(now + leaseMs), holder],
  );
}

/** When the next one is due; null: none is. */
export async function nextDue(db: Database): Promise<number | null> {
  const row = await db.get<{ at: string | null }>(
    'SELECT min(due_at) AS at FROM alerts WHERE due_at IS NOT NULL',
  );
  return row?.at == null ? null : Date.parse(row.at);
}

export async function keyStates(
  db: Database,
  alertId: number,
): Promise<ReadonlyMap<string, KeyState>> {
  const rows = await db.all<{ key: string; state: string }>(
    'SELECT key, state FROM alert_keys WHERE alert_id = ?',
    [alertId],
  );
  return new Map(rows.map(({ key, state }) => [key, { ...(JSON.parse(state) as KeyState), key }]));
}

export async function writeKeyStates(
  tx: Database,
  alertId: number,
  before: ReadonlyMap<string, KeyState>,
  states: readonly KeyState[],
): Promise<void> {
  const kept = new Set(states.map(({ key }) => key));
  for (const key of before.keys()) {
    if (!kept.has(key))
      await tx.run('DELETE FROM alert_keys WHERE alert_id = ? AND key = ?', [alertId, key]);
  }
  for (const { key, ...state } of states) {
    const text = JSON.stringify(state);
    const old = before.get(key);
    if (old !== undefined && JSON.stringify({ ...old, key: undefined }) === text) continue;
    await tx.run(
      `INSERT INTO alert_keys (alert_id, key, state) VALUES (?, ?, ?)
       ON CONFLICT (alert_id, key) DO UPDATE SET state = excluded.state`,
      [alertId, key, text],
    );
  }
}

export interface RunEnd {
  readonly state: 'done' | 'failed';
  readonly durationMs: number;
  readonly rows: number | null;
  readonly fired: number;
  readonly resolved: number;
  readonly quiet: number;
  readonly error: string | null;
}

/** False when another server has taken it over: then nothing of it may be written. */
export async function endRun(
  tx: Database,
  run: ClaimedRun,
  holder: string,
  end: RunEnd,
  now: number,
): Promise<boolean> {
  const { changes } = await tx.run(
    `UPDATE alert_runs SET state = ?, ended_at = ?, duration_ms = ?, row_count = ?, fired = ?, resolved = ?, quiet = ?,
       error = ?, holder = NULL, claimed_until = NULL
     WHERE id = ? AND state = 'running' AND holder = ? AND attempt = ?`,
    [
      end.state,
      timestamp(now),
      end.durationMs,
      end.rows,
      end.fired,
      end.resolved,
      end.quiet,
      end.error,
      run.id,
      holder,
      run.attempt,
    ],
  );
  if (changes === 0) return false;
  await tx.run(
    `DELETE FROM alert_runs WHERE alert_id = ? AND id <= (SELECT id FROM alert_runs WHERE alert_id = ?
       ORDER BY id DESC LIMIT 1 OFFSET ?)`,
    [run.alertId, run.alertId, KEPT_RUNS],
  );
  return true;
}

export async function writeLastRows(tx: Database, alertId: number, rows: string): Promise<void> {
  await tx.run('UPDATE alerts SET last_rows = ? WHERE id = ?', [rows, alertId]);
}

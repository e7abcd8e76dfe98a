/**
 * Messages on their way out.
 *
 * They are written in the transaction of what they tell of, so that none is lost with a killed process; an attempt is
 * counted before it is made, so that every later one is known to be a possible repeat. Messages of one order key go
 * out one after the other; one that is given up lets the next pass.
 */
import { timestamp } from '../base/clock.ts';
import type { Database } from '../store/database.ts';
import { type ListSource, tableList } from '../store/list-source.ts';
import type { Message } from './message.ts';
import type { DeliveryTarget } from './target.ts';

export type DeliveryState = 'waiting' | 'sent' | 'dead';

export interface NewDelivery {
  /** Of what it tells: the id of the alert, or the path of the file. */
  readonly subject: string;
  readonly findingId: number | null;
  /** Whose rights count for what is written on this server. */
  readonly ownerId: number | null;
  readonly target: DeliveryTarget;
  readonly message: Message;
  /** Those of one key are delivered in the order of their arrival. */
  readonly orderKey?: string;
}

/** One that is due. */
export interface Delivery {
  readonly id: number;
  /** Known to receivers; no other delivery has it, also not after an older backup was restored. */
  readonly uid: string;
  readonly kind: Message['kind'];
  readonly subject: string;
  readonly findingId: number | null;
  readonly ownerId: number | null;
  readonly receiver: string;
  readonly lane: string;
  readonly target: DeliveryTarget;
  readonly message: Message;
  /** Made before, in all rounds. */
  readonly attempts: number;
  /** Made before since it was last sent off by hand. */
  readonly round: number;
}

/** More are written down as given up. */
export const MAX_WAITING = 10_000;
const MAX_DEAD = 10_000;
const MAX_SENT = 10_000;
/** Kept for people to look at. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const QUEUE_FULL = `${MAX_WAITING} deliveries wait already; send it again when there are fewer`;

/** False where the queue is full: then it is given up at once, and can be sent again. */
export async function enqueue(tx: Database, made: NewDelivery, now: number): Promise<boolean> {
  const { subject, findingId, ownerId, target, message, orderKey = null } = made;
  const waiting = await tx.get<{ n: number }>(
    "SELECT count(*) AS n FROM deliveries WHERE state = 'waiting'",
  );
  const isFull = waiting!.n >= MAX_WAITING;
  const at = timestamp(now);
  const { receiver, lane } = receiverOf(target);
  await tx.run(
    `INSERT INTO deliveries (uid, kind, subject, finding_id, owner_id, channel, receiver, lane, order_key, target, message,
       state, attempts, round, next_at, last_error, created_at, done_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)`,
    [
      Bun.randomUUIDv7(),
      message.kind,
      subject,
      findingId,
      ownerId,
      target.type,
      receiver,
      lane,
      orderKey,
      JSON.stringify(target),
      JSON.stringify(message),
      isFull ? 'dead' : 'waiting',
      isFull ? null : at,
      isFull ? QUEUE_FULL : null,
      at,
      isFull ? at : null,
    ],
  );
  return !isFull;
}

/** Whom people see, and the lane: one at a time to each, so that a slow one holds up nobody else. */
function receiverOf(target: DeliveryTarget): { receiver: string; lane: string } {
  const of = (receiver: string, lane = receiver) => ({
    receiver,
    lane: `${target.type}:${lane}`,
  });
  switch (target.type) {
    case 'webhook': {
      if (target.target !== undefined) return of(target.target, `=${target.target}`);
      // The path of an address may be as good as a password.
      const text = target.url ?? '';
      return of(URL.canParse(text) ? new URL(text).host : '?');
    }
    case 'email':
      return of(target.to.join(', '), '');
    case 'index':
      return of(target.index, '');
    case 'dataset':
      return of(target.dataset);
  }
}

interface DeliveryRow {
  readonly id: number;
  readonly uid: string;
  readonly kind: Message['kind'];
  readonly subject: string;
  readonly finding_id: number | null;
  readonly owner_id: number | null;
  readonly receiver: string;
  readonly lane: string;
  readonly target: string;
  readonly message: string;
  readonly attempts: number;
  readonly round: number;
}

const COLUMNS =
  'id, uid, kind, subject, finding_id, owner_id, receiver, lane, target, message, attempts, round';

/**
 * Takes the ones that are due, at most one of each lane and none of those that are busy. What was taken and not settled
 * until `claimMs` later is due again.
 */
export async function claimDue(
  db: Database,
  {
    now,
    busy,
    most,
    claimMs,
  }: {
    readonly now: number;
    readonly busy: readonly string[];
    readonly most: number;
    readonly claimMs: number;
  },
): Promise<Delivery[]> {
  if (most <= 0) return [];
  const at = timestamp(now);
  const free = busy.length === 0 ? '' : `AND lane NOT IN (${busy.map(() => '?').join(', ')})`;
  const due = `state = 'waiting' AND next_at <= ? AND (claimed_until IS NULL OR claimed_until <= ?)`;
  return db.transaction(async (tx) => {
    const first = await tx.all<{ id: number }>(
      `SELECT min(id) AS id FROM deliveries WHERE ${due} ${free} AND (order_key IS NULL OR NOT EXISTS (
         SELECT 1 FROM deliveries AS earlier WHERE earlier.state = 'waiting'
         AND earlier.order_key = deliveries.order_key AND earlier.id < deliveries.id))
       GROUP BY lane ORDER BY id LIMIT ?`,
      [at, at, ...busy, most],
    );
    const taken: Delivery[] = [];
    for (const { id } of first) {
      const row = await tx.get<DeliveryRow>(`SELECT ${COLUMNS} FROM deliveries WHERE id = ?`, [id]);
      taken.push(deliveryOf(row!));
      await tx.run(
        'UPDATE deliveries SET attempts = attempts + 1, round = round + 1, claimed_until = ? WHERE id = ?',
        [timestamp(now + claimMs), id],
      );
    }
    return taken;
  });
}

function deliveryOf(row: DeliveryRow): Delivery {
  const { finding_id: findingId, owner_id: ownerId, target, message, ...rest } = row;
  return {
    ...rest,
    findingId,
    ownerId,
    target: JSON.parse(target) as DeliveryTarget,
    message: JSON.parse(message) as Message,
  };
}

/** At the start of the one process that delivers: nothing is under way. */
export async function releaseClaims(db: Database): Promise<void> {
  await db.run(
    "UPDATE deliveries SET claimed_until = NULL WHERE state = 'waiting' AND claimed_until IS NOT NULL",
  );
}

export type Settlement =
  | { readonly state: 'sent' }
  | { readonly state: 'dead'; readonly error: string }
  | { readonly state: 'waiting'; readonly error: string; readonly nextAt: number };

export async function settle(
  db: Database,
  id: number,
  settlement: Settlement,
  now: number,
): Promise<void> {
  const { state } = settlement;
  const error = state === 'sent' ? null : settlement.error;
  const nextAt = state === 'waiting' ? timestamp(settlement.nextAt) : null;
  const doneAt = state === 'waiting' ? null : timestamp(now);
  // What was sent can be read where it came from; it is not kept twice.
  await db.run(
    `UPDATE deliveries SET state = ?, last_error = ?, next_at = ?, done_at = ?, claimed_until = NULL,
       message = CASE WHEN ? = 'sent' THEN '{}' ELSE message END WHERE id = ?`,
    [state, error, nextAt, doneAt, state, id],
  );
}

/** False unless it was given up. It is marked as a repeat where it had been tried. */
export async function sendAgain(db: Database, id: number, now: number): Promise<boolean> {
  const { changes } = await db.run(
    `UPDATE deliveries SET state = 'waiting', round = 0, next_at = ?, done_at = NULL
     WHERE id = ? AND state = 'dead'`,
    [timestamp(now), id],
  );
  return changes > 0;
}

/** False when there is none, or it still waits. */
export async function forgetDelivery(db: Database, id: number): Promise<boolean> {
  const { changes } = await db.run("DELETE FROM deliveries WHERE id = ? AND state <> 'waiting'", [
    id,
  ]);
  return changes > 0;
}

/** When the next one is due, in milliseconds of the epoch; null while none waits. */
export async function nextDue(db: Database, now: number): Promise<number | null> {
  const row = await db.get<{ at: string | null }>(
    `SELECT min(next_at) AS at FROM deliveries
     WHERE state = 'waiting' AND (claimed_until IS NULL OR claimed_until <= ?)`,
    [timestamp(now)],
  );
  return row?.at == null ? null : Date.parse(row.at);
}

export interface QueueFigures {
  readonly waiting: number;
  readonly dead: number;
  /** Milliseconds of the epoch; null while none waits. */
  readonly oldest: number | null;
}

export async function queueFigures(db: Database): Promise<QueueFigures> {
  const rows = await db.all<{ state: DeliveryState; n: number; oldest: string }>(
    `SELECT state, count(*) AS n, min(created_at) AS oldest FROM deliveries
     WHERE state IN ('waiting', 'dead') GROUP BY state`,
  );
  const of = (state: DeliveryState) => rows.find((row) => row.state === state);
  const waiting = of('waiting');
  return {
    waiting: waiting?.n ?? 0,
    dead: of('dead')?.n ?? 0,
    oldest: waiting === undefined ? null : Date.parse(waiting.oldest),
  };
}

/** Deletes what is done: older than a month, or more than the most that are kept. */
export async function pruneDeliveries(db: Database, now: number): Promise<void> {
  const before = timestamp(now - KEPT_MS);
  for (const [state, most] of [
    ['sent', MAX_SENT],
    ['dead', MAX_DEAD],
  ] as const) {
    const last = await db.get<{ id: number }>(
      'SELECT id FROM deliveries WHERE state = ? ORDER BY id DESC LIMIT 1 OFFSET ?',
      [state, most],
    );
    await db.run('DELETE FROM deliveries WHERE state = ? AND (done_at < ? OR id <= ?)', [
      state,
      before,
      last?.id ?? -1,
    ]);
  }
}

export const deliveryList: ListSource = {
  ...tableList(
    'deliveries',
    {
      id: 'integer',
      kind: 'string',
      subject: 'string',
      finding_id: 'integer',
      owner_id: 'integer',
      channel: 'string',
      receiver: 'string',
      state: 'string',
      attempts: 'integer',
      next_at: 'date-time',
      last_error: 'string',
      created_at: 'date-time',
      done_at: 'date-time',
    },
    ['created_at', 'state', 'channel', 'receiver', 'next_at', 'done_at'],
  ),
  order: 'desc',
};

/**
 * Messages on their way out.
 *
 * They are written in the transaction of what they tell of, so that none is lost with a killed process; an attempt is
 * counted before it is made, so that every later one is known to be a possible repeat. Messages of one order key go
 * out one after the other; one that is given up lets the next pass.
 */
import { timestamp } from '../base/clock.ts';
import type { Database } from '../store/database.ts';
import type { Message } from './message.ts';
import type { DeliveryTarget } from './target.ts';

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
    `INSERT INTO deliveries (kind, subject, finding_id, owner_id, channel, receiver, lane, order_key, target, message,
       state, attempts, round, next_at, last_error, created_at, done_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)`,
    [
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
  'id, kind, subject, finding_id, owner_id, receiver, lane, target, message, attempts, round';

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
    // The first of each lane in the order of their times.
    const rows = await tx.all<DeliveryRow>(
      `SELECT ${COLUMNS} FROM (
         SELECT ${COLUMNS}, row_number() OVER (PARTITION BY lane ORDER BY next_at, id) AS place
         FROM deliveries WHERE ${due} ${free} AND (order_key IS NULL OR NOT EXISTS (
           SELECT 1 FROM deliveries AS earlier WHERE earlier.state = 'waiting'
           AND earlier.order_key = deliveries.order_key AND earlier.id < deliveries.id))
       ) AS due WHERE place = 1 ORDER BY id LIMIT ?`,
      [at, at, ...busy, most],
    );
    for (const { id } of rows) {
      await tx.run(
        'UPDATE deliveries SET attempts = attempts + 1, round = round + 1, claimed_until = ? WHERE id = ?',
        [timestamp(now + claimMs), id],
      );
    }
    return rows.map(deliveryOf);
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

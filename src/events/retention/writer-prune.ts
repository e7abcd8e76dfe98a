/** Deletes old events in steps, so that other writes run in between. */
import type { EventStore } from '../store/store.ts';
import type { PrunedIndex, PruneOrder, WriterAnswer } from '../store/writer-orders.ts';
import { EMPTY_ANSWER } from '../store/writer-orders.ts';

const STEP_EVENTS = 1_000;

export interface StoredSize {
  readonly id: number;
  readonly index: string;
  readonly bytes: number;
  readonly created: number;
}

/** `hasMore` when the step was full. */
export function pruneStep(store: EventStore, order: PruneOrder): () => WriterAnswer {
  const found = order.ids === null ? oldest(store, order) : byIds(store, order.ids);
  const chosen: StoredSize[] = [];
  let freed = 0;
  for (const event of found) {
    if (order.bytes !== null && freed >= order.bytes) break;
    chosen.push(event);
    freed += event.bytes;
  }
  store.delete(chosen.map(({ id }) => id));
  if (order.index !== null) store.noteFirst(order.index, chosen.at(-1)?.id ?? 0);
  const hasMore = chosen.length === STEP_EVENTS;
  return () => ({ ...EMPTY_ANSWER, status: 200, pruned: totals(chosen), hasMore });
}

function oldest(store: EventStore, { index, createdBefore }: PruneOrder): StoredSize[] {
  const conditions = ['id >= ?'];
  const params: (string | number)[] = [store.firstIdOf(index)];
  if (index !== null) {
    conditions.push('"index" = ?');
    params.push(index);
  }
  if (createdBefore !== null) {
    // `created` never decreases with the id, so nothing after the first younger event is examined.
    conditions.push('id < ?');
    params.push(store.firstIdCreatedFrom(createdBefore));
  }
  return store.db
    .query<StoredSize, (string | number)[]>(
      `SELECT id, "index", bytes, created FROM events NOT INDEXED WHERE ${conditions.join(' AND ')}
       ORDER BY id LIMIT ${STEP_EVENTS}`,
    )
    .all(...params);
}

function byIds(store: EventStore, ids: readonly number[]): StoredSize[] {
  const find = store.db.query<StoredSize, [number]>(
    'SELECT id, "index", bytes, created FROM events WHERE id = ?',
  );
  return ids.map((id) => find.get(id)).filter((event) => event !== null);
}

function totals(events: readonly StoredSize[]): PrunedIndex[] {
  const byIndex = new Map<
    string,
    { index: string; events: number; bytes: number; oldest: number; newest: number }
  >();
  for (const { index, bytes, created } of events) {
    const known = byIndex.get(index);
    if (known === undefined)
      byIndex.set(index, { index, events: 1, bytes, oldest: created, newest: created });
    else {
      known.events += 1;
      known.bytes += bytes;
      known.oldest = Math.min(known.oldest, created);
      known.newest = Math.max(known.newest, created);
    }
  }
  return [...byIndex.values()];
}

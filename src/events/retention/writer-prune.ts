/** Deletes old events in steps, so that other writes run in between. */
import { type Part, readParts } from '../parts/manifest.ts';
import type { SealedEvent } from '../parts/sealed-store.ts';
import type { EventStore } from '../store/store.ts';
import type { PrunedIndex, PruneOrder, WriterAnswer } from '../store/writer-orders.ts';
import { EMPTY_ANSWER } from '../store/writer-orders.ts';

const STEP_EVENTS = 1_000;

/** `part`: null for a row. */
interface OldEvent extends SealedEvent {
  readonly part: Part | null;
}

/** `hasMore` when the step was full. `now`: microseconds. */
export function pruneStep(store: EventStore, order: PruneOrder, now: number): () => WriterAnswer {
  const found = order.ids === null ? oldest(store, order) : byIds(store, order.ids);
  if ('whole' in found) {
    store.dropPart(found.whole, now);
    const pruned = [partTotals(found.whole)];
    return () => ({ ...EMPTY_ANSWER, status: 200, pruned, hasMore: true });
  }
  const chosen: OldEvent[] = [];
  let freed = 0;
  for (const event of found) {
    if (order.bytes !== null && freed >= order.bytes) break;
    chosen.push(event);
    freed += event.bytes;
  }
  const rows = chosen.filter(({ part }) => part === null);
  store.delete(rows.map(({ id }) => id));
  for (const part of new Set(chosen.map(({ part: of }) => of))) {
    if (part !== null)
      store.deleteSealed(
        part,
        chosen.filter((event) => event.part === part),
        now,
      );
  }
  if (order.index !== null) store.noteFirst(order.index, chosen.at(-1)?.id ?? 0);
  const hasMore = chosen.length === STEP_EVENTS;
  return () => ({ ...EMPTY_ANSWER, status: 200, pruned: totals(chosen), hasMore });
}

/** The next to go of both tiers: a whole part, or events by their ids. */
function oldest(store: EventStore, order: PruneOrder): OldEvent[] | { readonly whole: Part } {
  const { index, createdBefore, bytes } = order;
  const parts = readParts(store.db)
    .filter(
      (part) =>
        (index === null || part.index === index) &&
        (createdBefore === null || part.minCreated < createdBefore),
    )
    .sort((a, b) => a.minId - b.minId);
  const rows = oldestRows(store, order);
  const [first, second] = parts;
  if (first === undefined) return rows;
  const isOld = createdBefore === null || first.maxCreated < createdBefore;
  const nextId = Math.min(second?.minId ?? Infinity, rows[0]?.id ?? Infinity);
  const isAlone = bytes === null || first.maxId < nextId;
  const fits = bytes === null || order.isWhole === true || first.bytes <= bytes;
  if (isOld && isAlone && fits) return { whole: first };
  const limit = rows.length === STEP_EVENTS ? rows.at(-1)!.id : Infinity;
  const sealed: OldEvent[] = [];
  for (const part of parts) {
    const known =
      sealed.length < STEP_EVENTS ? limit : Math.min(limit, sealed[STEP_EVENTS - 1]!.id);
    if (part.minId > known) break;
    // Its events go when they may go with all of it.
    const events = store.sealed.readable(part) ?? [];
    for (const event of events) {
      if (event.id > known) break;
      if (createdBefore === null || event.created < createdBefore) sealed.push({ ...event, part });
    }
    sealed.sort((a, b) => a.id - b.id);
    sealed.splice(STEP_EVENTS);
  }
  return [...rows, ...sealed].sort((a, b) => a.id - b.id).slice(0, STEP_EVENTS);
}

function oldestRows(store: EventStore, { index, createdBefore }: PruneOrder): OldEvent[] {
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
    .query<OldEvent, (string | number)[]>(
      `SELECT id, "index", bytes, created, NULL AS part FROM events NOT INDEXED WHERE ${conditions.join(' AND ')}
       ORDER BY id LIMIT ${STEP_EVENTS}`,
    )
    .all(...params);
}

function byIds(store: EventStore, ids: readonly number[]): OldEvent[] {
  const find = store.db.query<OldEvent, [number]>(
    'SELECT id, "index", bytes, created, NULL AS part FROM events WHERE id = ?',
  );
  const parts = readParts(store.db);
  return ids
    .map((id) => find.get(id) ?? sealedById(store, parts, id))
    .filter((event) => event !== null);
}

function sealedById(store: EventStore, parts: readonly Part[], id: number): OldEvent | null {
  for (const part of parts) {
    if (id < part.minId || id > part.maxId) continue;
    const found = store.sealed.readable(part)?.find((event) => event.id === id);
    if (found !== undefined) return { ...found, part };
  }
  return null;
}

function partTotals({ index, rows, gone, bytes, minCreated, maxCreated }: Part): PrunedIndex {
  return { index, events: rows - gone, bytes, oldest: minCreated, newest: maxCreated };
}

function totals(events: readonly OldEvent[]): PrunedIndex[] {
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

/** Deletes events that are too old or too many, in small steps. */
import type { Audit } from '../../accounts/audit/audit.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/settings.ts';
import { timeText } from '../event-time.ts';
import type { IndexTotals } from '../read/index-totals.ts';
import type { Ingest } from '../intake/writer-queue.ts';
import type { PrunedIndex, PruneOrder, WriterResult } from '../store/writer-orders.ts';

/** Null: unlimited. */
export interface IndexRules {
  readonly max_age_days: number | null;
  readonly max_bytes: number | null;
}

export type PruneRule = 'age' | 'size' | 'total' | 'query';

export interface Pruned extends PrunedIndex {
  readonly rule: PruneRule;
}

export interface PrunedStore {
  open(): Promise<void>;
  indexTotals(): IndexTotals[] | Promise<IndexTotals[]>;
  sizeInUse(): number;
  readonly ingest: Pick<Ingest, 'submit'>;
}

interface RetentionOptions {
  readonly events: PrunedStore;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => Config;
}

const STEP_IDS = 1_000;
export const DAY_MICROS = 86_400_000_000;
/** Past its size limit an index is reduced to this share of it. */
export const KEPT_SHARE = 0.95;
/** Smallest step, as a share of the total size. */
const LEAST_SHARE = 0.005;
const EVERYTHING = { kind: 'prune', index: null, createdBefore: null, ids: null } as const;
const HOUR_MICROS = 3_600_000_000;

/** Those of the index, else the defaults; 0 means for ever. */
export function rulesOf(
  { max_age_days: age, max_bytes: bytes, indexes }: Config['events']['retention'],
  index: string,
): IndexRules {
  const own = Object.hasOwn(indexes, index) ? indexes[index] : undefined;
  return {
    max_age_days: (own?.max_age_days ?? age) || null,
    max_bytes: (own?.max_bytes ?? bytes) || null,
  };
}

export class Retention {
  readonly #options: RetentionOptions;
  readonly #pruned = new Map<PruneRule, number>();
  #timer: Timer | null = null;
  #running: Promise<Pruned[]> | null = null;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  get counts(): ReadonlyMap<PruneRule, number> {
    return this.#pruned;
  }

  start(): void {
    const { log, config } = this.#options;
    const { max_age_days, max_bytes, total_max_bytes, indexes } = config().events.retention;
    log.info('retention of events', { max_age_days, max_bytes, total_max_bytes, indexes });
    const again = (): void => {
      this.#timer = setTimeout(async () => {
        await this.run().catch((error: unknown) =>
          log.warning('old events were not deleted', { error }),
        );
        if (this.#timer !== null) again();
      }, config().events.retention.interval_seconds * 1000);
      this.#timer.unref();
    };
    again();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** One run at a time. Audited. Throws `unavailable`. */
  run(): Promise<Pruned[]> {
    this.#running ??= this.#apply().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #apply(): Promise<Pruned[]> {
    const { events, clock, config } = this.#options;
    const { events: settings } = config();
    await events.open();
    const now = clock.now() * 1000;
    await events.ingest.submit(
      { kind: 'forget', before: now - settings.idempotency_hours * HOUR_MICROS },
      new Uint8Array(),
      { events: 0, name: 'retention' },
    );
    const pruned: Pruned[] = [];
    for (const wanted of ['age', 'size'] as const) {
      // Read again for each rule: events deleted by age no longer count for size.
      for (const totals of await events.indexTotals()) {
        const due = dueOrders(totals, rulesOf(settings.retention, totals.index), now);
        const order = due.find(({ rule }) => rule === wanted)?.order;
        if (order !== undefined) pruned.push(...(await this.prune(order, wanted)));
      }
    }
    pruned.push(...(await this.#pruneTotal(settings.retention.total_max_bytes)));
    await this.reclaim();
    return pruned;
  }

  /** Gives the space of what was deleted back to the disk, but for what new events will soon need. */
  async reclaim(): Promise<void> {
    for (let hasMore = true; hasMore;) ({ hasMore } = await this.#step({ kind: 'reclaim' }));
  }

  async #pruneTotal(max: number | null): Promise<Pruned[]> {
    const { events } = this.#options;
    if (max === null || events.sizeInUse() <= max) return [];
    // Measured after each step: in pages a small event takes many times the size of its text.
    const excess = (): number => Math.ceil(events.sizeInUse() - max * KEPT_SHARE);
    // Events that arrive meanwhile are left to the next run.
    let most = 2 * excess();
    const left = (deleted: number): number => {
      most -= deleted;
      const over = most > 0 ? excess() : 0;
      // Only whole pages are freed: a very small step might free none.
      return over > 0 ? Math.max(over, Math.ceil(max * LEAST_SHARE)) : 0;
    };
    return this.#deleted('total', async (note) => {
      for (let bytes = left(0); bytes > 0;) {
        const { pruned } = note(await this.#step({ ...EVERYTHING, bytes, isWhole: true }));
        if (pruned.length === 0) return;
        bytes = left(bytesOf(pruned));
      }
    });
  }

  /** In steps; audited by index. */
  async prune(order: PruneOrder, rule: PruneRule): Promise<Pruned[]> {
    const { ids } = order;
    return this.#deleted(rule, async (note) => {
      if (ids !== null) {
        for (let from = 0; from < ids.length; from += STEP_IDS)
          note(await this.#step({ ...order, ids: ids.slice(from, from + STEP_IDS) }));
        return;
      }
      let { bytes } = order;
      for (let hasMore = true; hasMore && (bytes === null || bytes > 0);) {
        const result = note(await this.#step({ ...order, bytes }));
        if (bytes !== null) bytes -= bytesOf(result.pruned);
        ({ hasMore } = result);
      }
    });
  }

  async #step(order: PruneOrder | { readonly kind: 'reclaim' }): Promise<WriterResult> {
    const holder = { events: 0, name: 'retention' };
    return (await this.#options.events.ingest.submit(order, new Uint8Array(), holder)).result;
  }

  /** Audited also when interrupted, because the events are gone. */
  async #deleted(
    rule: PruneRule,
    steps: (note: (result: WriterResult) => WriterResult) => Promise<void>,
  ): Promise<Pruned[]> {
    const byIndex = new Map<string, Pruned>();
    try {
      await steps((result) => {
        for (const part of result.pruned)
          byIndex.set(part.index, added(byIndex.get(part.index), part, rule));
        return result;
      });
    } finally {
      for (const pruned of byIndex.values()) await this.#audit(pruned);
    }
    return [...byIndex.values()];
  }

  async #audit({ index, events, bytes, oldest, newest, rule }: Pruned): Promise<void> {
    this.#pruned.set(rule, (this.#pruned.get(rule) ?? 0) + events);
    await this.#options.audit.record({
      userId: null,
      action: 'events_prune',
      resource: `@events/${index}`,
      details: `Deleted ${events} events, ${bytes} bytes, oldest ${timeText(oldest)}, newest ${timeText(newest)}, rule ${rule}`,
      ipAddress: null,
    });
  }
}

function dueOrders(
  { index, bytes, oldestStored }: IndexTotals,
  { max_age_days: days, max_bytes: max }: IndexRules,
  now: number,
): { rule: PruneRule; order: PruneOrder }[] {
  const due: { rule: PruneRule; order: PruneOrder }[] = [];
  const createdBefore = days === null ? null : now - days * DAY_MICROS;
  if (createdBefore !== null && oldestStored !== null && oldestStored < createdBefore) {
    due.push({
      rule: 'age',
      order: { kind: 'prune', index, createdBefore, bytes: null, ids: null },
    });
  }
  if (max !== null && bytes > max) {
    const excess = Math.ceil(bytes - max * KEPT_SHARE);
    due.push({
      rule: 'size',
      order: { kind: 'prune', index, createdBefore: null, bytes: excess, ids: null },
    });
  }
  return due;
}

function bytesOf(parts: readonly PrunedIndex[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

function added(known: Pruned | undefined, part: PrunedIndex, rule: PruneRule): Pruned {
  if (known === undefined) return { ...part, rule };
  return {
    ...known,
    events: known.events + part.events,
    bytes: known.bytes + part.bytes,
    oldest: Math.min(known.oldest, part.oldest),
    newest: Math.max(known.newest, part.newest),
  };
}

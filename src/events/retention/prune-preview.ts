/** What retention or a delete order would remove now (`--dry-run`). */
import type { Config } from '../../config/settings.ts';
import { NO_HINT } from '../parts/group-rows.ts';
import type { EventReader } from '../store/reader.ts';
import type { IndexTotals } from '../read/index-totals.ts';
import type { Pruned, PruneRule } from './retention.ts';
import type { SealedEvent } from '../parts/sealed-store.ts';
import { DAY_MICROS, KEPT_SHARE, rulesOf } from './retention.ts';
import type { PruneOrder } from '../store/writer-orders.ts';

/** `sizeInUse`: bytes of the pages; `now`: microseconds. */
export function previewRetention(
  reader: EventReader,
  retention: Config['events']['retention'],
  facts: {
    readonly totals: readonly IndexTotals[];
    readonly sizeInUse: number;
    readonly now: number;
  },
): Pruned[] {
  const rules = new Map(
    facts.totals.map((totals) => [totals.index, rulesFor(reader, retention, totals, facts.now)]),
  );
  const texts = facts.totals.reduce((sum, { bytes }) => sum + bytes, 0);
  const due = [...rules.values()].reduce((sum, rule) => sum + rule.agedBytes + rule.excess, 0);
  const max = retention.total_max_bytes;
  const used = texts === 0 ? 0 : facts.sizeInUse * (1 - due / texts);
  let total = max === null || used <= max ? 0 : used - max * KEPT_SHARE;
  // Average page overhead of an event beyond its text.
  const count = facts.totals.reduce((sum, { events }) => sum + events, 0);
  const overhead = Math.max(0, facts.sizeInUse - texts) / Math.max(1, count);
  return tally(reader, ({ index, bytes, created }) => {
    const rule = rules.get(index);
    if (rule === undefined) return null;
    if (created < rule.createdBefore) return 'age';
    if (rule.excess > 0) {
      rule.excess -= bytes;
      return 'size';
    }
    if (total <= 0) return null;
    total -= bytes + overhead;
    return 'total';
  });
}

function rulesFor(
  reader: EventReader,
  retention: Config['events']['retention'],
  { index, bytes }: IndexTotals,
  now: number,
): { createdBefore: number; agedBytes: number; excess: number } {
  const { max_age_days: days, max_bytes: max } = rulesOf(retention, index);
  const createdBefore = days === null ? 0 : now - days * DAY_MICROS;
  const agedBytes =
    days === null
      ? 0
      : [
          ...reader.figures<{ bytes: number }>('coalesce(sum(bytes), 0) AS bytes', {
            where: () => ({ sql: '"index" = ? AND created < ?', params: [index, createdBefore] }),
            hint: { ...NO_HINT, indexes: [index] },
          }),
        ].reduce((sum, part) => sum + part.bytes, 0);
  const left = bytes - agedBytes;
  const excess = max !== null && left > max ? Math.ceil(left - max * KEPT_SHARE) : 0;
  return { createdBefore, agedBytes, excess };
}

export function previewOrder(
  reader: EventReader,
  { index, createdBefore }: Pick<PruneOrder, 'index' | 'createdBefore'>,
  rule: PruneRule,
): Pruned[] {
  return tally(reader, (row) => {
    if (index !== null && row.index !== index) return null;
    return createdBefore === null || row.created < createdBefore ? rule : null;
  });
}

export function previewIds(reader: EventReader, ids: readonly number[]): Pruned[] {
  const wanted = new Set(ids);
  return tally(reader, ({ id }) => (wanted.has(id) ? 'query' : null));
}

function tally(reader: EventReader, ruleOf: (row: SealedEvent) => PruneRule | null): Pruned[] {
  const found = new Map<string, { -readonly [Name in keyof Pruned]: Pruned[Name] }>();
  const all = { where: () => ({ sql: '1', params: [] }), hint: NO_HINT, isHinted: true };
  const rows = reader.rows<SealedEvent>('id, "index", bytes, created', 'id', all, {
    from: 'events NOT INDEXED',
    sealed: (group) => group.rowsOf(['id', 'index', 'bytes', 'created']),
  });
  for (const row of rows) {
    const rule = ruleOf(row);
    if (rule === null) continue;
    const { index, bytes, created } = row;
    const key = `${rule} ${index}`;
    const known = found.get(key);
    if (known === undefined) {
      found.set(key, { index, events: 1, bytes, oldest: created, newest: created, rule });
    } else {
      known.events += 1;
      known.bytes += bytes;
      known.newest = created;
    }
  }
  return [...found.values()];
}

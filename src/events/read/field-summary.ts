/** Fields of events and their most frequent values. */
import type { EventReader } from '../store/reader.ts';
import type { Selection } from './selection.ts';
import type { EventFilter, FilterQuery } from './query-filter.ts';
import { type FilterLimit, filteredRows } from './query-filter.ts';
import { isHinted, selectionHint, selectionSql } from './selection.ts';
import type { PartProblem } from '../parts/sealed-tier.ts';
import { incompleteOf } from './histogram.ts';

export interface FieldsOrder {
  readonly stateDir: string;
  readonly selection: Selection;
  readonly top: number;
  readonly sample: number;
  readonly budgetMs: number;
  /** Null: all selected events. */
  readonly query: FilterQuery | null;
}

interface FieldView {
  readonly name: string;
  readonly type: string;
  readonly count: number;
  readonly distinct: number;
  readonly distinct_capped: boolean;
  readonly top: readonly { readonly value: unknown; readonly count: number }[];
}

export interface FieldSummary {
  readonly fields: readonly FieldView[];
  readonly sampled: number;
  readonly truncated: boolean;
  /** Events that cannot be read and are missing here. */
  readonly incomplete?: readonly PartProblem[];
  readonly elapsed_ms: number;
}

interface Tally {
  count: number;
  types: Set<string>;
  values: Map<string, { value: unknown; count: number }>;
  isCapped: boolean;
}

const MAX_FIELDS = 500;
const MAX_DEPTH = 3;
const MAX_DISTINCT = 1_000;
const CHECK_ROWS = 500;
const OWN_FIELDS = ['index', 'sourcetype', 'source', 'host'] as const;

interface SampledRow extends Record<(typeof OWN_FIELDS)[number], string> {
  readonly fields: string;
}

/** Examines the newest selected events; with a query, those that match it. */
export function summariseFields(
  reader: EventReader,
  order: FieldsOrder,
  filter: EventFilter | null,
): FieldSummary {
  const startedAt = performance.now();
  let isTruncated = false;
  const limit = {
    untilMs: startedAt + order.budgetMs,
    onCut: () => {
      isTruncated = true;
    },
  };
  const rows = sampledRows(reader, order, filter === null ? null : { filter, limit });
  const own = new Map<string, Tally>(OWN_FIELDS.map((name) => [name, emptyTally()]));
  const found = new Map<string, Tally>();
  let sampled = 0;
  for (const row of rows) {
    for (const name of OWN_FIELDS) note(own.get(name)!, row[name]);
    if (row.fields !== '{}') walk(found, '', JSON.parse(row.fields), MAX_DEPTH);
    sampled += 1;
    if (sampled % CHECK_ROWS === 0 && performance.now() - startedAt > order.budgetMs) {
      isTruncated = true;
      break;
    }
  }
  const members = [...found].sort(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1));
  const all = sampled === 0 ? [] : [...own, ...members];
  return {
    fields: all.map(([name, tally]) => viewOf(name, tally, order.top)),
    sampled,
    truncated: isTruncated,
    ...incompleteOf(reader),
    elapsed_ms: Math.round(performance.now() - startedAt),
  };
}

function sampledRows(
  reader: EventReader,
  { selection, sample }: FieldsOrder,
  filtering: { readonly filter: EventFilter; readonly limit: FilterLimit } | null,
): Iterable<SampledRow> {
  const wanted = {
    where: (isSealed: boolean) => selectionSql(reader, selection, isSealed),
    hint: selectionHint(selection),
    isHinted: isHinted(selection),
  };
  if (filtering !== null) {
    const batches = filteredRows(reader, wanted, { order: 'id DESC', ...filtering });
    return firstOf(batches, sample);
  }
  const list = '"index", sourcetype, source, host, json(fields) AS fields';
  const cut = { offset: 0, limit: sample };
  const names = [...OWN_FIELDS, 'fields'] as const;
  return reader.rows<SampledRow>(list, 'id DESC', wanted, {
    cut,
    sealed: (rows) => rows.rowsOf(names),
  });
}

function* firstOf(batches: Iterable<Iterable<SampledRow>>, count: number): Generator<SampledRow> {
  let left = count;
  for (const batch of batches) {
    for (const row of batch) {
      yield row;
      left -= 1;
      if (left === 0) return;
    }
  }
}

function emptyTally(): Tally {
  return { count: 0, types: new Set(), values: new Map(), isCapped: false };
}

function walk(found: Map<string, Tally>, prefix: string, value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const name = prefix + key;
    const isNested = typeof member === 'object' && member !== null && !Array.isArray(member);
    if (isNested && depth > 1) walk(found, `${name}.`, member, depth - 1);
    else if (member !== null) {
      let tally = found.get(name);
      if (tally === undefined) {
        if (found.size >= MAX_FIELDS) continue;
        found.set(name, (tally = emptyTally()));
      }
      note(tally, member);
    }
  }
}

function note(tally: Tally, value: unknown): void {
  tally.count += 1;
  tally.types.add(typeOf(value));
  const key = typeof value === 'string' ? `s${value}` : JSON.stringify(value);
  const known = tally.values.get(key);
  if (known !== undefined) known.count += 1;
  else if (tally.values.size < MAX_DISTINCT) tally.values.set(key, { value, count: 1 });
  else tally.isCapped = true;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function viewOf(name: string, { count, types, values, isCapped }: Tally, top: number): FieldView {
  const best = [...values.values()].sort((a, b) => b.count - a.count).slice(0, top);
  const type = types.size === 1 ? [...types][0]! : 'mixed';
  return { name, type, count, distinct: values.size, distinct_capped: isCapped, top: best };
}

/**
 * Filters, sorts, pages and cursors of random tables against a naive model in memory (DS-36 to DS-58).
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { compareBytes } from '../../src/base/paths.ts';
import { parseFilter } from '../../src/tables/filter/filter.ts';
import { matchesFilter } from './filter-match.ts';
import type { QueryPlan } from '../../src/tables/read/query-plan.ts';
import { areIdsCheap, runCount, runIds, runPage } from '../../src/tables/read/query-run.ts';
import { tableColumns } from '../../src/tables/read/query-table.ts';
import { parseSort } from '../../src/tables/read/name-list.ts';
import { STRATEGY } from '../../src/tables/limits.ts';
import { lowered } from '../support/lowered.ts';
import { filtersFor, sketches, sortsFor } from './query-arbitraries.ts';
import { parametersOf, planFor, read, taken, type TypedCopy, typedCopy } from './typed-copy.ts';

type Stored = string | number | bigint | null;

/** The rows of a query by the words of the contract, as indexes of the copy's rows. */
function modelOf(copy: TypedCopy, query: Record<string, string>): number[] {
  const columns = tableColumns(copy.table.columns);
  const { filter, sort, order } = parametersOf(query);
  const tree = parseFilter(filter, columns);
  const terms = parseSort(sort, order, columns);
  const valueOf = (row: number, column: number): Stored =>
    column === 0 ? copy.ids[row]! : copy.stored[row]![column - 1]!;
  return copy.ids
    .map((_, row) => row)
    .filter((row) => tree === null || matchesFilter(tree, columns, copy.presented[row]!))
    .sort((a, b) => {
      for (const { column, descending } of terms) {
        const difference = compareStored(valueOf(a, column), valueOf(b, column), descending);
        if (difference !== 0) return difference;
      }
      return a - b;
    });
}

/** Numbers, then text, reversed for descending; null last either way (DS-58). */
function compareStored(a: Stored, b: Stored, descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order =
    typeof a === 'string' && typeof b === 'string'
      ? compareBytes(a, b)
      : typeof a === 'string' || typeof b === 'string'
        ? Number(typeof a === 'string') - Number(typeof b === 'string')
        : a < b
          ? -1
          : Number(a > b);
  return descending ? -order : order;
}

const cases = sketches.chain((sketch) =>
  fc.record({
    sketch: fc.constant(sketch),
    filter: fc.oneof(fc.constant(''), filtersFor(sketch), filtersFor(sketch)),
    sort: sortsFor(sketch),
    order: fc.constantFrom('asc', 'desc'),
    limit: fc.integer({ min: 1, max: 8 }),
    offset: fc.integer({ min: 0, max: 12 }),
  }),
);

/** Each way to an answer is met with few rows, some of the time. */
const strategies = fc.record({
  indexFromRows: fc.constantFrom(0, 2, 1_000),
  rowsById: fc.constantFrom(0, 3, 1_000),
  longSkip: fc.constantFrom(0, 2, 1_000),
  lookupRows: fc.constantFrom(0, 8, 1_000),
  fewRows: fc.constantFrom(1, 3, 64),
  heldSize: fc.constantFrom(0, 40, 4_000_000),
  smallCopyBytes: fc.constantFrom(0, 64 << 20),
  plannedComparisons: fc.constantFrom(0, 1, 64),
  functionArguments: fc.constantFrom(2, 900),
  rangeCuts: fc.constantFrom(0, 2, 2_048),
});

/** The plan with each of its ways to the rows forced in turn. */
function waysOf(plan: QueryPlan): QueryPlan[] {
  if (!plan.walk || !plan.gather) return [plan];
  return [
    { ...plan, gather: null },
    { ...plan, walk: null },
  ];
}

test('every query answers as the model does, by every way to the rows', () => {
  fc.assert(
    fc.property(cases, strategies, ({ sketch, filter, sort, order, limit, offset }, strategy) => {
      using _lowered = lowered(STRATEGY, strategy);
      const copy = typedCopy(sketch);
      const query = { filter, sort, order };
      const model = modelOf(copy, query).map((row) => copy.ids[row]!);
      for (const plan of waysOf(planFor(copy, query))) {
        const all = taken(runPage(copy.db, plan));
        expect(all).toMatchObject({ ids: model, total: model.length, next: null });
      }
      for (const plan of waysOf(planFor(copy, { ...query, limit, offset }))) {
        const page = taken(runPage(copy.db, plan));
        expect(page).toMatchObject({
          ids: model.slice(offset, offset + limit),
          total: model.length,
        });
        expect(page.next !== null).toBe(offset + limit < model.length);
      }
      copy.db.close();
    }),
    { numRuns: 700 },
  );
});

test('the ids of a page alone are those of its rows', () => {
  let asked = 0;
  fc.assert(
    fc.property(cases, strategies, fc.boolean(), (one, strategy, isKnown) => {
      const { sketch, filter, sort, order, limit, offset } = one;
      using _lowered = lowered(STRATEGY, strategy);
      const copy = typedCopy(sketch);
      const query = { filter, sort, order, limit };
      const first = planFor(copy, query);
      const cursor = runPage(copy.db, first).next;
      const plans = [first, planFor(copy, { ...query, offset })];
      if (cursor !== null) plans.push(planFor(copy, { ...query, cursor }));
      for (const plan of plans.filter(areIdsCheap)) {
        asked++;
        const { ids, total, next } = taken(runPage(copy.db, plan));
        const page = runIds(copy.db, plan, isKnown ? total : undefined);
        expect(page).toEqual({ rowIds: ids, total, next });
      }
      copy.db.close();
    }),
    { numRuns: 500 },
  );
  expect(asked).toBeGreaterThan(80);
});

test('walking the cursors gives the whole list once (DS-41)', () => {
  fc.assert(
    fc.property(
      cases,
      strategies,
      fc.boolean(),
      ({ sketch, filter, sort, order, limit, offset }, strategy, isGathered) => {
        using _lowered = lowered(STRATEGY, strategy);
        const copy = typedCopy(sketch);
        const query = { filter, sort, order, limit };
        const model = modelOf(copy, { filter, sort, order }).map((row) => copy.ids[row]!);
        const seen: number[] = [];
        let page = read(copy, { ...query, offset });
        for (let steps = 0; steps <= model.length; steps++) {
          seen.push(...page.ids);
          expect(page.total).toBe(model.length);
          if (page.next === null) break;
          const plan = planFor(copy, { ...query, cursor: page.next });
          page = taken(runPage(copy.db, waysOf(plan).at(isGathered ? -1 : 0)!));
        }
        expect(seen).toEqual(model.slice(offset));
        copy.db.close();
      },
    ),
    { numRuns: 400 },
  );
});

test('deleting or adding rows elsewhere neither skips nor repeats rows of a walk (DS-41)', () => {
  fc.assert(
    fc.property(cases, fc.nat(), ({ sketch, sort, order }, choice) => {
      const copy = typedCopy(sketch);
      const query = { sort, order, limit: 3 };
      const model = modelOf(copy, { sort, order }).map((row) => copy.ids[row]!);
      const first = read(copy, query);
      if (first.next === null) return;
      const victim = model[choice % model.length]!;
      copy.db.run('DELETE FROM rows WHERE _row_id = ?', [victim]);
      const rest = read(copy, { sort, order, limit: 1_000, cursor: first.next });
      expect(rest.ids).toEqual(model.slice(3).filter((id) => id !== victim));
      copy.db.close();
    }),
    { numRuns: 150 },
  );
});

test('the count alone is the number of rows', () => {
  fc.assert(
    fc.property(cases, strategies, ({ sketch, filter }, strategy) => {
      using _lowered = lowered(STRATEGY, strategy);
      const copy = typedCopy(sketch);
      expect(runCount(copy.db, planFor(copy, { filter }))).toBe(modelOf(copy, { filter }).length);
      copy.db.close();
    }),
    { numRuns: 200 },
  );
});

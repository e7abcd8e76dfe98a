/**
 * A query that chooses among events sees any number of them, a batch at a time (EV-77, EV-98).
 */
import { expect, test } from 'bun:test';
import { makeEventFilter } from '../../src/event-queries.ts';
import { type FilterRow, QueryProblem } from '../../src/events/read/query-filter.ts';

const EVENTS = 100;

test('what one batch needed of the memory budget is free again for the next', () => {
  const filter = filterOf('* | extract kv | where a=1', { memoryBytes: 2 ** 20 });
  const batch = Array.from({ length: EVENTS }, (_, id) => rowOf(id, `a=1 ${'x'.repeat(300)}`));
  // Thirty times the budget in all.
  for (let at = 0; at < 300; at++) expect(filter(batch)).toHaveLength(EVENTS);
});

test('the time budget is one for all batches', () => {
  const filter = filterOf('* | where a=1', { timeoutMs: 20 });
  const batch = [rowOf(1, 'x')];
  const until = performance.now() + 60;
  expect(() => {
    while (performance.now() < until) filter(batch);
    for (let at = 0; at < 10; at++) filter(batch);
  }).toThrow(QueryProblem);
});

function filterOf(text: string, budget: { timeoutMs?: number; memoryBytes?: number }) {
  const now = '2026-11-20T10:15:00.000000Z';
  return makeEventFilter({
    ...{ text, now, implicitTerms: true, timeoutMs: 30_000, memoryBytes: 2 ** 28 },
    ...budget,
  });
}

function rowOf(id: number, data: string): FilterRow {
  const texts = { index: 'a', sourcetype: 'a', source: 'a', host: 'a', data, fields: '{}' };
  return { id, ...texts, created: 1, updated: 1, event_time: null };
}

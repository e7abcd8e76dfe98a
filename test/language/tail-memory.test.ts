/** `tail` needs memory for the rows it keeps, not for those that pass through it (EV-98). */
import { expect, test } from 'bun:test';
import { createMeter } from '../../src/language/run/budget.ts';
import { tail } from '../../src/language/run/operator.ts';
import { Schema } from '../../src/language/run/schema.ts';
import type { Row } from '../../src/language/expressions/value.ts';

const BATCH = 512;
const BATCHES = 200;
const SCHEMA = new Schema([{ name: 'n', type: 'int' }]);

for (const count of [0, 1, 10, BATCH - 1, BATCH, 1_000, 3 * BATCH + 7]) {
  test(`the last ${count} of many rows`, () => {
    const meter = createMeter({ timeoutMs: 60_000, memoryBytes: 512 * 1024 }, performance.now());
    const compiled = tail(SCHEMA, count);
    if (compiled.kind !== 'rows') throw new Error('tail gives the columns it gets');
    const operator = compiled.start(meter);
    for (let batch = 0; batch < BATCHES; batch++) {
      const rows = Array.from({ length: BATCH }, (_, at): Row => [batch * BATCH + at]);
      expect(operator.push(rows)).toEqual([]);
    }
    const all = BATCH * BATCHES;
    const last = Array.from({ length: count }, (_, at) => [all - count + at]);
    expect(operator.finish()).toEqual(last);
  });
}

test('of fewer rows than it may keep it gives all', () => {
  const meter = createMeter({ timeoutMs: 60_000, memoryBytes: 2 ** 20 }, performance.now());
  const compiled = tail(SCHEMA, 10);
  if (compiled.kind !== 'rows') throw new Error('tail gives the columns it gets');
  const operator = compiled.start(meter);
  operator.push([[1], [2]]);
  operator.push([[3]]);
  expect(operator.finish()).toEqual([[1], [2], [3]]);
});

test('rows that do not fit are refused', () => {
  const meter = createMeter({ timeoutMs: 60_000, memoryBytes: 64 * 1024 }, performance.now());
  const compiled = tail(SCHEMA, 10_000);
  if (compiled.kind !== 'rows') throw new Error('tail gives the columns it gets');
  const operator = compiled.start(meter);
  const rows = Array.from({ length: 5_000 }, (_, at): Row => [at]);
  expect(() => operator.push(rows)).toThrow('memory budget');
});

/**
 * Lists put together from kept rows are, byte for byte, those that are written from the rows (DS-35).
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { encoders, type Row, type RowShape } from '../../src/tables/encode/encode.ts';
import { RowJson } from '../../src/tables/copy/row-json.ts';

const cells = fc.oneof(
  fc.constantFrom(null, '', 0, -0, 1e21, 0.1, -1.5e-7, 2 ** 53, 12n, '2024-02-29', 'é😀\u2028"\\'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const shapes = fc.record({
  columns: fc.array(
    fc.record({
      name: fc.oneof(fc.constantFrom('a', '7', '__proto__', '"'), fc.string({ maxLength: 5 })),
      type: fc.constantFrom('string', 'integer', 'number', 'boolean', 'date-time'),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  rowIdAt: fc.constant(null),
  blank: fc.constantFrom('empty', 'null'),
}) as fc.Arbitrary<RowShape>;

const tables = shapes.chain((shape) =>
  fc.record({
    shape: fc.constant(shape),
    rows: fc.array(
      fc.array(cells, { minLength: shape.columns.length, maxLength: shape.columns.length }),
      {
        minLength: 1,
        maxLength: 30,
      },
    ),
    pages: fc.array(fc.array(fc.nat(), { maxLength: 12 }), { minLength: 1, maxLength: 8 }),
  }),
);

const SHAPE: RowShape = { columns: [{ name: 'a', type: 'string' }], rowIdAt: null, blank: 'empty' };

describe('kept rows', () => {
  test('make the lists that are written from the rows', () => {
    fc.assert(
      fc.property(tables, ({ shape, rows, pages }) => {
        const all = rows.map((row, index): Row => [index + 1, ...row]);
        const texts = new RowJson(all.length);
        const seen = new Set<number>();
        for (const page of pages) {
          const chosen = page.map((choice) => all[choice % all.length]!);
          const ids = chosen.map(([id]) => Number(id));
          const known = texts.list(ids);
          expect(known !== null).toBe(ids.every((id) => seen.has(id)));
          const written = writtenList(shape, chosen);
          if (known !== null) expect(known).toEqual(written);
          expect(texts.learn(shape, chosen)).toEqual(written);
          for (const id of ids) seen.add(id);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('are kept across chunks, up to the bound, and never in part', () => {
    const texts = new RowJson(1_000);
    const before = texts.bytes;
    // Some take a chunk to three quarters, so that the next begins another one.
    const rows = Array.from({ length: 200 }, (_, index): Row => [index + 1, 'x'.repeat(190_000)]);
    const kept: number[] = [];
    for (const row of rows) {
      const list = texts.learn(SHAPE, [row]);
      if (list === null) continue;
      kept.push(Number(row[0]));
      expect(list).toEqual(writtenList(SHAPE, [row]));
    }
    expect(texts.isFull).toBe(true);
    expect(kept).toHaveLength(96);
    expect(texts.bytes - before).toBe(24 << 20);
    expect(texts.list([1, 96])).toEqual(writtenList(SHAPE, [rows[0]!, rows[95]!]));
    expect(texts.list([1, 97])).toBeNull();
    expect(texts.list([])).toEqual(writtenList(SHAPE, []));
  });

  test('never are the largest', () => {
    const texts = new RowJson(2);
    const rows: Row[] = [
      [1, 'x'.repeat(300_000)],
      [2, 'x'],
    ];
    expect(texts.learn(SHAPE, rows)).toBeNull();
    expect(texts.isFull).toBe(false);
    expect(texts.list([1])).toBeNull();
    expect(texts.list([2])).toEqual(writtenList(SHAPE, [rows[1]!]));
    // The table has grown: to be asked for such a row is no mistake.
    expect(texts.learn(SHAPE, [[3, 'x']])).toBeNull();
  });

  test('are worth it when every fourth list is made of them', () => {
    const texts = new RowJson(10);
    for (let id = 1; id <= 4; id++) texts.learn(SHAPE, [[id, 'x']]);
    expect(texts.isWorthIt).toBe(false);
    texts.list([1, 2]);
    expect(texts.list([5])).toBeNull();
    expect(texts.isWorthIt).toBe(false);
    texts.list([3]);
    expect(texts.isWorthIt).toBe(true);
  });
});

function writtenList(shape: RowShape, rows: readonly Row[]): Uint8Array {
  return Buffer.concat([...encoders.json!(shape, rows)]);
}

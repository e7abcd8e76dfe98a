/** Any bytes give rows or `unreadable-file` with a reason, never another error, and no reader hangs. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { mkdirSync, readdirSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { readDbf } from '../../plugins/dbf/kind.ts';
import { readJson } from '../../plugins/json/reader.ts';
import { hasRows } from '../../plugins/json/shape.ts';
import { heifSize, tiffSize } from '../../plugins/file/picture-size.ts';
import { readDatabase, tableNames } from '../../plugins/sqlite/kind.ts';
import { AppError } from '../../src/base/errors.ts';
import { contentOf } from '../../src/base/files/compressed-file.ts';
import type { KindContext } from '../../src/docroot/kind.ts';
import type { ColumnSink } from '../../src/tables/types.ts';
import { cases } from '../support/long.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { sourceOf } from './byte-source.ts';

const nothing: ColumnSink = {
  header() {},
  segment: (segment, rows) => expect(rows.length).toBe(segment.rows),
  segmentByColumn() {},
  layout() {},
};

async function reading(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    expect(error.message).not.toBe('');
  }
}

const JSON_SEEDS = [
  '[\n  {"a": 1, "ä": [1, {"b": "\\u00e4\\n"}]},\n  {"a": null}\n]',
  '{"a":1}\n{"a":1e5,"b":"x"}\n',
  '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":null}]}',
  '{"a":[1,2],"b":["x",null]}',
  '{"columns":["a"],"data":[[1],[2]]}',
  '{"a":{"0":1},"b":{"0":2}}',
].map((text) => Buffer.from(text));

/** A seed with some bytes put, taken or repeated. */
function mutated(seeds: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const change = fc.tuple(
    fc.nat(),
    fc.nat(3),
    fc.nat(3),
    fc.constantFrom(...Buffer.from('{}[]",:\\0 e-\n')),
  );
  return fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
    )
    .map(([seed, changes, isAnyByte]) => {
      let bytes = seed;
      for (const [at, taken, count, byte] of changes) {
        const from = at % (bytes.length + 1);
        const put = Buffer.alloc(count, isAnyByte ? at & 0xff : byte);
        bytes = Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(from + taken)]);
      }
      return bytes;
    });
}

test('JSON', async () => {
  await fc.assert(
    fc.asyncProperty(
      mutated(JSON_SEEDS),
      fc.constantFrom('.json', '.ndjson'),
      async (bytes, extension) => {
        await hasRows(sourceOf(bytes), { extension });
        await reading(readJson(sourceOf(bytes), { extension }, nothing));
      },
    ),
    { numRuns: cases(2_000) },
  );
});

test('JSON of brackets without end', async () => {
  for (const text of [
    '['.repeat(300_000),
    '{"a":'.repeat(300_000),
    `[{"a":${'['.repeat(300_000)}`,
  ]) {
    const source = sourceOf(Buffer.from(text));
    await hasRows(source, { extension: '.json', path: 'a.a' });
    await reading(readJson(source, { extension: '.json' }, nothing));
    await reading(readJson(source, { extension: '.ndjson' }, nothing));
  }
});

test('dBASE tables', async () => {
  const seed = Buffer.alloc(32 + 64 + 1 + 2 * 20, ' ');
  seed.fill(0, 0, 97);
  seed[0] = 3;
  seed.writeUInt32LE(2, 4);
  seed.writeUInt16LE(97, 8);
  seed.writeUInt16LE(20, 10);
  for (const [at, type, length] of [
    [32, 'C', 9],
    [64, 'N', 10],
  ] as const) {
    seed.write('NAME', at);
    seed.write(type, at + 11);
    seed[at + 16] = length;
  }
  seed[96] = 0x0d;
  await reading(readDbf(sourceOf(seed), {}, nothing));
  await fc.assert(
    fc.asyncProperty(mutated([seed]), (bytes) => reading(readDbf(sourceOf(bytes), {}, nothing))),
    { numRuns: cases(1_000) },
  );
});

test('pictures', async () => {
  const seeds = [
    Buffer.from('II*\0\x08\0\0\0\x02\0\0\x01\x03\0\x01\0\0\0\x40\x01\0\0', 'latin1'),
    Buffer.from(
      '\0\0\0\x10ftypheic\0\0\0\0\0\0\0\x20meta\0\0\0\0\0\0\0\x0epitm\0\0\0\0\0\x01',
      'latin1',
    ),
  ];
  await fc.assert(
    fc.asyncProperty(mutated(seeds), async (bytes) => {
      await tiffSize(sourceOf(bytes));
      await heifSize(sourceOf(bytes));
    }),
    { numRuns: cases(1_000) },
  );
});

describe('what is compressed', () => {
  const text = Buffer.from('a,b\n'.repeat(300));
  test.each([
    ['gz', gzipSync(text)],
    ['zst', zstdCompressSync(text)],
  ] as const)('%s', async (suffix, seed) => {
    await fc.assert(
      fc.asyncProperty(mutated([seed]), async (bytes) => {
        const all = async (): Promise<void> => {
          const content = await contentOf(sourceOf(bytes), `x.csv.${suffix}`, 1 << 20);
          expect(await content.read(0, content.size)).toHaveLength(content.size);
        };
        await reading(all());
      }),
      { numRuns: cases(300) },
    );
  });

  test('is read from any place, forwards and backwards', async () => {
    const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, i) => `${i},`).join(''));
    for (const suffix of ['gz', 'zst'] as const) {
      const packed = suffix === 'gz' ? gzipSync(bytes) : zstdCompressSync(bytes);
      const content = await contentOf(sourceOf(packed), `x.csv.${suffix}`, 1 << 30);
      expect(content.size).toBe(bytes.length);
      for (const at of [0, 3_000_000, 2_999_990, 100, bytes.length - 5, bytes.length, 1_500_000]) {
        const found = Buffer.from(await content.read(at, 70_000));
        expect(found.equals(bytes.subarray(at, at + 70_000))).toBe(true);
      }
    }
  });
});

test('SQLite databases, of which nothing is left behind', async () => {
  using folder = temporaryFolder();
  const scratch = folder.at('scratch');
  mkdirSync(scratch);
  const context: KindContext = { maxBytes: 1 << 24, scratch, beside: async () => null };
  using db = new Database(':memory:');
  db.run('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)');
  db.run('CREATE VIEW v AS SELECT b FROM t');
  db.run(
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500) INSERT INTO t SELECT n, 'row ' || n FROM c",
  );
  const seed = Buffer.from(db.serialize());
  await fc.assert(
    fc.asyncProperty(mutated([seed]), async (bytes) => {
      await reading(tableNames(sourceOf(bytes), context));
      for (const sheet of ['t', 'v'])
        await reading(readDatabase(sourceOf(bytes), { sheet }, nothing, context));
    }),
    { numRuns: cases(150) },
  );
  expect(readdirSync(scratch)).toEqual([]);
}, 60_000);

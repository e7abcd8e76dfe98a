/**
 * Sealed events answer as rows do, are changed and deleted as rows are, and what is damaged is told (EV-111).
 */
import { afterAll, expect, test } from 'bun:test';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { makeEventFilter } from '../../src/event-queries.ts';
import type { EventDraft } from '../../src/events/event.ts';
import { STRATEGY } from '../../src/events/limits.ts';
import {
  eachMember,
  memberOf,
  membersIn,
  withFieldColumns,
} from '../../src/events/parts/field-columns.ts';
import { readParts } from '../../src/events/parts/manifest.ts';
import { filterBlockAt, filterBlocks } from '../../src/events/parts/part-format.ts';
import { numberOfJson, PageTexts, PartDamage } from '../../src/events/parts/part-reader.ts';
import { sealStep } from '../../src/events/parts/sealer.ts';
import { DROPPED_MICROS } from '../../src/events/parts/sealed-store.ts';
import { eventReadJobs, LIST_HEADERS, type ListOrder } from '../../src/events/read/read-jobs.ts';
import { ALL_EVENTS, type Selection } from '../../src/events/read/selection.ts';
import { pruneStep } from '../../src/events/retention/writer-prune.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { findPartProblems } from '../../src/events/store/store-problem.ts';
import { EventStore } from '../../src/events/store/store.ts';
import type { PruneOrder } from '../../src/events/store/writer-orders.ts';
import { lowered } from '../support/lowered.ts';
import { sealed } from '../support/sealed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const jobs = eventReadJobs(makeEventFilter);

const SECOND = 1_000_000;
const START = Date.UTC(2026, 10, 20) * 1000;
const COUNT = 400;
const LATEST = START + COUNT * SECOND;
const DAY = 86_400 * SECOND;
const NOW = LATEST + 30 * DAY;

const DATA = [
  'served from cache',
  'upstream FAILED',
  'Straße gesperrt É',
  'zanzibar, at last',
  'x',
];

function draftAt(at: number): EventDraft {
  const eventTime = at % 3 === 0 ? START + ((at * 7919) % COUNT) * SECOND : null;
  const data = at % 4 === 0 ? `{"n":${at},"v":"${at % 5}"}` : `${DATA[at % 5]!} ${at}`;
  return draftEvent({
    index: ['web', 'auth', 'app/1'][at % 3]!,
    host: `host-${at % 7}`,
    source: at % 11 === 0 ? 'Größe' : 'nginx',
    data,
    fields: at % 4 === 0 ? data : at % 5 === 0 ? '{"n":1.50,"deep":{"a":[1]}}' : '{}',
    eventTime,
  });
}

/** Parts of some events, in groups of fewer. */
function small(): Disposable {
  return lowered(STRATEGY, {
    partEvents: 40,
    partGroupEvents: 9,
    sealEvents: 10,
    mergedParts: 100,
  });
}

type Layout = 'parts' | 'mixed';

/** Two folders with the same events, of which one has some sealed. */
function twoStores(name: string, layout: Layout): { rows: string; parts: string } {
  const rows = folder.at(`${name}-rows`);
  mkdirSync(rows, { recursive: true });
  const store = new EventStore(join(rows, EVENTS_FILE));
  store.begin();
  for (let at = 0; at < COUNT; at++) store.insert([draftAt(at)], START + at * SECOND);
  store.commit();
  store.close();
  const parts = folder.at(`${name}-parts`);
  cpSync(rows, parts, { recursive: true });
  using _small = small();
  const made = sealed(parts, layout === 'parts' ? LATEST + 1 : LATEST - 150 * SECOND, NOW);
  expect(made).toBeGreaterThan(5);
  return { rows, parts };
}

function withStore<Result>(path: string, work: (store: EventStore) => Result): Result {
  const store = new EventStore(join(path, EVENTS_FILE));
  try {
    store.begin();
    const result = work(store);
    store.commit();
    return result;
  } finally {
    store.rollback();
    store.close();
  }
}

const LIST: Omit<ListOrder, 'stateDir'> = {
  selection: ALL_EVENTS,
  isDescending: false,
  limit: null,
  offset: 0,
  afterId: null,
  counts: true,
  format: 'ndjson',
};

async function listed(stateDir: string, order: Partial<ListOrder> = {}): Promise<unknown> {
  const response = await jobs['events-list']!({ ...LIST, ...order, stateDir });
  const { total, next, incomplete } = LIST_HEADERS;
  return {
    text: await response.text(),
    head: [total, next, incomplete].map((name) => response.headers.get(name)),
  };
}

function selection(some: Partial<Selection>): Partial<ListOrder> {
  return { selection: { ...ALL_EVENTS, ...some } };
}

const QUERY = {
  now: '2026-11-20T10:00:00.000000Z',
  implicitTerms: true,
  timeoutMs: 60_000,
  memoryBytes: 2 ** 28,
};

/** Every way of reading, as texts. */
async function everything(stateDir: string): Promise<unknown[]> {
  const middle = START + 200 * SECOND;
  const lists: Partial<ListOrder>[] = [
    {},
    { isDescending: true, format: 'csv' },
    { limit: 30, offset: 25 },
    { limit: 30, isDescending: true, afterId: 300 },
    { limit: 5, afterId: 120, highestId: 140, isById: true },
    { limit: 0 },
    { aboveId: 100, highestId: 200, format: 'json' },
    selection({ members: { index: 'auth' } }),
    selection({ members: { host: 'host-3', index: 'app/1' }, readable: ['app/1', 'web'] }),
    selection({ readable: [] }),
    selection({ terms: ['zanzibar'] }),
    selection({ terms: ['STRASSE'] }),
    selection({ terms: ['straße', 'gesperrt'] }),
    selection({ terms: ['"deep": {"a"'] }),
    selection({ terms: ['00:03:2'] }),
    selection({ terms: ['größe'], readable: ['web'] }),
    selection({ created: START + 7 * SECOND }),
    selection({ createdAfter: middle, createdBefore: middle + 50 * SECOND }),
    selection({ updated: START + 9 * SECOND }),
    { ...selection({ earliest: middle, latest: middle + 60 * SECOND }), limit: 10 },
  ];
  const figures = [
    ['events-histogram', { interval: '1m', by: null, query: null }],
    ['events-histogram', { interval: 'auto', by: 'extracted_fields.n', query: null }],
    ['events-histogram', { interval: '5m', by: 'host', query: { ...QUERY, text: 'n>10' } }],
    ['events-fields', { query: null, sample: 100 }],
    ['events-fields', { query: { ...QUERY, text: 'zanzibar' }, sample: 1_000 }],
    ['events-totals', {}],
    ['events-between', { after: 90, upTo: 333, limit: 120 }],
    ['events-one', { id: 17 }],
    ['events-one', { id: 12_345 }],
    [
      'events-matching',
      {
        query: { ...QUERY, text: 'host=host-2' },
        aboveId: 3,
        highestId: 390,
        most: 20,
        counts: true,
      },
    ],
  ] as const;
  const shared = {
    stateDir,
    selection: ALL_EVENTS,
    timezone: 'UTC',
    limit: 5,
    top: 3,
    budgetMs: 60_000,
  };
  const answers: unknown[] = [];
  for (const order of lists) answers.push(await listed(stateDir, order));
  for (const [job, order] of figures) {
    const response = await jobs[job]!({ ...shared, ...order });
    const text = (await response.text()).replace(/"elapsed_ms":\d+/, '');
    answers.push([response.headers.get(LIST_HEADERS.total), text]);
  }
  return answers;
}

for (const layout of ['parts', 'mixed'] as const) {
  test(`lists, counts and figures of sealed events are those of rows: ${layout}`, async () => {
    const { rows, parts } = twoStores(`read-${layout}`, layout);
    expect(await everything(parts)).toEqual(await everything(rows));
  });

  test(`changes and deletions of sealed events are those of rows: ${layout}`, async () => {
    const { rows, parts } = twoStores(`change-${layout}`, layout);
    const prune = {
      kind: 'prune',
      index: null,
      createdBefore: null,
      bytes: null,
      ids: null,
    } as const;
    const orders: PruneOrder[] = [
      { ...prune, ids: [5, 6, 7, 250, 399] },
      { ...prune, index: 'auth', createdBefore: START + 50 * SECOND },
      { ...prune, bytes: 700 },
      { ...prune, index: 'web', bytes: 300 },
      { ...prune, createdBefore: START + 130 * SECOND },
    ];
    const done = [rows, parts].map((path) => {
      const results: unknown[] = [];
      const change = (work: (store: EventStore) => unknown): unknown => withStore(path, work);
      for (const id of [60, 61, 62, 200, 380]) {
        change((store) => results.push(store.update(id, draftAt(id + 1), NOW)));
        change((store) => results.push(store.find(id)?.data, store.find(1_000 + id)));
      }
      for (const order of orders) {
        const totals = new Map<string, readonly [number, number, number, number]>();
        for (let hasMore = true; hasMore;) {
          const answer = withStore(path, (store) => pruneStep(store, order, NOW)());
          for (const { index, events, bytes, oldest, newest } of answer.pruned) {
            const [count, size, first, last] = totals.get(index) ?? [0, 0, Infinity, 0];
            totals.set(index, [
              count + events,
              size + bytes,
              Math.min(first, oldest),
              Math.max(last, newest),
            ]);
          }
          ({ hasMore } = answer);
        }
        results.push([...totals].sort());
      }
      return results;
    });
    expect(done[1]).toEqual(done[0]);
    expect(await everything(parts)).toEqual(await everything(rows));
    // Once more, with what was changed and what is left of the parts.
    using _small = small();
    STRATEGY.mergedParts = 2;
    sealed(parts, NOW + 1, NOW + DAY * 2);
    expect(await everything(parts)).toEqual(await everything(rows));
    expect(
      withStore(parts, ({ db }) => readParts(db).every(({ gone, rows: all }) => gone * 4 < all)),
    ).toBe(true);
  });
}

test('another reader opens a part: hyparquet', async () => {
  const { parts } = twoStores('standard', 'parts');
  const [part] = withStore(parts, ({ db }) => readParts(db)).filter(({ index }) => index === 'web');
  const file = await asyncBufferFromFile(join(parts, 'events', part!.file));
  const found = await parquetReadObjects({ file, compressors });
  expect(found).toHaveLength(part!.rows);
  const times = found.map(({ time }) => (time as Date).getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  for (const { id, host, data, fields, event_time: time } of found) {
    const draft = draftAt(Number(id) - 1);
    expect([host, data]).toEqual([draft.host, draft.data]);
    expect((time as Date | null)?.getTime() ?? null).toBe(
      draft.eventTime && draft.eventTime / 1000,
    );
    if (draft.fields !== draft.data) expect(fields).toEqual(JSON.parse(draft.fields));
    else expect(fields ?? null).toBeNull();
  }
});

test('another reader opens all parts: DuckDB', async () => {
  const { rows, parts } = twoStores('duckdb', 'parts');
  const duckdb = await DuckDBInstance.create(':memory:');
  const connection = await duckdb.connect();
  const from = `read_parquet('${join(parts, 'events')}/*/*.parquet', union_by_name = true)`;
  const answer = await connection.runAndReadAll(
    `SELECT "index", host, CAST(count(*) AS INTEGER), epoch_us(min(time)), max(data), CAST(sum(bytes) AS INTEGER)
     FROM ${from} GROUP BY ALL ORDER BY ALL`,
  );
  const plain = answer
    .getRows()
    .map((row) => row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)));
  const expected = withStore(rows, ({ db }) =>
    db
      .query(
        `SELECT "index", host, count(*), min(time), max(data), sum(bytes) FROM events GROUP BY 1, 2 ORDER BY 1, 2`,
      )
      .values(),
  );
  expect(plain).toEqual(expected as typeof plain);
  const members = await connection.runAndReadAll(
    `SELECT CAST(count(*) AS INTEGER) FROM ${from} WHERE json_extract(coalesce(fields, data), '$.v') = '"0"'`,
  );
  expect(members.getRows()).toEqual([[COUNT / 20]]);
  connection.closeSync();
});

test.each([
  ['missing', (path: string) => rmSync(path), 'cannot be opened'],
  ['cut', (path: string) => truncateSync(path, 700), 'it has 700 bytes instead of'],
  [
    'swapped',
    (path: string, other: string) => copyFileSync(other, path),
    /bytes instead of|not the one that was written/,
  ],
  [
    'with a flipped bit',
    (path: string) => {
      const bytes = readFileSync(path);
      bytes[Math.floor(bytes.length / 3)]! ^= 4;
      writeFileSync(path, bytes);
    },
    'checksum',
  ],
] as const)('a part that is %s is told, and the others answer', async (name, damage, why) => {
  const { rows, parts } = twoStores(`damage-${name}`, 'mixed');
  const known = withStore(parts, ({ db }) => readParts(db));
  const [part, other] = known.filter(({ index }) => index === 'web');
  damage(join(parts, 'events', part!.file), join(parts, 'events', other!.file));
  const told = expect.stringMatching(
    new RegExp(`${part!.rows} event\\(s\\) from 2026-11-20T.* events/${part!.file} is damaged`),
  );
  const lost = new Set<number>();
  for (let id = 1; id <= COUNT; id++) lost.add(id);
  const response = await jobs['events-list']!({ ...LIST, counts: false, stateDir: parts });
  const incomplete = JSON.parse(response.headers.get(LIST_HEADERS.incomplete) ?? '[]') as string[];
  expect(incomplete).toEqual([told]);
  expect(incomplete[0]).toMatch(why);
  const ids = [...(await response.text()).matchAll(/^\{"id":(\d+)/gm)].map(([, id]) => Number(id));
  expect(ids).toHaveLength(COUNT - part!.rows);
  for (const id of ids) lost.delete(id);
  expect(lost.size).toBe(part!.rows);
  // Only what it concerns is incomplete.
  expect(await listed(parts, selection({ readable: ['auth'] }))).toEqual(
    await listed(rows, selection({ readable: ['auth'] })),
  );
  const histogram = await jobs['events-histogram']!({
    ...{ stateDir: parts, selection: ALL_EVENTS, interval: '1h', timezone: 'UTC', by: 'source' },
    ...{ limit: 5, budgetMs: 60_000, query: null },
  });
  // The bit may be in a column that nobody asked for.
  if (name !== 'with a flipped bit')
    expect(await histogram.json()).toMatchObject({
      incomplete: [{ part: part!.file, events: part!.rows }],
    });
  expect(findPartProblems(parts)).toEqual([expect.stringContaining(`events/${part!.file} with`)]);
  // A change of one of its events is refused, one of another works, and by age all of it goes.
  const [id] = lost;
  if (name !== 'with a flipped bit')
    expect(() => withStore(parts, (store) => store.update(id!, draftAt(1), NOW))).toThrow(
      'is damaged',
    );
  withStore(parts, (store) => store.update(ids[0]!, draftAt(1), NOW));
  const order = { kind: 'prune', index: 'web', bytes: null, ids: null } as const;
  const answer = withStore(parts, (store) =>
    pruneStep(store, { ...order, createdBefore: part!.maxCreated + 1 }, NOW)(),
  );
  expect(answer.pruned.length).toBeGreaterThan(0);
});

test('a part is only taken in when its events are as they were read', () => {
  const { rows } = twoStores('conflict', 'parts');
  using _small = small();
  const partsIn = (): string[] =>
    readdirSync(join(rows, 'events'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.parquet'));
  const order = { stateDir: rows, before: LATEST + 1, now: NOW };
  const made = sealStep(order)!;
  expect(partsIn()).toHaveLength(1);
  withStore(rows, (store) => store.update(made.ids[3]!, draftAt(2), NOW));
  expect(withStore(rows, (store) => store.sealed.seal(made.order, made.ids, NOW))).toContain(
    'changed',
  );
  expect(partsIn()).toEqual([]);
  const deleted = sealStep(order)!;
  withStore(rows, (store) => store.delete([deleted.ids[5]!]));
  expect(withStore(rows, (store) => store.sealed.seal(deleted.order, deleted.ids, NOW))).toContain(
    'changed',
  );
  // An order that comes again, as after the end of its writer, is done once.
  const last = sealStep(order)!;
  for (let time = 0; time < 2; time++)
    expect(withStore(rows, (store) => store.sealed.seal(last.order, last.ids, NOW))).toBeNull();
  expect(withStore(rows, ({ db }) => readParts(db).length)).toBe(1);
  // What no part is made of is removed at the start; what is dropped stays for a while.
  const orphan = sealStep(order)!;
  mkdirSync(join(rows, 'events/other'), { recursive: true });
  writeFileSync(join(rows, 'events/other/notes.schema.json'), '{}');
  const [part] = withStore(rows, ({ db }) => readParts(db));
  withStore(rows, (store) => store.dropPart(part!, NOW));
  withStore(rows, (store) => store.sealed.recover(NOW + 1));
  const pathOf = ({ file }: { file: string }): string => join(rows, 'events', file);
  expect([existsSync(pathOf(orphan.order.part)), existsSync(pathOf(part!))]).toEqual([false, true]);
  withStore(rows, (store) => store.sealed.recover(NOW + DROPPED_MICROS + 1));
  expect(existsSync(pathOf(part!))).toBe(false);
  expect(existsSync(join(rows, 'events/other/notes.schema.json'))).toBe(true);
});

test('a page of texts is searched as one text after the other is', () => {
  let seed = 7;
  const below = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % most;
  };
  // Lengths that are letters too stand between the texts.
  const texts = Array.from({ length: 400 }, () =>
    Array.from({ length: below(130) }, () => 'abAB'[below(4)]!).join(''),
  );
  const page = Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(text.length);
      return [length, Buffer.from(text)];
    }),
  );
  const found = new PageTexts(page, texts.length);
  expect(texts.map((_text, at) => found.at(at))).toEqual(texts);
  for (const terms of [['abba'], ['aba', 'bb'], ['aaaaaa', 'a', 'bab'], ['babab', 'babab'], ['c']])
    expect([...found.having(terms)]).toEqual(
      texts.map((text) => (terms.every((term) => text.toLowerCase().includes(term)) ? 1 : 0)),
    );
  expect(() => new PageTexts(page.subarray(0, -1), texts.length)).toThrow(PartDamage);
});

test('a filter of texts is read by blocks, each with a checksum', () => {
  const filter = Uint8Array.from({ length: 10_000 }, (_, at) => at % 251);
  const blocks = Buffer.from(filterBlocks(filter, 4_096));
  const readBlock = (no: number) => {
    const { from, bytes, isSound } = filterBlockAt(filter.length, 4_096, no);
    const read = blocks.subarray(from, from + bytes);
    return { isSound: isSound(read), bytes: read.subarray(0, -4) };
  };
  const all = [0, 1, 2].map(readBlock);
  expect(all.map(({ isSound }) => isSound)).toEqual([true, true, true]);
  expect(new Uint8Array(Buffer.concat(all.map(({ bytes }) => bytes)))).toEqual(filter);
  blocks[5_000]! ^= 1;
  expect([0, 1, 2].map((no) => readBlock(no).isSound)).toEqual([true, false, true]);
});

test('a member is found in the JSON wherever its name stands besides', () => {
  const told = [
    ['{"a":1.50,"b":2}', 'a', '1.50'],
    ['{"a":1.50,"b":2}', 'b', '2'],
    ['{"a":1}', 'c', null],
    ['{"x":"\\",\\"a\\":7","a":"y"}', 'a', '"y"'],
    ['{"x":"a","y":",","a":"}"}', 'a', '"}"'],
    ['{"x":{"a":1},"a":2}', 'a', '2'],
    ['{"x":{"a":1}}', 'a', null],
    ['{"x":[{"a":1},"a"],"a":[3]}', 'a', '[3]'],
    ['{"x":"{","a":4}', 'a', '4'],
    ['{"ba":1,"a":null}', 'a', 'null'],
    ['["a"]', 'a', null],
    ['"a"', 'a', null],
  ] as const;
  for (const [json, name, value] of told)
    expect([json, memberOf(json, name)]).toEqual([json, value]);
});

test('numbers are doubles where these have all their digits', () => {
  const told = {
    '5': 5,
    '-12': -12,
    '1.50': 1.5,
    '1e3': 1000,
    '9007199254740993': null,
    '1e999': null,
  };
  for (const [json, number] of Object.entries(told))
    expect([json, numberOfJson(json)]).toEqual([json, number]);
  for (const json of ['"5"', 'true', 'null', '[1]', '-']) expect(numberOfJson(json)).toBeNull();
});

test('members are columns where many events have them with few values, as they stand in the JSON', () => {
  const members = (json: string): [string, string][] => {
    const found: [string, string][] = [];
    eachMember(json, (name, value) => found.push([name, value]));
    return found;
  };
  expect(members('{}')).toEqual([]);
  expect(members('[1]')).toEqual([]);
  expect(members('{"a":1.50,"b":"x,\\"}","c":{"d":[1,{"e":"]"}]},"f\\"g":[],"h":null}')).toEqual([
    ['a', '1.50'],
    ['b', '"x,\\"}"'],
    ['c', '{"d":[1,{"e":"]"}]}'],
    ['f\\"g', '[]'],
    ['h', 'null'],
  ]);
  const rows = Array.from({ length: 100 }, (_, at) => ({
    fields: `{"few":"${at % 3}","own":"${at}"${at === 7 ? ',"rare":1' : ''},"not plain":1,"n":${at}}`,
  }));
  const { names, rows: same } = withFieldColumns(rows);
  expect(names).toEqual(['few', 'n']);
  expect([...same]).toEqual(rows);
  expect(membersIn(`SELECT fields -> '$."a"', fields ->> '$."b:c"' FROM events`)).toEqual([
    'a',
    'b:c',
  ]);
  for (const sql of ['json(fields)', 'fields -> ?', 'svc_spaced_has(json( fields), ?)'])
    expect(membersIn(`SELECT fields -> '$."a"' FROM events WHERE ${sql}`)).toBeNull();
});

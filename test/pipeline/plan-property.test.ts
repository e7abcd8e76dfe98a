/**
 * A planned query gives what the naive interpreter gives: the same rows in the same order, the same columns, the same
 * notices, the same problem (SL-150). Over a real event store. `SEED` repeats a run, `CASES` sets its length.
 */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventReader } from '../../src/events/reader.ts';
import { createEventSchema, EVENTS_FILE } from '../../src/events/schema.ts';
import { microsOf } from '../../src/pipeline/micros.ts';
import { parseQuery } from '../../src/pipeline/parse.ts';
import { planPrefix } from '../../src/pipeline/plan.ts';
import { Problem } from '../../src/pipeline/problem.ts';
import { createContext } from '../../src/pipeline/query-context.ts';
import { checkQuery, runQuery, type RunWatch } from '../../src/pipeline/run.ts';
import { eventSource } from '../../src/pipeline/sources/events.ts';
import { jsonOf } from '../../src/pipeline/value.ts';
import { memorySource } from './fixture.ts';
import { RandomQueries, randomFrom } from './random-query.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_121);
const CASES = Number(process.env['CASES'] ?? 1_000);
/** Rows change every so many queries. */
const PER_STORE = 250;
const NOW = '2026-11-20T10:15:00.000000Z';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-plan-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const HOSTS = [
  'alpha',
  'Alpha',
  'ALPHA',
  'beta',
  'Straße',
  'STRASSE',
  'É',
  'é',
  '2026-11-20',
  '5',
  '7.5',
  'K',
  'a b',
  'true',
  '100%',
  '2026-11-20T00:00:00.000000Z',
];
const INDEXES = ['web', 'WEB', 'auth', 'app'];
const FIELDS = [
  '{}',
  '{"n":5,"v":"x"}',
  '{"n":5.0,"v":"X"}',
  '{"n":"5","v":null}',
  '{"n":2.5,"v":["x","y"],"deep":{"k":"alpha","list":[1,2]}}',
  '{"n":1e3,"v":true}',
  '{"n":9007199254740993,"v":{"a":1}}',
  '{"n":-0.0,"v":"2026-11-20T10:00:00Z"}',
  '{"n":true,"v":7}',
  '{"n":null,"tags":[],"v":"007"}',
  '{"v":"Straße","id":3}',
  '{"n":0,"m":7,"user_id":"u1"}',
  '{"n":1,"m":-3,"user_id":7}',
  '{"n":-4294967297,"m":4294967296,"user_id":true}',
  '{"n":3,"m":0.1,"v":"[1]"}',
  '{"n":12,"m":"0.2","v":"true"}',
  '{"n":12,"m":9007199254740993,"v":" 7 "}',
  '{"n":-3,"m":{"a":5},"user_id":[5,"x"]}',
  '[1,2]',
  'null',
  '"text"',
];
const DATA = [
  'alpha failed for bob',
  'FAILED bob',
  'Straße gesperrt: É 100%_x',
  'a b',
  'x',
  'l*n',
  'nothing 7',
];

function makeStore(random: () => number, name: string): string {
  const queries = new RandomQueries(random);
  const db = new Database(join(folder, `${name}.sqlite`), { create: true });
  createEventSchema(db);
  const insert = db.prepare(
    `INSERT INTO events (id, created, updated, event_time, "index", sourcetype, source, host, data, fields, ascii, bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, jsonb(?), ?, 1)`,
  );
  const indexes = new Map<string, number>();
  let created = microsOf('2026-11-20T10:00:00.000000Z');
  const count = Math.floor(random() * 40);
  db.run('BEGIN');
  for (let id = 1; id <= count; id++) {
    created += Math.floor(random() * 30_000_000);
    const eventTime = random() < 0.4 ? created - Math.floor(random() * 120_000_000) : null;
    const texts = [
      queries.pick(INDEXES),
      queries.pick(['json', 'text']),
      queries.pick(['nginx', 'x', 'X']),
      queries.pick(HOSTS),
      queries.pick(DATA),
    ];
    indexes.set(texts[0]!, id);
    const isAscii = texts.every((text) => /^[\x00-\x7f]*$/.test(text)) ? 1 : 0;
    insert.run(
      id,
      created,
      created,
      eventTime,
      ...(texts as [string, string, string, string, string]),
      queries.pick(FIELDS),
      isAscii,
    );
  }
  for (const index of indexes.keys()) db.run('INSERT INTO indexes VALUES (?, 1, 1, 1)', [index]);
  db.run('COMMIT');
  db.close();
  return name;
}

function openStore(name: string): EventReader {
  const directory = mkdtempSync(join(folder, 'store-'));
  const from = new Database(join(folder, `${name}.sqlite`), { readonly: true });
  from.run(`VACUUM INTO '${join(directory, EVENTS_FILE)}'`);
  from.close();
  const reader = new EventReader(directory);
  reader.begin();
  return reader;
}

let countedInSql = 0;

interface Run {
  readonly rows: string[];
  readonly columns: string[];
  readonly notices: readonly string[];
  readonly problem: string | null;
}

function run(
  reader: EventReader,
  text: string,
  isPlanned: boolean,
  readable: readonly string[] | null,
): Run {
  const store = {
    db: reader.db,
    indexNames: () => reader.indexNames(),
    term: (term: string) => reader.term(term, 'data'),
  };
  const grants = {
    isSuperuser: readable === null,
    patterns: { read: (readable ?? []).map((index) => `@events/${index}`), write: [] },
    scopes: null,
  };
  const source = eventSource(store, grants, () => {});
  source.schema.columns.forEach((_column, index) => {
    if (!isPlanned) source.schema.use(index);
  });
  const watch: RunWatch = {
    meter: { tick: () => {}, hold: () => {} },
    onRead: () => {},
    isOutermost: true,
    ...(isPlanned && {
      plan: (read) => {
        const prefix = planPrefix(read, () => {});
        if (prefix && prefix.stages > 1) countedInSql++;
        return prefix;
      },
    }),
  };
  const given = isPlanned
    ? source
    : memorySource(
        'events',
        source.schema,
        [...source.read('forward')].flat(),
        source.readableIndexes,
      );
  const { context, notices } = createContext({
    now: NOW,
    parameters: { n: 5, w: 'al*' },
    implicitTerms: true,
    joinMaxRows: 1000,
    source: (name) => (name.kind === 'events' ? given : null),
    datasetNames: [],
    readableIndexes: () => source.readableIndexes,
    savedSearch: () => ({ kind: 'missing' }),
    extract: () => null,
    watch,
  });
  const query = parseQuery(text, { implicitTerms: true });
  try {
    checkQuery(query, context).useShown();
    const { schema, batches } = runQuery(query, context, watch);
    const shown = schema.shown;
    const rows = [...batches]
      .flat()
      .map((row) => shown.map(({ index }) => jsonOf(row[index] ?? null)).join('|'));
    return {
      rows,
      columns: shown.map(({ column }) => `${column.name}:${column.type}`),
      notices,
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { rows: [], columns: [], notices: [], problem: JSON.stringify(error.told(text)) };
  }
}

test(`planned and naive runs agree (seed ${SEED}, ${CASES} cases)`, () => {
  const random = randomFrom(SEED);
  const queries = new RandomQueries(random);
  let withRows = 0;
  let problems = 0;
  for (let at = 0; at < CASES; at += PER_STORE) {
    const reader = openStore(makeStore(random, `s${at}`));
    for (let index = at; index < Math.min(CASES, at + PER_STORE); index++) {
      const text = queries.query();
      const readable = queries.chance(0.2) ? ['web', 'app'] : null;
      const naive = run(reader, text, false, readable);
      const planned = run(reader, text, true, readable);
      expect({ seed: SEED, index, text, ...planned }).toEqual({
        seed: SEED,
        index,
        text,
        ...naive,
      });
      if (naive.rows.length > 0) withRows++;
      if (naive.problem !== null) problems++;
    }
    reader.end();
    reader.close();
  }
  // A property over queries that find nothing would prove little.
  expect(withRows).toBeGreaterThan(CASES * 0.25);
  expect(problems).toBeLessThan(CASES * 0.5);
  expect(countedInSql).toBeGreaterThan(CASES * 0.02);
}, 600_000);

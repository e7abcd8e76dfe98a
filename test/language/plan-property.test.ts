/**
 * A planned query gives what the naive interpreter gives: the same rows in the same order, the same columns, the same
 * notices, the same problem (SL-150, SL-63), whatever strategy its size, its index and the caller's rights lead to, and whichever of
 * the events are sealed. Over real event stores. `SEED` repeats a run, `CASES` sets its length; `EVENTS` makes stores of so many events, with the strategies as
 * they are in use.
 */
import type { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventDraft } from '../../src/events/event.ts';
import { pruneStep } from '../../src/events/retention/writer-prune.ts';
import { Indexer } from '../../src/events/read/indexer.ts';
import { STRATEGY as EVENTS } from '../../src/events/limits.ts';
import { EventReader } from '../../src/events/store/reader.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { STRATEGY } from '../../src/language/limits.ts';
import { microsOf } from '../../src/language/expressions/time.ts';
import { parseQuery } from '../../src/language/syntax/parse.ts';
import { planPrefix } from '../../src/language/plan/plan.ts';
import { Problem } from '../../src/language/syntax/problem.ts';
import { createContext } from '../../src/language/plan/query-context.ts';
import { checkQuery, runQuery, type RunWatch } from '../../src/language/run/run.ts';
import { eventSource } from '../../src/language/sources/events.ts';
import { jsonOf } from '../../src/language/expressions/value.ts';
import { eventStore } from '../../src/event-queries.ts';
import { lowered } from '../support/lowered.ts';
import { sealed } from '../support/sealed.ts';
import { assetsSource, memorySource, SAVED } from './fixture.ts';
import { readExamples } from './golden-file.ts';
import { extractPairs } from './pairs.ts';
import { RandomQueries, randomFrom } from './random-query.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_121);
const CASES = Number(process.env['CASES'] ?? 1_000);
const EVENT_COUNT = process.env['EVENTS'] === undefined ? null : Number(process.env['EVENTS']);
/** Rows change every so many queries. */
const PER_STORE = EVENT_COUNT === null ? 40 : 100;
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

/** How much of a store its substring index covers. */
const INDEXED = ['whole', 'partly', 'changed', 'none'] as const;

/** Which events are sealed; `gone`: some of them were changed or deleted afterwards. */
const TIERS = ['rows', 'rows', 'rows', 'parts', 'mixed', 'gone'] as const;

/** A store of so many events, some of them changed after they were indexed. */
function openStore(
  queries: RandomQueries,
  count: number,
  indexed: string,
  tiers: (typeof TIERS)[number],
): EventReader[] {
  const directory = mkdtempSync(join(folder, 'store-'));
  const store = new EventStore(join(directory, EVENTS_FILE));
  let created = microsOf('2026-11-20T10:00:00.000000Z');
  let middle = created;
  const draft = (): EventDraft => ({
    index: queries.pick(INDEXES),
    sourcetype: queries.pick(['json', 'text']),
    source: queries.pick(['nginx', 'x', 'X']),
    host: queries.pick(HOSTS),
    data: queries.pick(DATA),
    fields: queries.pick(FIELDS),
    eventTime: queries.chance(0.4) ? created - Math.floor(queries.below(120_000_000)) : null,
  });
  const insert = (some: number): void => {
    store.begin();
    for (let at = 0; at < some; at++) {
      created += Math.floor(queries.below(30_000_000));
      store.insert([draft()], created);
    }
    store.commit();
  };
  const index = (): void => {
    const indexer = new Indexer(directory);
    while (indexer.step()) continue;
    indexer.close();
  };
  insert(count >> 1);
  middle = created;
  if (indexed === 'partly') index();
  insert(count - (count >> 1));
  if (indexed === 'whole' || indexed === 'changed') index();
  if (indexed === 'changed') {
    store.begin();
    for (let id = 1; id <= count; id += 3) store.update(id, draft(), created);
    store.delete(count > 2 ? [2] : []);
    store.commit();
  }
  store.close();
  // The same events, all of them rows.
  const twin = `${directory}-rows`;
  cpSync(directory, twin, { recursive: true });
  if (tiers !== 'rows') parts += sealed(directory, tiers === 'parts' ? created + 1 : middle);
  if (tiers === 'gone') {
    const updates = new Map<number, EventDraft>();
    for (let id = 1; id <= count; id += 5) updates.set(id, draft());
    for (const path of [directory, twin]) changeSome(path, updates, count, created);
  }
  return [directory, twin].map((path) => {
    const reader = new EventReader(path);
    reader.begin();
    return reader;
  });
}

let parts = 0;

/** The writer's ways to change and delete events of both tiers. */
function changeSome(
  directory: string,
  updates: ReadonlyMap<number, EventDraft>,
  count: number,
  now: number,
): void {
  const store = new EventStore(join(directory, EVENTS_FILE));
  store.begin();
  for (const [id, draft] of updates) if (store.find(id) !== null) store.update(id, draft, now);
  for (let id = 2; id <= count; id += 7) pruneStep(store, { ...PRUNED, ids: [id] }, now);
  store.commit();
  store.close();
}

const PRUNED = { kind: 'prune', index: null, createdBefore: null, bytes: null } as const;

/** Each way to an answer is met with few events, some of the time. */
function strategies(queries: RandomQueries): DisposableStack {
  const stack = new DisposableStack();
  const pick = <T>(...choices: readonly T[]): T => queries.pick(choices);
  stack.use(
    lowered(STRATEGY, {
      rareFromEvents: pick(0, 0, 10, 20_000),
      rareProbedEvents: pick(0, 1, 5, 2_000),
      rareProbedHits: pick(1, 3),
      rareMostIds: pick(0, 3, 20_000),
      rareShare: pick(0, 0.45, 1),
      searchConditions: pick(0, 1, 100),
      planConditions: pick(0, 2, 400),
      groupedParts: pick(0, 1, 8),
      firstBatchRows: pick(1, 16),
      batchRows: pick(1, 512),
      batchCharacters: pick(1, 1024 * 1024),
      tailSlackRows: pick(0, 512),
      nativeItems: pick(0, 100),
    }),
  );
  stack.use(
    lowered(EVENTS, {
      termCandidates: pick(0, 5, 20_000, 20_000),
      ownEvents: pick(0, 5, 20_000),
      termTrigrams: pick(2, 24),
      likeCharacters: pick(0, 3, 200),
      partitionIds: pick(3, 2 ** 20),
      indexStepEvents: pick(6, 2_000),
      indexStepCharacters: pick(1, 4 * 1024 * 1024),
      indexChanges: pick(0, 20_000),
      partEvents: pick(3, 20, 65_536),
      partGroupEvents: pick(2, 7, 8_192),
      sealEvents: pick(1, 16),
      mergedParts: pick(2, 4),
    }),
  );
  return stack;
}

let countedInSql = 0;
let countedByColumns = 0;

interface Answer {
  readonly rows: string[];
  readonly columns: string[];
  readonly notices: readonly string[];
  readonly problem: string | null;
}

interface Run {
  readonly answer: Answer;
  readonly statements: readonly string[];
  readonly usedIndex: boolean;
}

function run(
  reader: EventReader,
  text: string,
  isPlanned: boolean,
  readable: readonly string[] | null,
  timezone: string,
): Run {
  const statements: string[] = [];
  let usedIndex = false;
  const store = {
    ...eventStore(reader),
    db: watched(reader.db, (sql) => statements.push(sql)),
  };
  const grants = {
    isSuperuser: readable === null,
    patterns: { read: (readable ?? []).map((index) => `@events/${index}`), write: [] },
    scopes: null,
  };
  const source = eventSource(
    store,
    grants,
    () => (usedIndex = true),
    (isUsed) => isUsed && countedByColumns++,
  );
  source.schema.columns.forEach((_column, index) => {
    if (!isPlanned) source.schema.use(index);
  });
  const watch: RunWatch = {
    meter: { tick: () => {}, hold: () => {} },
    onRead: () => {},
    isOutermost: true,
    ...(isPlanned && {
      plan: (read) => {
        const prefix = planPrefix(read);
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
    timezone,
    parameters: { n: 5, w: 'al*' },
    implicitTerms: true,
    joinMaxRows: 1000,
    source: (name) =>
      name.kind === 'events'
        ? given
        : name.kind === 'dataset' && name.name === 'assets'
          ? assetsSource()
          : null,
    datasetNames: ['assets'],
    readableIndexes: () => source.readableIndexes,
    savedSearch: (name) => SAVED[name] ?? { kind: 'missing' },
    extract: (_style, data) => extractPairs(data),
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
    const columns = shown.map(({ column }) => `${column.name}:${column.type}`);
    return { answer: { rows, columns, notices, problem: null }, statements, usedIndex };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const problem = JSON.stringify(error.told(text));
    return { answer: { rows: [], columns: [], notices: [], problem }, statements, usedIndex };
  }
}

/** The connection; tells the statements that are prepared. */
function watched(db: Database, tell: (sql: string) => void): Database {
  return new Proxy(db, {
    get: (target, name) => {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      return (sql: string, ...rest: unknown[]) => {
        if (name === 'prepare') tell(sql);
        return Reflect.apply(member, target, [sql, ...rest]) as unknown;
      };
    },
  });
}

/** Callers with all indexes, some, one and none. */
const CALLERS = [null, null, ['web', 'app'], ['auth'], []];
const GOLDEN = readExamples();
const ZONES = ['UTC', 'UTC', 'Europe/Berlin', 'Asia/Kolkata', '-05:00'];

test(`planned and naive runs agree (seed ${SEED}, ${CASES} cases)`, () => {
  const queries = new RandomQueries(randomFrom(SEED));
  let withRows = 0;
  let problems = 0;
  let rare = 0;
  let usedIndex = 0;
  for (let at = 0; at < CASES; at += PER_STORE) {
    using _lowered = EVENT_COUNT === null ? strategies(queries) : null;
    const count = EVENT_COUNT ?? queries.pick([0, 1, 2, 20, 50, 50, 50]);
    const indexed = queries.pick(INDEXED);
    const tiers = queries.pick(TIERS);
    const [reader, twin] = openStore(queries, count, indexed, tiers) as [EventReader, EventReader];
    for (let index = at; index < Math.min(CASES, at + PER_STORE); index++) {
      const text = queries.chance(0.2) ? queries.pick(GOLDEN).query : queries.query();
      const readable = queries.pick(CALLERS);
      const timezone = queries.pick(ZONES);
      const naive = run(twin, text, false, readable, timezone);
      const planned = run(reader, text, true, readable, timezone);
      const told = { seed: SEED, index, text, readable, timezone, count, indexed, tiers };
      if (JSON.stringify(planned.answer) !== JSON.stringify(naive.answer))
        expect({ ...told, ...planned.answer }).toEqual({ ...told, ...naive.answer });
      if (naive.answer.rows.length > 0) withRows++;
      if (naive.answer.problem !== null) problems++;
      if (planned.statements.some((sql) => sql.includes('NOT INDEXED'))) rare++;
      if (planned.usedIndex) usedIndex++;
    }
    for (const one of [reader, twin]) {
      one.end();
      one.close();
    }
  }
  // A property over queries that find nothing, or take one way only, would prove little.
  expect(withRows).toBeGreaterThan(CASES * 0.15);
  expect(problems).toBeLessThan(CASES * 0.5);
  expect(parts).toBeGreaterThan(CASES * 0.01);
  expect(countedInSql).toBeGreaterThan(CASES * 0.02);
  expect(countedByColumns).toBeGreaterThan(CASES * 0.005);
  if (EVENT_COUNT !== null) return;
  expect(rare).toBeGreaterThan(CASES * 0.01);
  expect(usedIndex).toBeGreaterThan(CASES * 0.002);
}, 600_000);

/**
 * Terms as SQL give what folding and substring search in plain code give, whatever the substring index knows (EV-34,
 * EV-35, SL-30, SL-63).
 */
import { afterAll, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { timeText } from '../../src/events/event-time.ts';
import type { EventDraft } from '../../src/events/event.ts';
import { Indexer } from '../../src/events/read/indexer.ts';
import { EventReader } from '../../src/events/store/reader.ts';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { foldedText, spacedJson } from '../../src/events/read/term.ts';
import { STRATEGY } from '../../src/events/limits.ts';
import { lowered } from '../support/lowered.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { draftEvent } from './draft-event.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const piece = fc.constantFrom(
  'Straße',
  'STRASSE',
  'ſ',
  'K',
  'kelvin',
  'abc',
  'ABCD',
  '%',
  '_',
  '*',
  '\\',
  '"',
  "'",
  ' ',
  ',',
  ':',
  '1',
  '2026-',
  'Σς',
  'é',
  'e\u0301',
  '日本語',
  '😀',
  'a',
  'ab',
);
const text = fc.array(piece, { minLength: 0, maxLength: 8 }).map((parts) => parts.join(''));
const draft = fc.record({
  index: fc.constantFrom('default', 'web'),
  sourcetype: fc.constantFrom('kv', 'Straße'),
  source: fc.constant('s'),
  host: fc.constantFrom('alpha', 'BETA'),
  data: text,
  fields: fc
    .dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null)), { maxKeys: 3 })
    .map((value) => JSON.stringify(value)),
  eventTime: fc.constant(null),
});

let count = 0;

function stateDir(): string {
  const dir = folder.at(String((count += 1)));
  mkdirSync(dir);
  return dir;
}

test('a term matches the same events with, without and with half an index', () => {
  fc.assert(
    fc.property(
      fc.array(draft, { minLength: 1, maxLength: 12 }),
      fc.nat(12),
      text.filter((term) => term !== ''),
      fc.boolean(),
      fc.constantFrom<(readonly string[] | null)[]>(null, ['web'], ['default', 'web', 'gone'], []),
      fc.constantFrom(2, 5, STRATEGY.partitionIds),
      (drafts, indexed, term, isChanged, readable, partitionIds) => {
        using _ = lowered(STRATEGY, { ownEvents: 0, partitionIds });
        const dir = stateDir();
        const store = new EventStore(join(dir, EVENTS_FILE));
        const indexer = new Indexer(dir);
        insert(store, drafts.slice(0, indexed));
        if (indexed > 0) while (indexer.step());
        insert(store, drafts.slice(indexed));
        if (isChanged) change(store, drafts);
        const reader = new EventReader(dir);
        reader.snapshot(() => {
          for (const scope of ['data', 'any'] as const) {
            const { sql, params } = reader.term(term, scope, readable);
            const mine = readable ?? reader.indexNames();
            const found = reader.db
              .query<{ id: number; index: string }, (string | number)[]>(
                `SELECT id, "index" FROM events WHERE ${sql} ORDER BY id`,
              )
              .all(...params)
              .filter(({ index }) => mine.includes(index));
            const expected = matching(store, term, scope).filter((id) =>
              mine.includes(store.get(id)!.index),
            );
            expect(found.map(({ id }) => id)).toEqual(expected);
          }
        });
        reader.close();
        indexer.close();
        store.close();
      },
    ),
    { numRuns: 60, seed: Number(process.env['SEED'] ?? 20261121) },
  );
});

test('the index narrows a rare term and leaves a common one to the scan', () => {
  const dir = stateDir();
  const store = new EventStore(join(dir, EVENTS_FILE));
  insert(
    store,
    Array.from({ length: 25_000 }, (_, at) =>
      draftEvent({ data: `common line ${at} rare${at}end` }),
    ),
  );
  const indexer = new Indexer(dir);
  while (indexer.step());
  const reader = new EventReader(dir);
  reader.snapshot(() => {
    expect(reader.indexedTo).toBe(25_000);
    expect(reader.term('RARE777end', 'data').usesIndex).toBe(true);
    expect(reader.term('common', 'data').usesIndex).toBe(false);
    expect(reader.term('ra', 'data').usesIndex).toBe(false);
  });
  reader.close();
  indexer.close();
  store.close();
});

test.each([
  ['each is searched', STRATEGY.ownEvents],
  ['the index is asked', 0],
])(
  'the way to an answer, and what it reads, do not tell how often a term occurs in events that may not be read: %s',
  (_, ownEvents) => {
    using _own = lowered(STRATEGY, { ownEvents });
    const dir = stateDir();
    const store = new EventStore(join(dir, EVENTS_FILE));
    insert(
      store,
      Array.from({ length: 25_000 }, (_, at) =>
        draftEvent(
          at % 5 === 0
            ? {
                index: 'mine',
                data: `own line ${at} ${partsOf('presented')} ${partsOf('unwritten')}`,
              }
            : {
                index: 'hidden',
                data: `frequent ${at < 100 ? 'seldom' : ''} ${HALVES[at % 2]} presented`,
              },
        ),
      ),
    );
    const indexer = new Indexer(dir);
    while (indexer.step());
    const reader = new EventReader(dir);
    reader.snapshot(() => {
      const query = spyOn(reader.db, 'query');
      const wayOf = (term: string) => {
        query.mockClear();
        const { sql, params, usesIndex } = reader.term(term, 'data', ['mine', 'none']);
        const asked = query.mock.calls.map(([text]) => text);
        const n = reader.db.query(`SELECT id FROM events WHERE ${sql}`).values(...params).length;
        // All but the term itself, which is the pattern and the folded text.
        return { way: [asked, sql, usesIndex, ...params.slice(0, -2)], n };
      };
      const ways = ['absent', 'seldom', 'frequent', WHOLE].map(wayOf);
      for (const { way, n } of ways) expect([way, n]).toEqual([ways[0]!.way, 0]);
      expect(wayOf('presented')).toEqual(wayOf('unwritten'));
      expect(['own line', 'own line 75'].map((term) => wayOf(term).n)).toEqual([5_000, 23]);
      query.mockRestore();
      const all = ['mine', 'hidden'];
      expect(reader.term('seldom', 'data', all).usesIndex).toBe(true);
      expect(reader.term('frequent', 'data', all).usesIndex).toBe(true);
    });
    reader.close();
    indexer.close();
    store.close();
  },
);

test('a term with NUL is in no event, and the index is not asked for it', () => {
  const dir = stateDir();
  const store = new EventStore(join(dir, EVENTS_FILE));
  insert(store, [draftEvent({ data: 'Failed login for bob' })]);
  const indexer = new Indexer(dir);
  while (indexer.step());
  const reader = new EventReader(dir);
  reader.snapshot(() => {
    for (const term of ['login', 'bob\0', 'log\0in', '\0\0\0']) {
      const { sql, params } = reader.term(term, 'data');
      const found = reader.db.query(`SELECT id FROM events WHERE ${sql}`).values(...params);
      expect([term, found.length]).toEqual([term, term === 'login' ? 1 : 0]);
    }
  });
  reader.close();
  indexer.close();
  store.close();
});

function insert(store: EventStore, drafts: readonly EventDraft[]): void {
  store.begin();
  store.insert(drafts, Date.now() * 1000);
  store.commit();
}

function change(store: EventStore, drafts: readonly EventDraft[]): void {
  store.begin();
  store.update(
    1,
    draftEvent({ data: drafts.map(({ data }) => data).join('x') }),
    Date.now() * 1000,
  );
  store.commit();
}

/** All trigrams of the whole occur in one or the other. */
const HALVES = ['plmokni', 'kninuhb'];
const WHOLE = 'plmokninuhb';
/** All trigrams of the text, and not the text. */
const partsOf = (text: string): string =>
  Array.from({ length: text.length - 3 }, (_, at) => text.slice(at, at + 4)).join(' ');

/** The contract's words in plain code. */
function matching(store: EventStore, term: string, scope: 'data' | 'any'): number[] {
  const ids = store.db.query<{ id: number }, []>('SELECT id FROM events ORDER BY id').all();
  const folded = foldedText(term);
  return ids
    .map(({ id }) => store.get(id)!)
    .filter((row) => {
      const times = [row.created, row.updated].flatMap((at) => [
        timeText(at),
        timeText(at).replace('T', ' ').replace('Z', ''),
      ]);
      const texts =
        scope === 'data'
          ? [row.data]
          : [
              row.data,
              row.index,
              row.sourcetype,
              row.source,
              row.host,
              spacedJson(row.fields),
              ...times,
            ];
      return texts.some((one) => foldedText(one).includes(folded));
    })
    .map(({ id }) => id);
}

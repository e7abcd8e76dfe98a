/**
 * The examples of the search language (section 14) over HTTP, on events, a dataset and saved searches of a real service:
 * of events that are rows, then of some that are sealed, then of sealed ones alone.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Example, readExamples } from '../language/golden-file.ts';
import { STRATEGY } from '../../src/events/limits.ts';
import { lowered } from '../support/lowered.ts';
import { sealed } from '../support/sealed.ts';
import { type Client, type Service, startService } from '../support/service.ts';

/** Events of the first lot. */
const FIRST = 4;

let svc: Service;
let owner: Client;
let viewer: Client;

beforeAll(async () => {
  svc = await startService({
    files: { 'assets.csv': 'host,owner,tier\nalpha,soc,1\nbeta,web,2\nepsilon,lab,3\n' },
    config: { events: { min_free_bytes: 1, throttle: { search: '' } } },
  });
  await svc.accounts.user('owner', { superuser: true });
  for (const name of ['viewer', 'first', 'second']) await svc.accounts.user(name);
  await svc.accounts.grant('viewer', '@events/web', 'read');
  owner = await svc.as('owner');
  viewer = await svc.as('viewer');
  const lines = readFileSync(
    join(import.meta.dir, '../golden/search-language.events.ndjson'),
    'utf8',
  );
  const events = lines
    .trim()
    .split('\n')
    .map((line) => {
      const { t, ...event } = JSON.parse(line) as Record<string, string>;
      return { ...event, extracted_fields: { event_time: `2026-11-20T${t}.000000Z` } };
    });
  // Stored at two times.
  for (const some of [events.slice(0, FIRST), events.slice(FIRST)]) {
    const created = await owner.fetch('/api/events/', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(some),
    });
    expect(created.status).toBe(201);
  }
  saveSearches();
});
afterAll(() => svc[Symbol.asyncDispose]());

/** SL-181. */
function saveSearches(): void {
  const db = new Database(join(svc.stateDir, 'svc.db'));
  db.run('PRAGMA busy_timeout = 5000');
  const save = (username: string, name: string, query: string, isPublic: number): void => {
    db.run(
      `INSERT INTO saved_searches (owner_id, name, query, is_public, created_at, updated_at)
       SELECT id, ?, ?, ?, '', '' FROM users WHERE username = ?`,
      [name, query, isPublic, username],
    );
  };
  save('owner', 'S1', `search --select='["id","host"]' --limit=2`, 0);
  save('owner', 'filt', "filter --condition='host=alpha'", 0);
  save('owner', 'loop', 'run_saved_search loop', 0);
  save('owner', 'by host', 'index={idx} | stats count BY host', 0);
  save('owner', 'broken', 'search | hed --n=1', 0);
  save('first', 'dup', 'search', 1);
  save('second', 'dup', 'search', 1);
  db.close();
}

/** The clock of a service is its own: these ask for times relative to now. */
const RELATIVE = ['E53'];
const CLOCK = {
  now: '2026-11-20T10:15:00.000000Z',
  this_hour: '2026-11-20T10:00:00.000000Z',
  today: '2026-11-20',
};

async function run({
  query,
  caller,
  params,
  timezone,
}: Pick<Example, 'query' | 'caller' | 'params' | 'timezone'>) {
  const client = caller === 'viewer' ? viewer : owner;
  const response = await client.fetch('/search2/api/run/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, timezone, params: { ...CLOCK, ...params } }),
  });
  return { status: response.status, text: await response.text() };
}

/** Those stored before the second lot, or all; in groups of two. */
function seal(layout: 'mixed' | 'parts'): void {
  const db = new Database(join(svc.stateDir, 'events.sqlite'));
  const { created } = db.query('SELECT max(created) AS created FROM events').get() as {
    created: number;
  };
  db.close();
  using _small = lowered(STRATEGY, { sealEvents: 1, partGroupEvents: 2, mergedParts: 100 });
  expect(sealed(svc.stateDir, layout === 'mixed' ? created : created + 1)).toBeGreaterThan(0);
}

describe.each(['rows', 'mixed', 'parts'] as const)(
  'the examples over HTTP (SL-182): %s',
  (layout) => {
    beforeAll(() => (layout === 'rows' ? undefined : seal(layout)));
    for (const example of readExamples()) {
      if (example.isRelative === true || RELATIVE.includes(example.id)) continue;
      test(`${example.id}: ${example.query.slice(0, 90)}`, async () => {
        const { status, text } = await run(example);
        if (example.problem !== null) {
          expect(status).toBe(400);
          const { code, stage, offset, length, error } = JSON.parse(text);
          expect(`${code} ${stage} ${offset} ${length} ${error}`).toBe(example.problem);
          return;
        }
        expect(text.slice(0, text.lastIndexOf(',"meta":'))).toBe(`{"rows":${example.rows}`);
        expect(JSON.parse(text).meta.notices).toEqual(example.notices);
      });
    }
  },
);

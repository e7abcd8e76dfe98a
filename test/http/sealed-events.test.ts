/**
 * A server seals old events by itself; they are read, changed, deleted, backed up and restored as before, and a damaged
 * part is told wherever it is missing (EV-111).
 */
import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_FILE } from '../../src/events/store/schema.ts';
import { EventStore } from '../../src/events/store/store.ts';
import { draftEvent } from '../events/draft-event.ts';
import { run } from '../support/program.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

const COUNT = 300;
const DAY_MICROS = 86_400_000_000;

function storeOldEvents(stateDir: string): void {
  const store = new EventStore(join(stateDir, EVENTS_FILE));
  const drafts = Array.from({ length: COUNT }, (_, at) =>
    draftEvent({
      index: at % 2 === 0 ? 'web' : 'auth',
      data: `line ${at}`,
      fields: `{"n":${at},"own":"t${at}"}`,
    }),
  );
  store.begin();
  store.insert(drafts, Date.now() * 1000 - 2 * DAY_MICROS);
  store.commit();
  store.close();
}

function partsIn(stateDir: string): string[] {
  return readdirSync(join(stateDir, 'events'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.parquet'))
    .sort();
}

test('events are sealed, and every door treats them as before', async () => {
  await using svc = await startService({
    config: { events: { min_free_bytes: 1 } },
  });
  await svc.createSuperuser('root');
  const root = await svc.as('root');
  await svc.kill('SIGTERM');
  mkdirSync(join(svc.stateDir, 'events/web'), { recursive: true });
  // Of an order that was never carried out.
  writeFileSync(join(svc.stateDir, 'events/web/2026-01-01-9.parquet'), 'x');
  storeOldEvents(svc.stateDir);
  await svc.start();
  const json = async (path: string, init?: RequestInit): Promise<unknown> =>
    (await root.fetch(path, init)).json();
  expect(((await json('/api/events/')) as unknown[]).length).toBe(COUNT);
  await eventually(async () => {
    const metrics = await (await root.fetch('/metrics')).text();
    expect(metrics).toMatch(new RegExp(`^svc_events_sealed_total ${COUNT}$`, 'm'));
    expect(metrics).toMatch(/^svc_event_sealing_failed 0$/m);
  });
  expect(partsIn(svc.stateDir)).toHaveLength(2);

  const ids = ((await json('/api/events/?limit=1000')) as { id: number }[]).map(({ id }) => id);
  expect(ids).toEqual(Array.from({ length: COUNT }, (_, at) => at + 1));
  expect(await json('/api/events/42/')).toMatchObject({ id: 42, data: 'line 41', index: 'auth' });
  const patch = { method: 'PATCH', body: '{"data":"changed"}' };
  expect(await json('/api/events/42/', patch)).toMatchObject({ id: 42, data: 'changed' });
  expect((await root.fetch('/api/events/43/', { method: 'DELETE' })).status).toBe(204);
  expect((await root.fetch('/api/events/43/')).status).toBe(404);
  const found = async (query: string): Promise<{ rows: unknown[]; meta: { notices: string[] } }> =>
    (await json('/search2/api/run/', { method: 'POST', body: JSON.stringify({ query }) })) as never;
  expect((await found('from events | stats count, sum(n)')).rows).toEqual([
    { count: COUNT - 1, 'sum(n)': ((COUNT - 1) * COUNT) / 2 - 42 },
  ]);
  expect((await found('changed | table id')).rows).toEqual([{ id: 42 }]);
  // Read by columns, but for texts that all differ (SL-153).
  const explained = async (query: string): Promise<unknown> => {
    const body = JSON.stringify({ query, explain: true });
    const answer = await json('/search2/api/run/', { method: 'POST', body });
    return answer;
  };
  expect(await explained('index=web | stats dc(own), p50(n) BY host')).toMatchObject({
    rows: [{ 'dc(own)': COUNT / 2 - 1, 'p50(n)': COUNT / 2 }],
    meta: { plan: { columns_used: true, fields_without_column: ['own'] } },
  });
  expect(await explained('* | stats p50(n)')).toMatchObject({
    meta: { plan: { columns_used: true, fields_without_column: [] } },
  });
  expect(await explained('* | sort id | head 1')).toMatchObject({
    meta: { plan: { columns_used: false, fields_without_column: [] } },
  });
  const posted = await root.fetch('/api/events/', { method: 'POST', body: '{"data":"new"}' });
  expect([posted.status, ((await posted.json()) as { id: number }).id]).toEqual([201, COUNT + 1]);

  // A copy elsewhere has all of it.
  const archive = join(svc.docroot, '../state.tar.gz');
  expect((await run(['backup', archive, svc.docroot])).code).toBe(0);
  const copy = join(svc.docroot, '../copy');
  expect(await run(['restore', archive, copy])).toMatchObject({ code: 0 });
  expect(await run(['check', copy])).toMatchObject({ code: 0 });
  const counted = await run(['search', copy, 'from events | stats count', '--csv']);
  expect(counted.out).toBe(`count\r\n${COUNT}\r\n`);

  const [part] = partsIn(svc.stateDir).filter((name) => name.startsWith('auth/'));
  const path = join(svc.stateDir, 'events', part!);
  await svc.kill('SIGTERM');
  writeFileSync(path, readFileSync(path).subarray(0, 900));
  await svc.start();
  const told = new RegExp(
    `^The answer is incomplete: 149 event\\(s\\) from .* events/${part} is damaged`,
  );
  const answer = await found('from events | stats count by index');
  expect(answer.rows).toEqual([
    { index: 'auth', count: 1 },
    { index: 'default', count: 1 },
    { index: 'web', count: 149 },
  ]);
  expect(answer.meta.notices).toEqual([expect.stringMatching(told)]);
  const listed = await root.fetch('/api/events/');
  expect(((await listed.json()) as unknown[]).length).toBe(151);
  expect(JSON.parse(listed.headers.get('x-incomplete') ?? 'null')).toEqual([
    expect.stringMatching(told),
  ]);
  const histogram = await json('/api/events/histogram?interval=1d');
  expect(histogram).toMatchObject({ total: 151, incomplete: [{ part, events: 149 }] });
  expect((await root.fetch('/api/events/44/')).status).toBe(503);
  expect((await root.fetch('/api/events/41/')).status).toBe(200);
  const check = await run(['check', svc.docroot]);
  expect([check.code, check.out]).toEqual([
    1,
    expect.stringContaining(`PROBLEM: events: events/${part} with 149 event(s) from`),
  ]);
}, 60_000);

test('where events cannot be sealed they stay, and administrators are told', async () => {
  await using svc = await startService({
    config: { events: { min_free_bytes: 1, seal_after_minutes: 1 } },
  });
  await svc.createSuperuser('root');
  const root = await svc.as('root');
  await svc.kill('SIGTERM');
  storeOldEvents(svc.stateDir);
  // Nobody can make a folder there.
  writeFileSync(join(svc.stateDir, 'events'), 'in the way');
  await svc.start();
  await eventually(async () => {
    const health = (await (await root.fetch('/health')).json()) as { problems?: string[] };
    expect(health.problems).toEqual([
      expect.stringMatching(/^event storage: events are not sealed/),
    ]);
  });
  expect(await (await root.fetch('/metrics')).text()).toMatch(/^svc_event_sealing_failed 1$/m);
  const anonymous = (await (await fetch(`${svc.url}/health`)).json()) as object;
  expect(Object.keys(anonymous)).not.toContain('problems');
  const events = (await (await root.fetch('/api/events/?limit=1000')).json()) as unknown[];
  expect(events).toHaveLength(COUNT);
}, 60_000);

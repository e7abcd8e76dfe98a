/**
 * A damaged event store stops events and nothing else (EV-51).
 */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { program, startService } from '../support/service.ts';
import { eventually, soon } from './eventually.ts';

test.each([
  ['no database any more', 'this is no database'.repeat(1000)],
  ['cut to 0 bytes', ''],
])('%s: answers 503, names the remedy, and leaves the rest running', async (_, content) => {
  await using svc = await startService({
    files: { 'a.csv': 'x\n1\n' },
    config: { events: { min_free_bytes: 1 } },
  });
  await svc.createSuperuser('root');
  const root = await svc.as('root');
  const post = () => root.fetch('/api/events/', { method: 'POST', body: '{"data":"x"}' });
  expect((await post()).status).toBe(201);
  await svc.kill('SIGTERM');
  writeFileSync(join(svc.stateDir, 'events.sqlite'), content);
  const check = Bun.spawnSync([...program(), 'check', svc.docroot]);
  expect([check.exitCode === 0, check.stdout.toString() + check.stderr.toString()]).toEqual([
    false,
    expect.stringContaining('events.sqlite cannot be used'),
  ]);
  await svc.start();
  const refused = await post();
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { detail: 'Event storage is not writable.' },
  ]);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  expect((await root.fetch('/api/events/')).status).toBe(503);
  expect((await root.fetch('/api/a')).status).toBe(200);
  await eventually(async () => {
    const { problem } = (await (await root.fetch('/admin/ingest')).json()) as { problem: string };
    expect(problem).toMatch(
      /^events\.sqlite cannot be used .*restore it from a backup, or move it away/,
    );
  });
  await soon(() => svc.stderr()).toContain('restore it from a backup');
});

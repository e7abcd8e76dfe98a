/**
 * `svc events` beside a running server (EV-108).
 */
import { expect, test } from 'bun:test';
import { startService } from '../support/service.ts';

test('stats counts what every index holds', async () => {
  await using svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.accounts.grant('sender', '@events', 'write');
  const body = JSON.stringify([{ data: 'abc', index: 'web' }, { data: 'def' }]);
  const client = await svc.as('sender');
  expect((await client.fetch('/api/events/', { method: 'POST', body })).status).toBe(201);
  const { exitCode, stdout } = await svc.command(['events', 'stats', svc.docroot, '--json']);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    { index: 'default', events: 1, bytes: 3 + 2 + 28, max_age_days: null, max_bytes: null },
    { index: 'web', events: 1, bytes: 3 + 2 + 24 },
  ]);
  const table = await svc.command(['events', 'stats', svc.docroot]);
  expect(table.stdout).toMatch(/^index +events +bytes +oldest +newest\n/);
});

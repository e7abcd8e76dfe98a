/** What whoever runs the server is told: why it is degraded (DS-187), and figures to watch (DS-189). */
import { expect, test } from 'bun:test';
import { renameSync } from 'node:fs';
import { startService } from '../support/service.ts';

test('superusers are told why the server is degraded, others only that it is', async () => {
  await using svc = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await svc.createSuperuser('root');
  await svc.accounts.user('anna');
  const [root, anna] = [await svc.as('root'), await svc.as('anna')];
  const well = (await (await root.fetch('/health')).json()) as object;
  expect(well).toMatchObject({ status: 'ok' });
  expect(well).not.toHaveProperty('problems');
  expect((await anna.fetch('/health')).status).toBe(200);
  const away = `${svc.stateDir}-away`;
  renameSync(svc.stateDir, away);
  await Bun.sleep(1_100);
  const answers = await Promise.all(
    [root, anna, svc].map(async (client) => {
      const answer = await client.fetch('/health');
      return [answer.status, (await answer.json()) as { problems?: string[] }] as const;
    }),
  );
  renameSync(away, svc.stateDir);
  expect(answers.map(([status]) => status)).toEqual([503, 503, 503]);
  const [told, ...others] = answers.map(([, body]) => body.problems);
  expect(told?.join()).toStartWith('state database: ');
  expect(told?.join()).not.toContain(svc.docroot);
  expect(others).toEqual([undefined, undefined]);
});

test('metrics tell the newest event of an index and the room on the disks', async () => {
  await using svc = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await svc.createSuperuser('root');
  const root = await svc.as('root');
  const event = { index: 'web', data: 'x', event_time: '2026-01-02T03:04:05Z' };
  const created = await root.fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(event),
  });
  expect(created.status).toBe(201);
  const text = await (await root.fetch('/metrics')).text();
  const newest = /^svc_event_last_timestamp_seconds\{index="web"\} ([\d.e+]+)$/m.exec(text)?.[1];
  expect(Math.abs(Number(newest) - Date.now() / 1000)).toBeLessThan(365 * 86_400);
  for (const folder of ['published', 'state']) {
    const free = new RegExp(`^svc_disk_free_bytes\\{folder="${folder}"\\} (\\S+)$`, 'm').exec(text);
    expect(Number(free?.[1])).toBeGreaterThan(1_000_000);
  }
  expect(text).not.toMatch(/^svc_certificate_expiry/m);
});

test.each([
  [{ host: '300.1.1.1' }, 'host must be an IP address or a host name without scheme or port'],
  [{ host: '1.2.3' }, 'host must be an IP address'],
  [{ port: 70_000 }, 'port must be a whole number from 0 to 65535'],
  [{ public_url: 'data.example.org' }, 'public_url must be an http:// or https:// address'],
  [
    { tls_cert: '/nowhere/a.crt', tls_key: '/nowhere/a.key' },
    'tls_cert cannot be read (ENOENT): /nowhere/a.crt',
  ],
])('%j is refused at the start, saying why (DS-196)', async (config, text) => {
  let message = '';
  try {
    await using svc = await startService({ files: {}, config });
    await svc.fetch('/health');
  } catch (error) {
    message = String(error);
  }
  expect(message).toContain(text);
});

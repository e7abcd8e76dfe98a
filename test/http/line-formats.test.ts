/** The page that shows what would be found in pasted lines, and the command that does (EV-10, EV-108). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { program } from '../support/program.ts';

let svc: Service;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.group('writers', ['writer']);
  await svc.accounts.grantGroup('writers', '@events/web', 'write');
  await svc.accounts.group('readers', ['reader']);
  await svc.accounts.grantGroup('readers', '@events/web', 'read');
});
afterAll(() => svc[Symbol.asyncDispose]());

const LINES = `{"ts":1795168800.25,"host":"alpha","msg":"<b>hi</b>"}\nlevel=warn order=17\n\nhello world\n`;

const ORDER = '<dt>order</dt><dd><code>17</code></dd>';

async function explained(user: string, lines: string, sourcetype = ''): Promise<Response> {
  const client = await svc.as(user);
  const body = new URLSearchParams({ lines, sourcetype });
  return client.fetch('/events/explain', { method: 'POST', body });
}

test('who may send events sees format, time, host and fields of each line; nothing is stored', async () => {
  for (const user of ['root', 'writer']) {
    const answer = await explained(user, LINES);
    const text = await answer.text();
    expect([user, answer.status]).toEqual([user, 200]);
    expect(text.match(/<li class="card">/g)).toHaveLength(3);
    for (const part of [
      '2026-11-20T10:00:00.250000Z',
      'from ts',
      'alpha',
      'from host',
      ORDER,
      'No fields',
    ])
      expect(text).toContain(part);
    expect(text).toContain('&lt;b&gt;hi&lt;/b&gt;');
    expect(text).not.toContain('<b>hi');
  }
  const root = await svc.as('root');
  expect(await (await root.fetch('/api/events/')).json()).toEqual([]);
});

test('a sourcetype chooses', async () => {
  expect(await (await explained('root', 'level=warn order=17', 'none')).text()).not.toContain(
    ORDER,
  );
  expect(await (await explained('root', 'order=17', 'kv')).text()).toContain(ORDER);
});

test('nobody else', async () => {
  expect((await explained('reader', LINES)).status).toBe(403);
  for (const init of [{}, { method: 'POST', body: new URLSearchParams({ lines: 'x' }) }]) {
    expect((await svc.fetch('/events/explain', init)).status).toBe(401);
    const reader = await svc.as('reader');
    expect((await reader.fetch('/events/explain', init)).status).toBe(403);
  }
});

test('lines made to be slow leave the server quick', async () => {
  const slow = explained('root', `${'a='.repeat(15_000)}\n${'('.repeat(30_000)}`);
  const root = await svc.as('root');
  const startedAt = performance.now();
  expect((await root.fetch('/health')).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(1000);
  expect((await slow).status).toBe(200);
});

test('svc events explain reads a file or standard input', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-explain-'));
  try {
    writeFileSync(join(folder, 'app.log'), LINES);
    const run = async (input: string, ...more: string[]) => {
      const child = Bun.spawn([...program, 'events', 'explain', folder, ...more], {
        stdin: Buffer.from(input),
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const [out, code] = [await new Response(child.stdout).text(), await child.exited];
      return { out, code };
    };
    const json = await run('', join(folder, 'app.log'), '--json');
    expect(json.code).toBe(0);
    expect(JSON.parse(json.out)).toMatchObject([
      { format: 'json', time_from: 'ts', host: 'alpha' },
      { format: 'pairs', time: null, fields: { level: 'warn', order: 17 } },
      { format: null, fields: {} },
    ]);
    expect((await run(LINES)).out).toContain('time    2026-11-20T10:00:00.250000Z from ts');
    expect((await run('a=1', '--sourcetype', 'kv')).out).toContain('{"a":1}');
    expect((await run('', 'missing.log')).code).toBe(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

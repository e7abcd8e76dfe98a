/**
 * Long answers end with the right to what they hold, whichever door they came through (S-Z10): lists of events, queries,
 * the audit, streams of handlers. Datasets: large-tables.test.ts.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { patienceFor } from '../support/patience.ts';
import { startService, type Service } from '../support/service.ts';

/** More than the buffers on the way hold: the end of an answer is not made before its reader reads on. */
const EVENTS = 1_500;
const EVENT_BYTES = 20_000;
const AUDIT_ROWS = 60_000;
/** A look at the right every two seconds. */
const LOOK_MS = 2_500;
const LAST_CHUNK = '0\r\n\r\n';
const TICKING = `
import { Elysia } from 'elysia';
export const router = new Elysia().get('/ticks', () => new Response(new ReadableStream({
  async pull(controller) {
    await Bun.sleep(100);
    controller.enqueue(new TextEncoder().encode('tick\\n'));
  },
})));
`;

let svc: Service;
beforeAll(async () => {
  svc = await startService({
    files: { 'clock.ts': TICKING },
    config: { events: { min_free_bytes: 1, search: { export_max_rows: 10_000 } } },
  });
  await svc.accounts.user('root', { superuser: true });
  const sender = await svc.as('root');
  for (let sent = 0; sent < EVENTS; sent += 300) {
    const events = Array.from({ length: 300 }, () => ({
      index: 'bulk',
      data: 'x'.repeat(EVENT_BYTES),
    }));
    const body = JSON.stringify(events);
    expect((await sender.fetch('/api/events/', { method: 'POST', body })).status).toBe(201);
  }
  await svc.accounts.db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${AUDIT_ROWS})
     INSERT INTO audit (timestamp, action, resource, details)
     SELECT '2026-01-01T00:00:00.000Z', 'login', 'auth', printf('%.600c', 'x') FROM n`,
  );
});
afterAll(() => svc[Symbol.asyncDispose]());

/** What came of an answer whose reader stands still after its first bytes until `change` is made and looked at. */
async function ending(
  username: string,
  request: string,
  change: () => Promise<unknown>,
): Promise<{ bytes: number; isWhole: boolean }> {
  const { hostname, port } = new URL(svc.url);
  const key = await svc.accounts.apiKey(username);
  const socket = connect(Number(port), hostname);
  const over = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let standsStill = true;
  let bytes = 0;
  let tail = '';
  socket.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    tail = (tail + Buffer.from(chunk).toString('latin1')).slice(-5);
    if (tail === LAST_CHUNK) over.resolve();
    if (standsStill) socket.pause();
    begun.resolve();
  });
  socket.on('error', () => over.resolve());
  socket.on('close', () => over.resolve());
  const [line, body = ''] = request.split('\n');
  const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
  socket.write(
    `${line} HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${key}\r\n${length}\r\n${body}`,
  );
  await begun.promise;
  await change();
  await Bun.sleep(LOOK_MS);
  standsStill = false;
  socket.resume();
  await Promise.race([over.promise, Bun.sleep(patienceFor(8_000))]);
  const isWhole = tail === LAST_CHUNK;
  socket.destroy();
  return { bytes, isWhole };
}

const nothing = async (): Promise<void> => undefined;
const leaveGroups = (username: string) => () =>
  svc.accounts.db.run(
    'DELETE FROM group_members WHERE user_id = (SELECT id FROM users WHERE username = ?)',
    [username],
  );
const deactivate = (username: string) => () =>
  svc.accounts.db.run('UPDATE users SET is_active = 0 WHERE username = ?', [username]);

const LIST = 'GET /api/events/?format=ndjson&index=bulk';
const QUERY = `POST /search2/api/run/\n${JSON.stringify({ query: 'index=bulk | table data', format: 'ndjson' })}`;
const AUDIT = 'GET /admin/audit-logs?format=ndjson';

test('answers whose reader keeps his right are whole, however slowly they are read', async () => {
  await svc.accounts.grant('stayer', '@events/bulk', 'read');
  await svc.accounts.user('auditor', { superuser: true });
  const answers = await Promise.all([
    ending('stayer', LIST, nothing),
    ending('stayer', QUERY, nothing),
    ending('auditor', AUDIT, nothing),
  ]);
  expect(answers.map(({ isWhole }) => isWhole)).toEqual([true, true, true]);
});

test.each([
  ['a list of events', LIST],
  ['the rows of a query', QUERY],
])('%s ends with the right, and with the account', async (_, request) => {
  const answers = [leaveGroups, deactivate].map(async (take) => {
    const username = `${take.name}-${request.length}`;
    await svc.accounts.grant(username, '@events/bulk', 'read');
    return ending(username, request, take(username));
  });
  for (const { bytes, isWhole } of await Promise.all(answers)) {
    expect(isWhole).toBe(false);
    expect(bytes).toBeLessThan(EVENTS * EVENT_BYTES);
  }
});

test('an export of the audit ends with its administrator', async () => {
  await svc.accounts.user('former', { superuser: true });
  const { isWhole } = await ending('former', AUDIT, deactivate('former'));
  expect(isWhole).toBe(false);
});

test('a stream of a handler ends with the right to it', async () => {
  await svc.accounts.grant('listener', 'clock', 'read');
  const response = await (await svc.as('listener')).fetch('/api/clock/ticks');
  const reader = response.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  await leaveGroups('listener')();
  const rest = (async () => {
    for (let step = await reader.read(); !step.done; step = await reader.read()) continue;
  })();
  expect(await rest.catch(() => 'broken off')).toBe('broken off');
});

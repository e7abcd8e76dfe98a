/** Changes that come twice with one `Idempotency-Key` are made once (DS-242). */
import { beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../support/service.ts';
import { auditAfter, change, lastAuditId } from './changes.ts';
import { sharedService } from './shared-service.ts';
import { field, file, formOf, send } from './upload-form.ts';

const shared = sharedService({
  files: { 'a.csv': 'n\n1\n', 'b.csv': 'n\n1\n' },
  config: { upload: { enabled: true, collision_policy: 'reject' } },
});

let other: Client;
beforeAll(async () => {
  await shared.service.accounts.grant('other', '*', 'read', 'write');
  other = await shared.service.as('other');
});

const text = (name: string): string => readFileSync(join(shared.service.docroot, name), 'utf8');
const with_ = (key: string) => ({ 'Idempotency-Key': key });
const add = (n: number) => ({ action: 'create', data: [{ n }] });

test('a repeat of a dataset change is answered as the first', async () => {
  const last = await lastAuditId(shared.service);
  const first = await change(shared.writer, 'POST', 'a', add(2), with_('k1'));
  const again = await change(shared.writer, 'POST', 'a', add(2), with_('k1'));
  expect([again.status, again.text, again.etag]).toEqual([200, first.text, first.etag]);
  expect([first, again].map(({ headers }) => headers.get('Idempotent-Replayed'))).toEqual([
    null,
    'true',
  ]);
  expect(text('a.csv')).toBe('n\n1\n2\n');
  expect((await auditAfter(shared.service, last)).length).toBe(1);
  const different = await change(shared.writer, 'POST', 'a', add(3), with_('k1'));
  expect([different.status, different.detail]).toEqual([
    422,
    'Idempotency-Key was used with a different body.',
  ]);
  expect((await change(shared.writer, 'POST', 'a', add(3), with_('ä'))).status).toBe(400);
  // Another user, another path: another key.
  expect((await change(other, 'POST', 'a', add(2), with_('k1'))).status).toBe(200);
  expect((await change(shared.writer, 'POST', 'b', add(2), with_('k1'))).status).toBe(200);
  expect(text('a.csv')).toBe('n\n1\n2\n2\n');
});

test('requests at the same time make one change', async () => {
  const before = text('b.csv');
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => change(shared.writer, 'POST', 'b', add(7), with_('k2'))),
  );
  expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`)).size).toBe(1);
  expect(text('b.csv')).toBe(`${before}7\n`);
});

test('what was refused may be tried again, and lost rights end repeats', async () => {
  const wrong = await change(
    shared.writer,
    'POST',
    'b',
    { action: 'create', data: {} },
    with_('k3'),
  );
  expect(wrong.status).toBe(422);
  expect((await change(shared.writer, 'POST', 'b', add(8), with_('k3'))).status).toBe(200);
  const { accounts } = shared.service;
  await accounts.grant('leaver', 'b', 'read', 'write');
  const leaver = await shared.service.as('leaver');
  expect((await change(leaver, 'POST', 'b', add(9), with_('k4'))).status).toBe(200);
  await accounts.db.run("DELETE FROM permissions WHERE resource = 'b'");
  expect((await change(leaver, 'POST', 'b', add(9), with_('k4'))).status).toBe(403);
});

test('answers outlast the process, and what it left half done is told', async () => {
  const first = await change(
    shared.writer,
    'DELETE',
    'a',
    { action: 'delete', data: { _row_id: 1 } },
    with_('k5'),
  );
  expect(first.status).toBe(200);
  await shared.service.accounts.db.run(
    "INSERT INTO kept_replies (user_id, route, key, request_hash, created_at) SELECT user_id, route, 'k6', request_hash, created_at FROM kept_replies WHERE key = 'k5'",
  );
  await shared.service.kill('SIGKILL');
  await shared.service.start();
  const body = { action: 'delete', data: { _row_id: 1 } };
  const again = await change(shared.writer, 'DELETE', 'a', body, with_('k5'));
  expect([again.status, again.text]).toEqual([200, first.text]);
  const half = await change(shared.writer, 'DELETE', 'a', body, with_('k6'));
  expect([half.status, String(half.detail)]).toEqual([
    409,
    'The first request with this Idempotency-Key was interrupted; look whether it took effect, and use another key',
  ]);
});

test('a row by its address, a saved search, a group and an upload take a key', async () => {
  const patch = (key: string) =>
    shared.writer.fetch('/api/a/2/', {
      method: 'PATCH',
      headers: with_(key),
      body: '{"n":20}',
    });
  expect((await patch('r')).status).toBe(200);
  expect((await patch('r')).headers.get('Idempotent-Replayed')).toBe('true');

  const post = async (client: Client, path: string, body: object) => {
    const answer = await client.fetch(path, {
      method: 'POST',
      headers: { ...with_('s'), 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return [answer.status, await answer.text()];
  };
  const search = { name: 'mine', query: 'from a' };
  const saved = await post(shared.writer, '/api/savedsearches/', search);
  expect(saved[0]).toBe(201);
  expect(await post(shared.writer, '/api/savedsearches/', search)).toEqual(saved);
  expect((await post(shared.writer, '/api/savedsearches/', { ...search, name: 'b' }))[0]).toBe(422);

  const group = await post(shared.superuser, '/admin/groups', { name: 'g' });
  expect(await post(shared.superuser, '/admin/groups', { name: 'g' })).toEqual(group);
  expect(group[0]).toBe(200);
  expect((await post(shared.writer, '/admin/groups', { name: 'g' }))[0]).toBe(403);

  const form = (content: string) => formOf([field('filename', 'up.csv'), file(content)]);
  const first = await send(shared.superuser, form('x\n1\n'), with_('u'));
  expect(first.status).toBe(201);
  expect(await send(shared.superuser, form('x\n1\n'), with_('u'))).toEqual(first);
  expect((await send(shared.superuser, form('x\n2\n'), with_('u'))).status).toBe(422);
  expect((await send(shared.superuser, form('x\n1\n'), with_('u2'))).status).toBe(409);
  expect(text('up.csv')).toBe('x\n1\n');
});

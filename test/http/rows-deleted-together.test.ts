/**
 * Many rows deleted in one write, for the script of the dataset page (`POST /ui/<dataset>/` with JSON): the same rights, checks
 * and audit as the API, which takes one row at a time (DS-73).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { auditAfter, lastAuditId } from './changes.ts';

const ROWS = Array.from({ length: 1_200 }, (_, index) => index + 1);
const textOf = (numbers: readonly number[]): string => `n\n${numbers.join('\n')}\n`;

let svc: Service;

beforeAll(async () => {
  svc = await startService({ files: { 'list.csv': textOf(ROWS) } });
  await svc.createSuperuser('root');
  await svc.accounts.grant('wim', 'list', 'read', 'write');
  await svc.accounts.grant('rita', 'list', 'read');
  await svc.accounts.grant('blind', 'list', 'write');
  await svc.accounts.user('nobody');
});

afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
});

const remove = (client: Client, ids: readonly unknown[], headers = {}): Promise<Response> =>
  client.fetch('/ui/list/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
    body: JSON.stringify({ action: 'delete', data: ids.map((id) => ({ _row_id: id })) }),
  });
const file = (): string => readFileSync(join(svc.docroot, 'list.csv'), 'utf8');

test('only those who may read and write delete rows, and a session needs its token', async () => {
  expect((await remove(svc, [1])).status).toBe(401);
  for (const name of ['nobody', 'rita', 'blind']) {
    expect((await remove(await svc.as(name), [1])).status).toBe(403);
  }
  const { cookie } = await svc.accounts.session('wim');
  expect((await remove(svc.withHeaders({ Cookie: cookie }), [1])).status).toBe(403);
  expect(file()).toBe(textOf(ROWS));
});

test('what is wrong with a part of them leaves all where they are', async () => {
  const wim = await svc.as('wim');
  expect((await remove(wim, [1, 99_999])).status).toBe(404);
  expect((await remove(wim, [1, 'x'])).status).toBe(422);
  const many = await remove(wim, ROWS.slice(0, 501));
  expect(await many.json()).toEqual({
    detail: 'Schema validation failed: delete data may not name more than 500 rows',
  });
  expect((await remove(wim, [1], { 'If-Match': '"old"' })).status).toBe(412);
  // The API takes one row at a time.
  const api = await wim.fetch('/api/list/', {
    method: 'DELETE',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ action: 'delete', data: [{ _row_id: 1 }] }),
  });
  expect(await api.json()).toEqual({
    detail: 'Schema validation failed: delete data must be an object',
  });
  expect(file()).toBe(textOf(ROWS));
});

test('the rows are gone in one write, with one version and one entry of the audit', async () => {
  const wim = await svc.inBrowserAs('wim');
  const last = await lastAuditId(svc);
  const answer = await remove(wim, [2, 3, 3, 1_200]);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ success: true, count: 3, row_ids: [2, 3, 1_200] });
  const left = ROWS.filter((n) => ![2, 3, 1_200].includes(n));
  expect(file()).toBe(textOf(left));
  const more = await remove(wim, left.slice(1, 501), { 'If-Match': answer.headers.get('ETag')! });
  expect(more.status).toBe(200);
  expect(file()).toBe(textOf([left[0]!, ...left.slice(501)]));
  const rows = await (await svc.as('rita')).fetch('/api/list/?limit=2');
  expect(await rows.json()).toEqual([
    { _row_id: 1, n: 1 },
    { _row_id: 504, n: 504 },
  ]);
  const entries = await auditAfter(svc, last);
  expect(entries.map(({ action, resource, details }) => [action, resource, details])[0]).toEqual([
    'delete_dataset_row',
    'list.csv',
    'Deleted 3 dataset rows: 2, 3, 1200',
  ]);
  expect(entries.length).toBe(2);
});

/**
 * Many rows deleted or updated in one write by the script of the dataset page (`POST /ui/<dataset>/` with JSON): the same rights,
 * checks and audit as the API (DS-73, bulk-changes.test.ts).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { auditAfter, lastAuditId } from './changes.ts';

const ROWS = Array.from({ length: 1_200 }, (_, index) => index + 1);
const textOf = (numbers: readonly number[]): string => `n\n${numbers.join('\n')}\n`;

const STOCK = 'name,price,sold\ncup,2.5,true\nplate,7,false\nbowl,4.5,true\n';

let svc: Service;

beforeAll(async () => {
  svc = await startService({ files: { 'list.csv': textOf(ROWS), 'stock.csv': STOCK } });
  await svc.createSuperuser('root');
  await svc.accounts.grant('wim', 'list', 'read', 'write');
  await svc.accounts.grant('rita', 'list', 'read');
  await svc.accounts.grant('blind', 'list', 'write');
  await svc.accounts.grant('wim', 'stock', 'read', 'write');
  await svc.accounts.grant('rita', 'stock', 'read');
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
  expect((await remove(wim, [1], { 'If-Match': '"old"' })).status).toBe(412);
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

const post = (client: Client, body: unknown, headers = {}): Promise<Response> =>
  client.fetch('/ui/stock/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const stock = (): string => readFileSync(join(svc.docroot, 'stock.csv'), 'utf8');
const update = (data: unknown): object => ({ action: 'update', data });

test('an update of many rows asks for the rights of one, and does all of it or nothing', async () => {
  const [wim, rita] = [await svc.as('wim'), await svc.as('rita')];
  const data = [{ _row_id: 1, price: 3 }];
  expect((await post(svc, update(data))).status).toBe(401);
  expect((await post(rita, update(data))).status).toBe(403);
  expect((await post(rita, { action: 'check', data: [{ price: 'x' }] })).status).toBe(403);
  const gone = await post(wim, update([...data, { _row_id: 9, price: 3 }]));
  expect([gone.status, await gone.json()]).toEqual([404, { detail: 'Row 9 not found' }]);
  const misfit = await post(wim, update([...data, { _row_id: 2, price: 'dear' }]));
  expect(await misfit.json()).toEqual({
    detail: "Schema validation failed: column 'price': expected number, received string",
    hint: 'The row is data[1]',
  });
  expect((await post(wim, update(data), { 'If-Match': '"old"' })).status).toBe(412);
  expect(stock()).toBe(STOCK);
});

test('values are looked at before they are written, by the rules of a change', async () => {
  const wim = await svc.as('wim');
  const data = [{ price: '3' }, { price: 'dear', sold: 'no' }, { name: '', sold: 'perhaps' }];
  const answer = await post(wim, { action: 'check', data });
  expect(await answer.json()).toEqual({
    misfits: [
      {
        row: 1,
        column: 'price',
        message: "Schema validation failed: column 'price': expected number, received string",
      },
      {
        row: 2,
        column: 'sold',
        message: "Schema validation failed: column 'sold': expected boolean, received string",
      },
    ],
  });
  expect((await post(wim, { action: 'check', data: [{ weight: 1 }] })).status).toBe(422);
  expect((await post(wim, { action: 'check', data: {} })).status).toBe(422);
  expect(stock()).toBe(STOCK);
});

test('many rows are updated in one write, with one version and one entry of the audit', async () => {
  const wim = await svc.inBrowserAs('wim');
  const last = await lastAuditId(svc);
  const answer = await post(
    wim,
    update([
      { _row_id: 1, price: '3', sold: 'no' },
      { _row_id: 2, price: 7 },
      { _row_id: 3, name: 'deep, bowl' },
    ]),
  );
  expect(await answer.json()).toEqual({ success: true, count: 3, row_ids: [1, 2, 3] });
  expect(stock()).toBe('name,price,sold\ncup,3,false\nplate,7,false\n"deep, bowl",4.5,true\n');
  // What is there already is no change.
  const same = await post(wim, update([{ _row_id: 1, price: 3 }]), {
    'If-Match': answer.headers.get('ETag')!,
  });
  expect([same.status, same.headers.get('ETag')]).toEqual([200, answer.headers.get('ETag')]);
  const entries = await auditAfter(svc, last);
  expect(entries.map(({ action, resource, details }) => [action, resource, details])).toEqual([
    ['update_dataset_row', 'stock.csv', 'Updated 3 dataset rows: 1, 2, 3'],
  ]);
});

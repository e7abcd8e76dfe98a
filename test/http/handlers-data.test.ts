/** A handler that asks the server in the name of its caller (DS-168). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { hasPythonHandlers } from './handler-files.ts';

const SCRIPT = `
import { Elysia } from 'elysia';
import { data } from 'svc';
export const kept = { data: null };
export const router = new Elysia()
  .get('/rows', ({ request }) => data(request).rows('sales', { filter: { n: { $gte: 2 } }, columns: ['a,b'], sort: '-n' }))
  .post('/row', async ({ request, body }) => data(request).create('sales', body))
  .put('/row', async ({ request, body }) => data(request).update('sales', body))
  .delete('/row/:id', async ({ request, params }) => data(request).remove('sales', Number(params.id)))
  .get('/query', ({ request }) => data(request).query('from "sales" | stats sum(n) as total'))
  .get('/admin', async ({ request }) => (await data(request).fetch('/admin/users')).status)
  .get('/keep', ({ request }) => { kept.data = data(request); return 'kept'; })
  .get('/later', async () => (await kept.data.fetch('/api/sales/')).status)
  .get('/stream', ({ request }) => new Response(new ReadableStream({ async pull(c) {
    c.enqueue(String((await data(request).rows('sales')).length)); await Bun.sleep(50); c.close(); } })))
  .get('/token', ({ request }) => request.headers.get('x-svc-token'));
`;

const PYTHON = `
import svc
from fastapi import APIRouter, Request
router = APIRouter()
kept = {}
@router.get("/rows")
def rows(request: Request):
    return svc.data(request).rows("sales", filter={"n": {"$gte": 2}}, columns=["a,b"], sort="-n")
@router.post("/row")
def create(request: Request, body: dict):
    return svc.data(request).create("sales", body)
@router.put("/row")
def update(request: Request, body: dict):
    return svc.data(request).update("sales", body)
@router.delete("/row/{row_id}")
def remove(request: Request, row_id: int):
    return svc.data(request).remove("sales", row_id)
@router.get("/query")
def query(request: Request):
    return svc.data(request).query('from "sales" | stats sum(n) as total')
@router.get("/admin")
def admin(request: Request):
    return svc.data(request).fetch("/admin/users")[0]
@router.get("/keep")
def keep(request: Request):
    kept["data"] = svc.data(request)
    return "kept"
@router.get("/later")
def later():
    return kept["data"].fetch("/api/sales/")[0]
`;

const CSV = '"a,b",n\none,1\ntwo,2\nthree,3\n';

const languages = ['script', ...(hasPythonHandlers() ? ['python'] : [])];

describe.each(languages)('a handler in %s', (language) => {
  let svc: Service;
  let clients: Record<'reader' | 'writer' | 'outsider' | 'scoped' | 'boss', Client>;
  const call = async (client: Client, path: string, method = 'GET', body?: unknown) => {
    const response = await client.fetch(`/api/${language}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
    const text = await response.text();
    return [
      response.status,
      text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
    ];
  };

  beforeAll(async () => {
    svc = await startService({
      files: { 'script.ts': SCRIPT, 'python.py': PYTHON, 'sales.csv': CSV },
    });
    const { accounts } = svc;
    await accounts.user('boss', { superuser: true });
    await accounts.grant('reader', language, 'read', 'write');
    await accounts.grant('reader', 'sales', 'read');
    await accounts.grant('writer', '*', 'read', 'write');
    await accounts.grant('outsider', language, 'read', 'write');
    clients = {
      reader: await svc.as('reader'),
      writer: await svc.as('writer'),
      outsider: await svc.as('outsider'),
      boss: await svc.as('boss'),
      scoped: svc.withHeaders({ 'X-API-Key': await accounts.apiKey('boss', [`read:${language}`]) }),
    };
    await eventually(async () => expect((await call(clients.reader, '/rows'))[0]).toBe(200));
  });
  afterAll(() => svc?.[Symbol.asyncDispose]());

  test('reads what its caller may read', async () => {
    const rows = [
      { _row_id: 3, 'a,b': 'three' },
      { _row_id: 2, 'a,b': 'two' },
    ];
    for (const client of [clients.reader, clients.writer, clients.boss])
      expect(await call(client, '/rows')).toEqual([200, rows]);
    const refused = [403, { detail: 'Permission denied: read on sales' }];
    expect(await call(clients.outsider, '/rows')).toEqual(refused);
    expect(await call(clients.scoped, '/rows')).toEqual(refused);
    expect(await call(clients.reader, '/query')).toMatchObject([200, { rows: [{ total: 6 }] }]);
    expect(await call(clients.boss, '/admin')).toEqual([200, '200']);
    for (const client of [clients.writer, clients.scoped])
      expect(await call(client, '/admin')).toEqual([200, '403']);
  });

  test('changes what its caller may change, with the errors of the API', async () => {
    const file = () => readFileSync(join(svc.docroot, 'sales.csv'), 'utf8');
    expect((await call(clients.reader, '/row', 'POST', { 'a,b': 'x', n: 4 }))[0]).toBe(403);
    expect(file()).toBe(CSV);
    expect(await call(clients.writer, '/row', 'POST', { 'a,b': 'four', n: 4 })).toMatchObject([
      200,
      { success: true, row_ids: [4] },
    ]);
    expect((await call(clients.writer, '/row', 'PUT', { _row_id: 4, n: 5 }))[0]).toBe(200);
    expect(file()).toBe(`${CSV}four,5\n`);
    expect((await call(clients.writer, '/row/4', 'DELETE'))[0]).toBe(200);
    expect(file()).toBe(CSV);
    const [status, body] = await call(clients.writer, '/row', 'PUT', { _row_id: 1, n: 'many' });
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining('expected')]);
  });

  test('may no longer when the call is over', async () => {
    expect((await call(clients.reader, '/keep'))[1]).toContain('kept');
    expect(await call(clients.reader, '/later')).toEqual([200, '401']);
  });
});

test('the token holds while a long answer is made, and its text opens nothing afterwards', async () => {
  await using svc = await startService({ files: { 'script.ts': SCRIPT, 'sales.csv': CSV } });
  await svc.accounts.grant('writer', '*', 'read', 'write');
  const writer = await svc.as('writer');
  await eventually(async () =>
    expect(await (await writer.fetch('/api/script/stream')).text()).toBe('3'),
  );
  const token = await (await writer.fetch('/api/script/token')).text();
  expect(token).toStartWith('svc_call_');
  for (const text of [token, 'svc_call_', 'svc_call_x']) {
    const headers = { Authorization: `Bearer ${text}` };
    expect((await svc.fetch('/api/sales/', { headers })).status).toBe(401);
  }
  // A client cannot bring one of its own.
  const forged = await writer.fetch('/api/script/token', { headers: { 'X-Svc-Token': 'mine' } });
  expect(await forged.text()).not.toContain('mine');
});

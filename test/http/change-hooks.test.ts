/** Webhooks on changes of files: signed, in order, of what the owner may read, also over a restart (DS-262). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

const received: { headers: Headers; body: string }[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    received.push({ headers: request.headers, body: await request.text() });
    return new Response('ok');
  },
});
const url = `http://127.0.0.1:${receiver.port}/changes`;

let svc: Service;
let ada: Client;
let bea: Client;

beforeAll(async () => {
  svc = await startService({
    files: { 'stock.csv': 'sku,n\na,1\n', 'sales/q1.csv': 'n\n1\n', 'secret.csv': 'n\n1\n' },
    config: { deliveries: { allowed_hosts: ['127.0.0.1'], secrets: { hook: 'env:HOOK_KEY' } } },
    env: { HOOK_KEY: 'a-secret-key' },
  });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  await svc.accounts.grant('bea', 'stock', 'read');
  await svc.accounts.grant('bea', 'sales/q1', 'read');
  [ada, bea] = [await svc.as('ada'), await svc.as('bea')];
});
afterAll(async () => {
  await svc[Symbol.asyncDispose]();
  await receiver.stop(true);
});

async function json<T = { id: number }>(response: Promise<Response>, status: number): Promise<T> {
  const found = await response;
  const text = await found.text();
  expect({ status: found.status, text }).toMatchObject({ status });
  return JSON.parse(text) as T;
}
const make = (who: Client, body: object): Promise<Response> =>
  who.fetch('/api/webhooks', { method: 'POST', body: JSON.stringify(body) });
const edit = async (name: string, cells: object): Promise<void> => {
  const body = JSON.stringify({ action: 'update', data: { _row_id: 1, ...cells } });
  expect((await ada.fetch(`/api/${name}/`, { method: 'PATCH', body })).status).toBe(200);
};
const titles = (): string[] =>
  received.map(({ body }) => (JSON.parse(body) as { title: string }).title);
const target = { type: 'webhook', url, secret: 'hook' };

test.each([
  [{ target: { type: 'index', index: 'default' } }, 422, 'webhook'],
  [{ target: { ...target, url: 'http://169.254.169.254/' } }, 422, 'allowed_hosts'],
  [{ target: { ...target, sekret: 'x' } }, 422, 'sekret'],
  [{ resource: 'secret', target }, 403, 'Permission denied'],
  [{ resource: 'nothing', target }, 403, 'Permission denied'],
])('%j is answered %i', async (body, status, text) => {
  const answer = await make(bea, body);
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(text)]);
});

test('changes are told in their order, signed, to who may read them', async () => {
  expect((await make(svc, { target })).status).toBe(401);
  const { id } = await json(make(bea, { resource: '', target }), 201);
  for (let n = 2; n <= 6; n += 1) await edit('stock', { n });
  await edit('secret', { n: 2 });
  await edit('sales/q1', { n: 3 });
  await eventually(() => expect(received).toHaveLength(6));
  expect(titles().slice(0, 5)).toEqual(Array(5).fill('stock: update of 1 row by ada'));
  const cursors = received.slice(0, 5).map(({ body }) => {
    const { change } = JSON.parse(body) as { change: { cursor: string } };
    return Number(change.cursor.split('-')[1]);
  });
  expect(cursors).toEqual([...cursors].sort((one, other) => one - other));
  expect(titles()).not.toContain('secret: update of 1 row by ada');
  const { headers, body } = received[0]!;
  const [stamp, signature] = ['t', 'v1'].map(
    (name) => new RegExp(`${name}=([^,]+)`).exec(headers.get('svc-signature') ?? '')?.[1],
  );
  const expected = createHmac('sha256', 'a-secret-key').update(`${stamp}.${body}`).digest('hex');
  expect(signature).toBe(expected);
  expect(await json<object[]>(bea.fetch('/api/webhooks'), 200)).toMatchObject([{ id, target }]);
  expect(await json<object[]>(ada.fetch('/api/webhooks'), 200)).toEqual([]);
  expect((await ada.fetch(`/api/webhooks/${id}`, { method: 'DELETE' })).status).toBe(404);
});

test('what happens while the server is down is told after it; one that is removed is told nothing', async () => {
  received.length = 0;
  await svc.kill('SIGKILL');
  svc.write('stock.csv', 'sku,n\na,77\n');
  await svc.start();
  await eventually(() => expect(titles()).toContain('stock: replaced'));
  const [{ id } = { id: 0 }] = await json<{ id: number }[]>(bea.fetch('/api/webhooks'), 200);
  expect((await bea.fetch(`/api/webhooks/${id}`, { method: 'DELETE' })).status).toBe(204);
  received.length = 0;
  const { id: other } = await json(make(ada, { resource: 'sales', target }), 201);
  await edit('stock', { n: 8 });
  await edit('sales/q1', { n: 9 });
  await eventually(() => expect(titles()).toEqual(['sales/q1: update of 1 row by ada']));
  expect((await ada.fetch(`/api/webhooks/${other}`, { method: 'DELETE' })).status).toBe(204);
});

/** Saved searches and handlers as tools, where the configuration says so (DS-179, DS-218). */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { eventually } from '../http/eventually.ts';
import { sharedService } from '../http/shared-service.ts';
import { ask, call } from './messages.ts';

const SCRIPT = `
import { Elysia, t } from 'elysia';
import { data } from 'svc';
export const router = new Elysia()
  .get('/price/:sku', ({ params, query, headers }) => ({ sku: params.sku, factor: query.factor, user: headers['x-svc-user'] }),
    { query: t.Object({ factor: t.Numeric() }), detail: { description: 'The price of one.' } })
  .post('/orders', ({ body }) => ({ ordered: body.pieces, digits: body.digits }), { body: t.Object({ pieces: t.Integer(), digits: t.Optional(t.Any()) }) })
  .get('/rows', ({ request }) => data(request).rows('sales'))
  .get('/large', () => 'x'.repeat(6_000_000));
`;

const shared = sharedService({
  files: { 'sales.csv': 'name,price\ntea,3\ncake,5\n', 'shop.ts': SCRIPT },
  config: { mcp: { saved_searches: true, handlers: true } },
});

interface Listed {
  readonly tools: {
    name: string;
    description: string;
    inputSchema: { properties: object; required?: string[] };
  }[];
}

const listed = async (client: Client) =>
  ((await ask(client, 'tools/list', {})) as unknown as Listed).tools;
const named = async (client: Client, part: string) =>
  (await listed(client)).find(({ name }) => name.includes(part))!;
const save = async (client: Client, name: string, query: string, more = {}) =>
  client.fetch('/api/savedsearches/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, query, ...more }),
  });

let outsider: Client;
beforeAll(async () => {
  await shared.service.accounts.grant('outsider', 'other', 'read');
  outsider = await shared.service.as('outsider');
  const query = 'from "sales" | where price > {least} | stats count, max(price) AS most';
  expect((await save(shared.superuser, 'Sales above a price', query)).status).toBe(201);
  await eventually(async () => expect(await named(shared.reader, 'call_shop_rows')).toBeDefined());
});

describe('a saved search', () => {
  test('is a tool with its placeholders as arguments', async () => {
    const tool = await named(shared.superuser, 'saved_sales_above_a_price');
    expect(Object.keys(tool.inputSchema.properties)).toEqual(['least']);
    const { structuredContent } = await call(shared.superuser, tool.name, { least: 4 });
    expect(structuredContent).toMatchObject({ rows: [{ count: 1, most: 5 }] });
    // One in SQL has its parameters, and reads with the rights of who calls (SL-197).
    const sql = 'select count(*) as n from sales where price > :above';
    expect((await save(shared.superuser, 'In SQL', sql, { is_public: true })).status).toBe(201);
    const stated = await named(shared.superuser, 'saved_in_sql');
    expect(Object.keys(stated.inputSchema.properties)).toEqual(['above']);
    const answer = await call(shared.superuser, stated.name, { above: 4 });
    expect(answer.structuredContent).toMatchObject({ rows: [{ n: 1 }] });
    const refused = await call(outsider, stated.name, { above: 4 });
    expect(refused.content[0]!.text).toContain("Unknown dataset 'sales' or no permission");
    const missing = await call(shared.superuser, tool.name, {});
    expect(missing.isError).toBe(true);
    expect(missing.content[0]!.text).toContain("Missing argument 'least'");
  });

  test('is only there for who may use it', async () => {
    const { name } = await named(shared.superuser, 'saved_sales');
    for (const client of [outsider, shared.service]) {
      expect((await listed(client)).map((tool) => tool.name)).not.toContain(name);
      const refused = await ask(client, 'tools/call', { name, arguments: { least: 1 } }).catch(
        String,
      );
      expect(JSON.stringify(refused)).toContain('Unknown tool');
    }
  });
});

describe('a handler', () => {
  test('is a tool for each of its operations, in the name of the caller', async () => {
    const price = await named(shared.reader, 'call_shop_price');
    expect(price.description).toContain('The price of one.');
    expect(price.inputSchema.required).toEqual(['sku', 'factor']);
    const given = { sku: 'a/b c', factor: 1.5 };
    expect((await call(shared.reader, price.name, given)).structuredContent).toEqual({
      status: 200,
      body: { sku: 'a/b c', factor: 1.5, user: 'reader' },
    });
    const rows = await named(shared.reader, 'call_shop_rows');
    expect((await call(shared.reader, rows.name, {})).structuredContent).toMatchObject({
      body: [{ name: 'tea' }, { name: 'cake' }],
    });
  });

  test('takes a body, and tells what it refuses', async () => {
    const order = await named(shared.writer, 'call_shop_orders');
    expect(
      (await call(shared.writer, order.name, { body: { pieces: 2 } })).structuredContent,
    ).toEqual({
      status: 200,
      body: { ordered: 2 },
    });
    const refused = await call(shared.writer, order.name, { body: { pieces: 'two' } });
    expect(refused.isError).toBe(true);
    expect(refused.content[0]!.text).toContain('pieces');
  });

  test('is offered by the right to its method, and its answer is bounded', async () => {
    const names = (await listed(shared.reader)).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('call_shop_orders'))).toEqual([]);
    for (const client of [outsider, shared.service])
      expect((await listed(client)).filter(({ name }) => name.startsWith('call_'))).toEqual([]);
    const large = await call(
      shared.reader,
      (await named(shared.reader, 'call_shop_large')).name,
      {},
    );
    expect(large.isError).toBe(true);
    expect(large.content[0]!.text).toContain('Result too large');
  });
});

describe('without the settings', () => {
  const plain = sharedService({ files: { 'shop.ts': SCRIPT } });
  test('there are only the tools of the server', async () => {
    await save(plain.superuser, 'one', 'from "sales"');
    await eventually(async () =>
      expect((await plain.reader.fetch('/api/shop/large')).status).toBe(200),
    );
    for (const { name } of await listed(plain.superuser))
      expect(name).not.toMatch(/^(saved|call)_/);
  });
});

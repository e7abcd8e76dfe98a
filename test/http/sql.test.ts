/** Statements in SQL over the datasets of the caller (SL-190 to SL-196). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { patienceFor } from '../support/patience.ts';
import { duckRows, parquetFile } from '../plugins/parquet-table.ts';
import { refused, stopped } from './sql-attempts.ts';

const ELEVEN = Array.from({ length: 11 }, (_, at) => `t${at}`);

let svc: Service;
let root: Client;
let user: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'sales/orders.csv':
        'id,customer,amount,paid,day\n1,ann,12.50,true,03.02.2024\n2,bob,7,false,14.02.2024\n3,ann,,true,\n4,cy,1,false,05.12.2024\n',
      'people.json': JSON.stringify([
        { name: 'ann', city: 'Linz', tags: ['a', 'b'] },
        { name: 'bob', city: 'Graz', tags: [] },
      ]),
      'big.csv': 'n\n9007199254740991\n-5\n',
      'typed.parquet': await parquetFile(`SELECT * FROM (VALUES
        ('ann', 12345678901234567890123456.78::DECIMAL(38,2), 18446744073709551615::UBIGINT, 1.10::DECIMAL(10,2)),
        ('cy', -1.50, 7, -2.25)) AS t(who, wide, code, small)`),
      'letters.csv': 'a,A,"q""t"\n1,2,3\n',
      'secret.csv': 'code\nxylophone\n',
      ...Object.fromEntries(ELEVEN.map((name) => [`${name}.csv`, 'n\n1\n'])),
    },
    config: {
      events: {
        min_free_bytes: 1,
        throttle: { search: '' },
        search: { max_rows: 100, memory_bytes: '64MiB', concurrent_per_user: 2 },
      },
      limits: { child_memory_bytes: '300MiB' },
    },
  });
  await svc.createSuperuser('root');
  for (const name of ['sales/orders', 'people', 'big', 'letters', 'typed'])
    await svc.accounts.grant('user', name, 'read');
  await svc.accounts.grant('writer', 'secret', 'write');
  root = await svc.as('root');
  user = await svc.as('user');
  const event = { index: 'web', sourcetype: 's', source: 's', host: 'ann', data: 'failed' };
  const body = JSON.stringify([event, event, { ...event, host: 'cy' }]);
  const headers = { 'Content-Type': 'application/json' };
  expect((await root.fetch('/api/events/', { method: 'POST', headers, body })).status).toBe(201);
});
afterAll(() => svc[Symbol.asyncDispose]());

async function ask(client: Client, body: unknown, init: RequestInit = {}) {
  const response = await client.fetch('/api/sql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(typeof body === 'string' ? { sql: body } : body),
    ...init,
  });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}

async function rows(body: unknown, client = user): Promise<unknown> {
  const { status, text } = await ask(client, body);
  return status === 200 ? JSON.parse(text).rows : text;
}

async function problem(body: unknown, client = user) {
  const { status, text } = await ask(client, body);
  const { error, code, offset, length, suggestion } = JSON.parse(text);
  return { status, error, code, offset, length, suggestion };
}

describe('tables', () => {
  test('are datasets of any kind by their public names, and join', async () => {
    const sql =
      'select p.city, sum(o.amount) as total, rank() over (order by sum(o.amount) desc) as place from "sales/orders" o join people p on p.name = o.customer group by p.city order by place';
    expect(await rows(sql)).toEqual([
      { city: 'Linz', total: 12.5, place: 1 },
      { city: 'Graz', total: 7, place: 2 },
    ]);
  });

  test('have the values of rows: blanks are NULL, dates sort, booleans and lists stay what they are', async () => {
    expect(await rows('select * from "sales/orders" where id in (1, 3)')).toEqual([
      { id: 1, customer: 'ann', amount: 12.5, paid: true, day: '2024-02-03' },
      { id: 3, customer: 'ann', amount: null, paid: true, day: null },
    ]);
    expect(
      await rows('select count(*) n, count(amount) a, sum(paid) p from "sales/orders"'),
    ).toEqual([{ n: 4, a: 3, p: 2 }]);
    expect(
      await rows('select day from "sales/orders" where day > \'2024-02-10\' order by day'),
    ).toEqual([{ day: '2024-02-14' }, { day: '2024-12-05' }]);
    expect(
      await rows("select tags, json_array_length(tags) n from people where name = 'ann'"),
    ).toEqual([{ tags: ['a', 'b'], n: 2 }]);
    // Rows of two selects are not all booleans.
    expect(await rows('select paid from "sales/orders" where id = 1 union all select 5')).toEqual([
      { paid: 1 },
      { paid: 5 },
    ]);
  });

  test('keep integers past 2^53, also as parameters', async () => {
    const { text } = await ask(user, '{"sql":"x"}', {
      body: '{"sql":"select n + 2 as a, :id as b from big where n > 0","params":{"id":9007199254740993}}',
    });
    expect(text).toContain('[{"a":9007199254740993,"b":9007199254740993}]');
  });

  test('keep decimals and unsigned integers to the last digit, across kinds and into a file', async () => {
    const sql =
      'select o.id, t.wide, t.code, t.small * 2 as twice from typed t join "sales/orders" o on o.customer = t.who where o.id <> 3 order by o.id';
    expect(await rows(sql)).toEqual([
      { id: 1, wide: '12345678901234567890123456.78', code: '18446744073709551615', twice: 2.2 },
      { id: 4, wide: -1.5, code: 7, twice: -4.5 },
    ]);
    expect(await rows("select who from typed where code = '18446744073709551615'")).toHaveLength(1);
    const answer = await user.fetch('/api/sql?format=parquet', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ sql: 'select small, wide from typed' }),
    });
    const [first] = await duckRows(new Uint8Array(await answer.arrayBuffer()));
    expect(first!.map(String)).toEqual(['1.10', '12345678901234567890123456.78']);
  });

  test('have columns with names of their own, also where case or the query does not tell them apart', async () => {
    expect(await rows('select * from letters')).toEqual([{ a: 1, A_2: 2, 'q"t': 3 }]);
    expect(await rows('select a, a, "q""t" from letters')).toEqual([{ a: 1, a_2: 1, 'q"t': 3 }]);
  });

  test('are ten at most in one statement', async () => {
    const sum = (names: string[]) => `select count(*) as n from ${names.join(', ')}`;
    expect(await rows(sum(ELEVEN.slice(1)), root)).toEqual([{ n: 1 }]);
    expect(await problem(sum(ELEVEN), root)).toMatchObject({
      status: 422,
      code: 'too_large',
      error: expect.stringContaining('A statement may read 10 datasets'),
    });
  });

  test('are also what queries of the search language answer', async () => {
    const failures = 'index=web failed | stats count as n by host';
    const sql = 'select name, n from people left join failures on host = name order by name';
    expect(await rows({ sql, with: { failures } }, root)).toEqual([
      { name: 'ann', n: 2 },
      { name: 'bob', n: null },
    ]);
    expect(await rows(`-- with failures: ${failures}\n${sql}`, root)).toHaveLength(2);
    // Columns that only the rows tell are no mistake of a statement that is not run.
    const open = { sql: 'select ann from x', with: { x: 'index=web | timechart count by host' } };
    expect((await ask(root, { ...open, check: true })).text).toContain('"valid":true');
    // With the rights of who asks.
    expect(await rows({ sql, with: { failures } })).toEqual([
      { name: 'ann', n: null },
      { name: 'bob', n: null },
    ]);
    expect(await problem({ sql: 'select * from x', with: { x: 'from secret' } })).toMatchObject({
      status: 422,
      error:
        "In the query 'x': Unknown dataset 'secret' or no permission to read it [stage 1, column 6] [line 1, column 15]",
      code: 'unknown_source',
    });
  });
});

describe('parameters and pages', () => {
  test('have names or places', async () => {
    const sql = 'select id from "sales/orders" where customer = :who and paid = $paid';
    expect(await rows({ sql, params: { who: 'ann', paid: true } })).toEqual([{ id: 1 }, { id: 3 }]);
    const second = { sql: 'select ?2 as b, ?1 as a', params: ["x' or 1", null] };
    expect(await rows(second)).toEqual([{ b: null, a: "x' or 1" }]);
    expect(await problem({ sql: 'select :a', params: { b: 1 } })).toMatchObject({
      status: 422,
      error: 'There is no value for the parameter :a [line 1, column 8]',
    });
    expect(await problem({ sql: 'select ?', params: [1, 2] })).toMatchObject({ status: 422 });
  });

  test('limit and offset cut the rows, and the answer says that there are more', async () => {
    const sql = 'select id from "sales/orders" order by id';
    const { text } = await ask(user, { sql, limit: 2, offset: 1 });
    expect(JSON.parse(text)).toMatchObject({
      rows: [{ id: 2 }, { id: 3 }],
      meta: { count: 2, truncated: true, notices: ['Result cut at 2 rows'] },
    });
    expect(await rows({ sql, limit: 2, offset: 4 })).toEqual([]);
    expect((await ask(user, { sql, limit: 101 })).status).toBe(400);
  });

  test.each(['csv', 'ndjson', 'xlsx', 'parquet'])(
    '%s is a file with the same rows',
    async (format) => {
      const { status, text, headers } = await ask(user, {
        sql: 'select id, customer from "sales/orders"',
        format,
      });
      expect([status, headers.get('x-row-limit')]).toEqual([200, '1000000']);
      if (format === 'csv') expect(text).toBe('id,customer\r\n1,ann\r\n2,bob\r\n3,ann\r\n4,cy\r\n');
      if (format === 'ndjson') expect(text.split('\n')[3]).toBe('{"id":4,"customer":"cy"}');
      if (format === 'xlsx') expect(text.slice(0, 2)).toBe('PK');
      if (format === 'parquet') expect(text.slice(0, 4)).toBe('PAR1');
    },
  );
});

describe('errors', () => {
  test.each([
    ['select * form people', 'syntax', 9, 4, "SQL is not understood at 'form'", undefined],
    // SQLite names only the word, which stands in a text and in a comment before.
    [
      "select 'form' /* form */ as form form x",
      'syntax',
      33,
      4,
      "SQL is not understood at 'form'",
      undefined,
    ],
    [
      'select nam from people',
      'unknown_column',
      7,
      3,
      "Unknown column 'nam'; did you mean 'name'?; allowed: city, name, tags",
      'name',
    ],
    [
      'select 1,\n p.nam from people p',
      'unknown_column',
      13,
      3,
      "Unknown column 'p.nam'; did you mean 'name'?; allowed: city, name, tags",
      'name',
    ],
    [
      'select * from peple',
      'unknown_source',
      14,
      5,
      "Unknown dataset 'peple' or no permission to read it; did you mean 'people'?",
      'people',
    ],
    [
      'select uper(1)',
      'unknown_function',
      7,
      4,
      "Unknown function 'uper'; did you mean 'upper'?",
      'upper',
    ],
    ['select * from people where', 'syntax', 21, 5, 'The statement is not complete', undefined],
    ["select 'abc", 'syntax', 7, 4, "Not closed: 'abc", undefined],
    [
      "select '\u{1f600}', nam from people",
      'unknown_column',
      12,
      3,
      "Unknown column 'nam'; did you mean 'name'?; allowed: city, name, tags",
      'name',
    ],
  ] as const)('%s', async (sql, code, offset, length, text, suggestion) => {
    const before = [...sql].slice(0, offset).join('');
    const column = [...before.slice(before.lastIndexOf('\n') + 1)].length + 1;
    const place = `[line ${before.split('\n').length}, column ${column}]`;
    const told = { status: 422, error: `${text} ${place}`, code, offset, length };
    expect(await problem(sql)).toEqual({ ...told, suggestion });
    // The same without running it.
    const { text: checked } = await ask(user, { sql, check: true });
    expect(JSON.parse(checked)).toMatchObject({ valid: false, errors: [{ code, offset, length }] });
  });

  test('a body that is none is told so', async () => {
    for (const body of [
      {},
      { sql: 5 },
      { sql: 'select 1', with: [] },
      { sql: 'select 1', offset: -1 },
    ])
      expect((await ask(user, body)).status).toBe(400);
    expect((await ask(user, '', { body: '{' })).status).toBe(400);
  });
});

describe('rights', () => {
  test('are those of who asks, now', async () => {
    const sql = 'select code from secret';
    expect((await svc.fetch('/api/sql', { method: 'POST', body: '{}' })).status).toBe(401);
    expect((await ask(await svc.as('nobody'), sql)).status).toBe(422);
    expect((await ask(await svc.as('writer'), sql)).status).toBe(422);
    expect(await rows(sql, root)).toEqual([{ code: 'xylophone' }]);
    const late = await svc.as('late');
    expect((await ask(late, sql)).status).toBe(422);
    await svc.accounts.grant('late', 'secret', 'read');
    expect(await rows(sql, late)).toEqual([{ code: 'xylophone' }]);
  });

  test(
    'no statement reaches more than the tables of the caller, writes, or takes more than its share',
    async () => {
      expect(refused.length + stopped.length).toBeGreaterThan(200);
      const state = () => readdirSync(join(svc.stateDir, 'tmp')).length;
      const before = state();
      const wrong: unknown[] = [];
      for (const sql of refused) {
        const { status, text } = await ask(user, { sql, timeout_ms: 20_000 });
        // A name may be repeated, but nothing of what stands there.
        const told = /xylophone|CREATE |\.svc|root:|s[0-9a-f]{32}|"rows":/.exec(text)?.[0];
        if (status !== 422 || told !== undefined)
          wrong.push([sql, status, told, text.slice(0, 200)]);
      }
      for (const sql of stopped) {
        // On a busy machine the next process is not there in time.
        const { status, text } = await eventually(async () => {
          const answer = await ask(user, { sql, timeout_ms: 300 });
          expect(answer.status).not.toBe(503);
          return answer;
        });
        if (status !== 422 && status !== 408)
          wrong.push([sql.slice(0, 99), status, text.slice(0, 200)]);
      }
      expect(wrong).toEqual([]);
      expect(state()).toBe(before);
      expect(await rows('select count(*) n from people')).toEqual([{ n: 2 }]);
      expect(svc.stderr()).not.toMatch(/"level":"error"/);
    },
    patienceFor(60_000),
  );

  test('are those of the reader of a saved search, which is checked when it is saved (SL-197)', async () => {
    const save = (query: string) =>
      root.fetch('/api/savedsearches/?validate=1', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'codes', query, is_public: true }),
      });
    const wrong = await save('select cod from secret');
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("'code'")]);
    expect((await save('select code from secret')).status).toBe(201);
    const saved = (await (await user.fetch('/api/savedsearches/')).json()) as { query: string }[];
    const { query } = saved[0]!;
    expect((await problem(query)).code).toBe('unknown_source');
    expect(await rows(query, root)).toEqual([{ code: 'xylophone' }]);
  });

  test('a statement ends when its reader goes', async () => {
    const sql =
      'with recursive r(x) as (select 1 union all select x + 1 from r) select count(*) from r';
    const leaving = new AbortController();
    const gone = [1, 2].map(() =>
      ask(user, { sql, timeout_ms: 30_000 }, { signal: leaving.signal }),
    );
    // Others are answered meanwhile, and these have arrived by then.
    for (let asked = 0; asked < 5; asked++)
      expect(await rows('select 1 as n', root)).toEqual([{ n: 1 }]);
    leaving.abort();
    expect((await Promise.allSettled(gone)).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    // Both places of the caller are free again.
    expect(await rows('select 1 as n')).toEqual([{ n: 1 }]);
  });
});

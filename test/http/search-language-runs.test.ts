/**
 * Running queries over HTTP: shapes, caps, formats, budgets, rights, and hostile texts (EV-93 to EV-102, reliability B-F, S-Q9).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';
import { patienceFor } from '../support/patience.ts';

let svc: Service;
let root: Client;
let user: Client;

const ROWS = Array.from({ length: 3000 }, (_, index) => `${index},h${index % 7},=1+${index}`);
const WIDE = Array.from({ length: 600 }, (_, at) => `c${at}`);

beforeAll(async () => {
  svc = await startService({
    files: {
      'many.csv': `n,host,formula\n${ROWS.join('\n')}\n`,
      'wide.csv': `${WIDE.join(',')}\n${WIDE.join(',')}\n`,
      'secret.csv': 'a\n1\n',
    },
    config: {
      events: {
        min_free_bytes: 1,
        throttle: { search: '' },
        search: { max_rows: 100, export_max_rows: 2000, memory_bytes: '4MiB' },
      },
    },
  });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.user('user');
  await svc.accounts.grant('user', 'many', 'read');
  await svc.accounts.grant('user', 'wide', 'read');
  root = await svc.as('root');
  user = await svc.as('user');
});
afterAll(() => svc[Symbol.asyncDispose]());

async function run(client: Client, body: unknown, headers: Record<string, string> = {}) {
  const response = await client.fetch('/search2/api/run/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : null,
  };
}

describe('shapes', () => {
  test('days and times without offset are of the zone asked for (EV-95, SL-13)', async () => {
    const query = 'from many | head 1 | eval d=strftime("2026-07-01T23:30:00Z", "%F %z") | table d';
    const told = async (timezone: unknown): Promise<unknown> =>
      (await run(user, { query, timezone })).json.rows[0].d;
    expect(await told('Europe/Berlin')).toBe('2026-07-02 +0200');
    expect(await told('-07:00')).toBe('2026-07-01 -0700');
    // A worker keeps no zone of the query before.
    for (const timezone of [undefined, null, 'UTC'])
      expect(await told(timezone)).toBe('2026-07-01 +0000');
    for (const timezone of [
      'Europe/Nowhere',
      '',
      5,
      '+2',
      '+24:00',
      '../etc',
      {},
      'x'.repeat(999),
    ]) {
      const { status, json } = await run(user, { query, timezone });
      expect([timezone, status, json.code, Object.keys(json)]).toEqual([
        timezone,
        400,
        'bad_request',
        ['error', 'code'],
      ]);
      expect(json.error).toStartWith('timezone must be UTC, an offset');
    }
  });

  test('a blank query has no rows, and says why (EV-93)', async () => {
    for (const query of ['', ' ', '|', ' | | ', undefined]) {
      const { status, json } = await run(user, { query });
      expect(status).toBe(200);
      expect(json).toMatchObject({ rows: [], meta: { count: 0, truncated: false } });
      const isSaid = query === undefined || query.trim() === '';
      expect(json.meta.notices).toEqual(isSaid ? [expect.stringContaining('member "query"')] : []);
    }
  });

  test('the row cap cuts the final rows only and says so (EV-96)', async () => {
    const { json } = await run(user, { query: 'from many' });
    expect(json.meta).toMatchObject({
      count: 100,
      truncated: true,
      notices: ['Result cut at 100 rows'],
    });
    expect(json.meta.columns).toEqual([
      { name: 'n', type: 'number' },
      { name: 'host', type: 'string' },
      { name: 'formula', type: 'string' },
    ]);
    const counted = await run(user, { query: 'from many | stats count' });
    expect(counted.json.rows).toEqual([{ count: 3000 }]);
    expect(counted.json.meta.scanned).toBe(3000);
  });

  test('NDJSON ends with its figures; CSV marks formulas (EV-97)', async () => {
    const lines = await run(user, { query: 'from many | fields n', format: 'ndjson' });
    const rows = lines.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(2001);
    expect(rows[0]).toEqual({ n: 0 });
    expect(rows.at(-1).$meta).toMatchObject({ count: 2000, truncated: true });
    const csv = await run(user, { query: 'from many | head 1' }, { Accept: 'text/csv' });
    expect(csv.text).toBe("n,host,formula\r\n0,h0,'=1+0\r\n");
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="search.csv"');
  });

  test('a hidden column that is shown before append has its cells behind it too (SL-43)', async () => {
    const query = 'from many | head 1 | table _row_id, n | append [ from many | tail 1 ]';
    const { json } = await run(user, { query });
    expect(json.rows).toMatchObject([
      { _row_id: 1, n: 0, host: null },
      { _row_id: 3000, n: 2999, host: 'h3' },
    ]);
  });

  test('explain tells the plan (SL-153)', async () => {
    const { json } = await run(user, {
      query: 'from many | where n>2990 | table n',
      explain: true,
    });
    expect(json.meta.plan).toMatchObject({ sql_stages: 1, index_used: false });
    expect(json.meta.plan.stages.map((stage: { rows_out: number }) => stage.rows_out)).toEqual([
      3000, 9, 9,
    ]);
  });

  test('wrong requests are told as problems (EV-95, EV-100)', async () => {
    const cases: [unknown, string][] = [
      [{ query: 5 }, 'query must be a string'],
      [[], 'Expected a JSON object with a query'],
      [{ query: '*', limit: 0 }, 'limit must be a whole number from 1 to 100'],
      [{ query: '*', params: { 'a-b': 1 } }, "'a-b' is not a name for params"],
      [{ query: '*', format: 'xml' }, 'format must be one of json, ndjson, csv, xlsx, parquet'],
    ];
    for (const [body, error] of cases) {
      const { status, json } = await run(user, body);
      expect({ status, json }).toEqual({ status: 400, json: { error, code: 'bad_request' } });
    }
    const bad = await run(user, '{');
    expect(bad.status).toBe(400);
    expect(bad.json.detail).toStartWith('JSON parse error');
    expect((await svc.fetch('/search2/api/run/', { method: 'POST' })).status).toBe(401);
  });
});

describe('rights', () => {
  test('unreadable and unknown datasets are indistinguishable (SL-45)', async () => {
    const secret = await run(user, { query: 'from secret' });
    const unknown = await run(user, { query: 'from secrex' });
    expect(secret.json.error.replace('secret', 'X')).toBe(
      unknown.json.error.replace('secrex', 'X'),
    );
    expect((await run(root, { query: 'from secret' })).json.rows).toEqual([{ a: 1 }]);
    for (const query of [
      'from many | append FROM secret',
      'from many | lookup secret a',
      'from many | append [ from secret ]',
      'from many | join --on=\'["a"]\' --model=dataset.secret',
    ]) {
      expect((await run(user, { query })).json.code).toBe('unknown_source');
    }
    expect((await run(user, { query: 'from audit' })).json.error).toContain(
      'No permission to read audit',
    );
    expect((await run(root, { query: 'from audit | head 1' })).status).toBe(200);
    expect((await run(user, { query: '* | stats count' })).json.rows).toEqual([{ count: 0 }]);
  });

  test('an edit of the file is seen by the next query (SL-45)', async () => {
    const query = 'from edited | stats sum(x) AS s';
    svc.write('edited.csv', 'x\n1\n2\n');
    await until(async () => (await run(root, { query })).json.rows?.[0]?.s === 3);
    svc.write('edited.csv', 'x\n1\n2\n40\n');
    expect((await run(root, { query })).json.rows).toEqual([{ s: 43 }]);
  });
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceFor(20_000);
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error('it did not become true');
    await Bun.sleep(50);
  }
}

describe('hostile queries', () => {
  test('as many terms as a search may have, in one stage and in many, are no failure', async () => {
    const { status } = await root.fetch('/api/events/', {
      method: 'POST',
      body: JSON.stringify({ data: Array.from({ length: 999 }, (_, n) => `t${n}`).join(' ') }),
    });
    expect(status).toBe(201);
    const all = Array.from({ length: 999 }, (_, n) => `t${n}`);
    const stages = Array.from(
      { length: 99 },
      (_, n) => `search ${all.slice(n * 10, n * 10 + 10).join(' ')}`,
    );
    const stars = `${all.slice(0, 500).join('*')}`;
    for (const query of [all.join(' '), stages.join(' | '), stars]) {
      const found = await run(root, { query: `${query} | stats count` });
      expect([found.status, found.json.rows]).toEqual([200, [{ count: 1 }]]);
    }
  });

  test('a sort over its memory budget says so at its stage (EV-98)', async () => {
    const big = Array.from({ length: 6 }, () => 'append [ from many ]').join(' | ');
    const { status, json } = await run(root, { query: `from many | ${big} | sort -n` });
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'memory_budget' });
    expect(json.error).toStartWith('Query exceeded its memory budget of 4 MiB');
  });

  const LONG = `eval s="0123456789"${' | eval s=s . s'.repeat(12)}`;
  const outgrown: Record<string, [query: string, stage: number]> = {
    'doubled stage by stage': [
      `from many | eval a="0123456789"${' | eval a=a . a'.repeat(28)}`,
      20,
    ],
    'doubled in one stage': [`from many | eval a=formula${', a=a . a'.repeat(31)}`, 2],
    'doubled in the flag form': [
      `search --model=dataset.many | annotate${" --set='formula=Concat(formula, formula)'".repeat(31)}`,
      2,
    ],
    'doubled and counted': [
      `from many | eval a=host${', a=a . a'.repeat(31)} | stats count BY a`,
      2,
    ],
    'past what the runtime holds, inside of an expression': [
      `from many | ${LONG} | eval n=len(mvjoin(split(s . s . s, ""), s . s . s))`,
      15,
    ],
    'put in place of every match': [
      `from many | ${LONG} | eval n=len(replace(s . s . s, "", s . s . s))`,
      15,
    ],
    'in a list': [`from many | ${LONG} | stats list(s) AS l | eventstats list(l)`, 15],
    'among distinct ones': [`from many | ${LONG} | eval s=s . n | stats values(s)`, 16],
  };

  test.each(Object.entries(outgrown))(
    'values that outgrow memory say so, %s (SL-152)',
    async (_case, [query, stage]) => {
      for (const format of ['json', 'csv', 'parquet']) {
        const { status, json } = await run(user, { query, format });
        expect({ query, format, status, ...json }).toMatchObject({
          status: 400,
          code: 'memory_budget',
          stage,
        });
      }
    },
    60_000,
  );

  test('a pattern made of a row is refused at its stage, also where SQL counts (SL-150)', async () => {
    const { json } = await run(user, {
      query: 'from many | where match(host, "(" . host) | stats count BY host',
    });
    expect(json).toMatchObject({ code: 'bad_regex', stage: 2, command: 'where' });
  });

  test('a join that explodes ends at a budget, and the service answers on', async () => {
    const query =
      'from many | fields host | join host [ from many | fields host ] | join host [ from many | fields host ] | stats count';
    const { status, json } = await run(root, { query, timeout_ms: 2000 });
    expect(status).toBe(400);
    expect(['memory_budget', 'time_budget']).toContain(json.code);
    expect((await run(user, { query: 'from many | head 1' })).status).toBe(200);
  });

  test('any text is answered with rows or a problem', async () => {
    const texts = [
      '"',
      'AND',
      'a OR',
      'NEAR(',
      'col:x',
      '-x',
      '*',
      '^',
      '{a b}:x',
      '('.repeat(500),
      'x'.repeat(60_000),
      'y'.repeat(100_000),
      Array.from({ length: 2000 }, (_, n) => `w${n}`).join(' '),
      "' UNION SELECT * FROM users --",
      ';ATTACH "x" AS y',
      'load_extension("x")',
      'from many | bogus',
      'from sqlite_master',
      "from '../../etc/passwd'",
      'search --model=dataset.users',
      "search --filter='__proto__=1'",
      'from many | eval __proto__=1',
      'from many | where __proto__.x=1',
      'from many | rename --mapping=\'{"n":"__proto__"}\'',
      'from many | eval x=attach("a")',
      'earliest=9999-12-31 latest=0001-01-01',
      '* | timechart span=1s count',
      'from many | rex "(?<a>(a+)+)$"',
      'from many | where match(host, "(?=x)")',
      'x | append [ '.repeat(9),
      'from many | stats count BY constructor',
      '\u0000',
      '\ud800',
      'from many | head 99999999999999999999',
      'from many | eval a="' + '\\'.repeat(1000) + '"',
    ];
    for (const query of texts) {
      const { status, json } = await run(root, { query });
      expect({ query: query.slice(0, 80), isGood: status === 200 || status === 400 }).toEqual({
        query: query.slice(0, 80),
        isGood: true,
      });
      if (status === 400) expect(json.error ?? json.detail).toBeString();
    }
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('at most two run at once for a user, others wait (EV-98)', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => run(user, { query: 'from many | stats count' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const flood = await Promise.all(
      Array.from({ length: 40 }, () =>
        run(user, { query: 'from many | sort -formula | stats count' }),
      ),
    );
    const refused = flood.filter(({ status }) => status === 429);
    expect(flood.every(({ status }) => status === 200 || status === 429)).toBe(true);
    for (const { json } of refused) expect(json.detail).toBe('Too many searches running.');
  });
});

describe('checking and describing', () => {
  const ask = async (path: string, body: unknown): Promise<any> => {
    const response = await user.fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.json();
  };

  test('validate tells columns beside placeholders nobody gave a value (EV-102)', async () => {
    const columns = async (query: string): Promise<unknown> => {
      const told = await ask('/search2/api/validate/', { query });
      expect([query, told.valid, told.errors]).toEqual([query, true, []]);
      return told.columns;
    };
    expect(await columns('from many | where host="{h}" | head {n} | table n, host')).toEqual([
      'n',
      'host',
    ]);
    expect(await columns('from many | eval day="{t:%d.%m.%Y}" | fields day')).toEqual(['day']);
    expect(await columns('from many | eval a="{h}" | stats count BY host')).toEqual([
      'host',
      'count',
    ]);
    expect(await columns('search --model={m} | groupby --keys=\'["host"]\'')).toBeNull();
    expect(await columns('from many | groupby --keys=\'["host"]\' --out={o}')).toBeNull();
  });

  test('of very many possibilities 500 are told, and that there are more (SL-171)', async () => {
    const told = (path: string) => ask(path, { query: 'from wide | table nope' });
    const { allowed, allowed_truncated } = await told('/search2/api/run/');
    const all = ['_row_id', ...WIDE].sort();
    expect([allowed, allowed_truncated]).toEqual([all.slice(0, 500), true]);
    const { errors } = await told('/search2/api/validate/');
    expect([errors[0].allowed, errors[0].allowed_truncated]).toEqual([all.slice(0, 500), true]);
    const few = await ask('/search2/api/run/', { query: 'from many | table nope' });
    expect(few.allowed).toEqual(['_row_id', 'formula', 'host', 'n']);
    expect(few).not.toHaveProperty('allowed_truncated');
  });

  test('very many members, columns and sorts of one query are no failure (SL-7)', async () => {
    const some = (count: number, one: (at: number) => string): string =>
      Array.from({ length: count }, (_, at) => one(at)).join(', ');
    for (const query of [
      `* | where coalesce(${some(25, (of) => `coalesce(${some(99, (at) => `m${of}_${at}`)})`)})=1 | table id, data`,
      `* | sort ${some(2_500, (at) => ['host', '-index', 'source'][at % 3]!)} | head 1`,
      `from many | sort ${some(2_500, (at) => ['n', '-host', 'formula'][at % 3]!)} | head 1`,
      `from wide | sort ${some(600, (at) => `c${at}`)} | head 1`,
    ])
      expect(await run(user, { query })).toMatchObject({ status: 200 });
  });

  test('validate tells stages, columns, parameters and a canonical text (EV-102)', async () => {
    const good = await ask('/search2/api/validate/', {
      query: 'from many | where n>1 | table n,host',
    });
    expect(good).toEqual({
      valid: true,
      errors: [],
      notices: [],
      stages: [
        { stage: 1, command: 'from', form: 'terse', offset: 0, length: 9 },
        { stage: 2, command: 'where', form: 'terse', offset: 12, length: 9 },
        { stage: 3, command: 'table', form: 'terse', offset: 24, length: 12 },
      ],
      columns: ['n', 'host'],
      parameters: [],
      canonical: 'from many | where n > 1 | table n, host',
    });
    const bad = await ask('/search2/api/validate/', { query: 'from many | where m>1' });
    expect(bad).toMatchObject({
      valid: false,
      errors: [{ code: 'unknown_column', stage: 2 }],
      columns: null,
    });
    const open = await ask('/search2/api/validate/', { query: 'index={idx} | stats count' });
    expect(open).toMatchObject({ valid: true, parameters: ['idx'], columns: ['count'] });
  });

  test('commands describes every command, function and readable source (EV-101)', async () => {
    const response = await user.fetch('/search2/api/commands/');
    const language = (await response.json()) as {
      version: number;
      commands: { name: string; flags: unknown[] }[];
      sources: string[];
    };
    expect(language.version).toBe(1);
    expect(language.commands).toHaveLength(33);
    expect(language.sources).toEqual(['events', 'many', 'wide']);
    const head = language.commands.find(({ name }) => name === 'head')!;
    expect(head).toMatchObject({ forms: ['flag', 'terse'], row_wise: false });
    expect(head.flags[0]).toEqual({
      name: 'n',
      type: 'int',
      required: false,
      repeatable: false,
      default: 10,
      help: 'number of rows',
    });
  });
});

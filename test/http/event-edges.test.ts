/**
 * Events where clients and values are odd: what a histogram splits by, requests of shippers that are none, names of columns
 * that look like calls.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { answered } from '../support/send.ts';

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.accounts.user('root', { superuser: true });
  root = await svc.as('root');
});
afterAll(() => svc?.[Symbol.asyncDispose]());

const post = (path: string, body: unknown) => answered(root, 'POST', path, body);

describe('a histogram splits by what a search means by the name (EV-80, SL-41)', () => {
  beforeAll(async () => {
    const fields = [
      { ok: true, 'a.b': 'dotted', n: 1 },
      { ok: true, a: { b: 'nested' }, n: 1.0 },
      { ok: false, a: [{ b: 'first' }], n: '1' },
      { ok: 1, n: 2.5 },
      { ok: 'true', n: [1, 'x'] },
    ];
    const events = fields.map((extracted_fields) => ({
      index: 'split',
      data: 'x',
      extracted_fields,
    }));
    expect((await post('/api/events/', events)).status).toBe(201);
  });

  const cases: [string, Record<string, number>][] = [
    ['ok', { true: 3, false: 1, '1': 1 }],
    ['extracted_fields.ok', { true: 3, false: 1, '1': 1 }],
    ['a.b', { dotted: 1, nested: 1, NULL: 3 }],
    ['a.0.b', { first: 1, NULL: 4 }],
    ['n', { '1': 3, '2.5': 1, '[1,"x"]': 1 }],
    ['index', { split: 5 }],
  ];
  test.each(cases)('%s', async (by, expected) => {
    // A query is another way to the same rows.
    for (const more of ['', '&query=data%3Dx']) {
      const at = `/api/events/histogram?index=split&interval=1d&by=${by}${more}`;
      const { buckets, series } = (await (await root.fetch(at)).json()) as {
        buckets: { series: Record<string, number> }[];
        series: string[];
      };
      const sums = Object.fromEntries(
        series.map((name) => [name, buckets.reduce((sum, one) => sum + one.series[name]!, 0)]),
      );
      expect(sums).toEqual(expected);
    }
  });
});

test('what has no value takes the place of none that has one, as in timechart (EV-80)', async () => {
  const at = '/api/events/histogram?index=split&interval=1d&by=a.b&limit=1';
  const { buckets, series } = (await (await root.fetch(at)).json()) as {
    buckets: { series: Record<string, number> }[];
    series: string[];
  };
  expect(series).toEqual(['dotted', 'OTHER', 'NULL']);
  expect(buckets.at(-1)!.series).toEqual({ dotted: 1, OTHER: 1, NULL: 3 });
});

test('a column whose name looks like a call is a column in lists of columns (SL-51)', async () => {
  const run = async (query: string): Promise<unknown> =>
    (await post('/search2/api/run/', { query })).body.rows;
  const made = `search --model=events.Event --filter='index=split' | stats dc(data) BY index`;
  expect(await run(`${made} | groupby --keys='["dc(data)"]'`)).toEqual([
    { 'dc(data)': 1, count: 1 },
  ]);
  expect(await run(`${made} | search --select='["dc(data)"]'`)).toEqual([{ 'dc(data)': 1 }]);
  expect(
    await run(`${made} | sort --fields='["-dc(data)"]' | unique --fields='["dc(data)"]'`),
  ).toEqual([{ 'dc(data)': 1 }]);
});

test.each([
  [[]],
  ['logs'],
  [{ resourceLogs: 5 }],
  [{ resourceLogs: [5] }],
  [{ resourceLogs: [{ scopeLogs: {} }] }],
  [{ resource_logs: [{ scope_logs: [{ log_records: 'x' }] }] }],
])(
  'a request of OTLP whose records cannot be found is refused, not taken for an empty one: %j (EV-65)',
  async (body) => {
    const { status, body: answer } = await post('/v1/logs', body);
    expect([status, answer.code]).toEqual([400, 3]);
  },
);

test('requests of OTLP without records are fine', async () => {
  for (const body of [{}, { resourceLogs: [] }, { resourceLogs: [{ scopeLogs: [{}] }, {}] }])
    expect(await post('/v1/logs', body)).toEqual({ status: 200, body: { partialSuccess: {} } });
});

test.each(['_search', '_cat', '_bulkk', '_data_stream'])(
  'what Elasticsearch has and this does not is not found: %s (EV-73)',
  async (name) => {
    for (const method of ['GET', 'PUT', 'HEAD'])
      expect((await root.fetch(`/elastic/${name}`, { method })).status).toBe(404);
    expect((await root.fetch('/elastic/logs-2026')).status).toBe(200);
  },
);

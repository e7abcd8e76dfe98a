/**
 * Bad and strange input to `POST /api/events/`, row by row (reliability B-I and B-J), with the statuses of the contract: never a
 * 500, nothing half stored, and what is accepted comes back as it was sent.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

let svc: Service;
let root: Client;
let key: string;
beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.accounts.user('root', { superuser: true });
  key = await svc.accounts.apiKey('root');
  root = svc.withHeaders({ 'X-API-Key': key });
});
afterAll(() => svc[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  // The shapes of answers are what these tests are about.
  readonly body: any;
}

async function post(
  body: string | Uint8Array,
  headers: Record<string, string> = { 'Content-Type': 'application/json' },
): Promise<Answer> {
  const init = { method: 'POST', body: body as Bun.BodyInit, headers };
  const response = await root.fetch('/api/events/', init);
  return { status: response.status, body: await response.json() };
}

async function total(): Promise<number> {
  const response = await root.fetch('/api/events/?limit=1&count=1');
  return Number(response.headers.get('x-total-count'));
}

/** JSON of so many containers, one in the other, the event itself being the first. */
const nested = (depth: number): string =>
  `{"data":"x","extracted_fields":${'{"a":'.repeat(depth - 1)}1${'}'.repeat(depth - 1)}}`;
const PARSE_ERROR = expect.objectContaining({
  detail: expect.stringMatching(/^JSON parse error - .+: line \d+ column \d+ \(char \d+\)$/),
});
const typed = (name: string) => ({
  non_field_errors: [`Invalid data. Expected a dictionary, but got ${name}.`],
});
const of = (value: unknown): string => JSON.stringify(value);
const MIB = 2 ** 20;

describe('B-J refused', () => {
  test.each<[string, string | Uint8Array, number, unknown]>([
    ['nothing', '', 400, PARSE_ERROR],
    ['white space', ' \r\n\t', 400, PARSE_ERROR],
    ['null', 'null', 400, { non_field_errors: ['No data provided'] }],
    ['a text', '"x"', 400, typed('str')],
    ['a number', '1', 400, typed('int')],
    ['a boolean', 'true', 400, typed('bool')],
    ['a list of lists', '[[]]', 400, [typed('list')]],
    ['cut off', '{"data":"x"', 400, PARSE_ERROR],
    ['cut off in a text', '{"data":"x', 400, PARSE_ERROR],
    ['a trailing comma', '{"data":"x",}', 400, PARSE_ERROR],
    ['a comment', '{"data":"x"} // y', 400, PARSE_ERROR],
    ['single quotes', "{'data':'x'}", 400, PARSE_ERROR],
    ['a byte order mark', '\ufeff{"data":"x"}', 400, PARSE_ERROR],
    ['UTF-16', Buffer.from('{"data":"x"}', 'utf16le'), 400, PARSE_ERROR],
    ['no UTF-8', Buffer.from('{"data":"\xff"}', 'latin1'), 400, PARSE_ERROR],
    ['two values', '{"data":"x"}{"data":"y"}', 400, PARSE_ERROR],
    ['NaN', '{"data":"x","extracted_fields":{"n":NaN}}', 400, PARSE_ERROR],
    ['Infinity', '{"data":"x","extracted_fields":-Infinity}', 400, PARSE_ERROR],
    ['a control character', '{"data":"a\u0001"}', 400, PARSE_ERROR],
    ['a lone surrogate', '{"data":"\\ud800"}', 400, PARSE_ERROR],
    ['a lone low surrogate', '{"data":"\\udc00x"}', 400, PARSE_ERROR],
    ['NUL', '{"data":"a\\u0000"}', 400, { data: ['Null characters are not allowed.'] }],
    ['33 levels', nested(33), 400, PARSE_ERROR],
    ['200,000 levels', '['.repeat(200_000), 400, PARSE_ERROR],
    ['200,000 levels of objects', nested(200_000), 400, PARSE_ERROR],
    [
      'one byte over 1 MiB',
      of({ data: 'x'.repeat(MIB + 1) }),
      400,
      { data: [`Ensure this field has no more than ${MIB} bytes.`] },
    ],
    [
      '1,001 members',
      of({
        data: 'x',
        extracted_fields: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [at, at])),
      }),
      400,
      { extracted_fields: ['Ensure this field has no more than 1000 members.'] },
    ],
    [
      'a million elements',
      `[${'1,'.repeat(999_999)}1]`,
      413,
      { detail: 'Too many events in one request (maximum 100000)' },
    ],
    [
      'wrong types in every member',
      of({ index: [], sourcetype: {}, source: true, host: null, data: false }),
      400,
      {
        index: ['Not a valid string.'],
        sourcetype: ['Not a valid string.'],
        source: ['Not a valid string.'],
        host: ['This field may not be null.'],
        data: ['Not a valid string.'],
      },
    ],
  ])('%s', async (_, body, status, expected) => {
    const before = await total();
    const answer = await post(body);
    expect([answer.status, answer.body]).toEqual([status, expected]);
    expect(await total()).toBe(before);
  });
});

describe('B-J accepted', () => {
  test.each<[string, string, object]>([
    ['an unknown member', '{"data":"x","admin":true,"id":7}', { data: 'x' }],
    ['a member twice: the last counts', '{"data":"a","data":"b"}', { data: 'b' }],
    ['1 MiB', of({ data: 'x'.repeat(MIB) }), { data: 'x'.repeat(MIB) }],
    ['32 levels', nested(32), { data: 'x' }],
    [
      'names of prototypes',
      '{"data":"x","__proto__":{"a":1},"constructor":1,"extracted_fields":{"__proto__":1,"constructor":2,"toString":3}}',
      { data: 'x' },
    ],
    ['a number as text', '{"data":5.50}', { data: '5.5' }],
  ])('%s', async (_, body, expected) => {
    const answer = await post(body);
    expect([answer.status, answer.body]).toMatchObject([201, expected]);
  });

  test('digits of numbers are kept, and names of prototypes are ordinary (DS-1, EV-28)', async () => {
    const fields =
      '{"big":12345678901234567890,"exact":1.0,"small":1e-400,"__proto__":{"x":1},"_time":1,"_raw":2,"rowid":3}';
    const made = await root.fetch('/api/events/', {
      method: 'POST',
      body: `{"data":"numbers","extracted_fields":${fields}}`,
    });
    const text = await made.text();
    expect([made.status, text]).toEqual([201, expect.stringContaining(fields)]);
    const { id } = JSON.parse(text) as { id: number };
    const read = await (await root.fetch(`/api/events/${id}/`)).text();
    for (const part of ['12345678901234567890', '1.0', '1e-400', '"__proto__":{"x":1}'])
      expect(read).toContain(part);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test.each([
    [{}, 201],
    [{ 'Content-Type': 'application/json; charset=utf-8' }, 201],
    [{ 'Content-Type': 'application/vnd.x+json' }, 201],
    [{ 'Content-Type': 'text/plain' }, 415],
    [{ 'Content-Type': 'text/csv' }, 415],
    [{ 'Content-Type': 'application/json', 'Content-Encoding': 'br' }, 415],
    [{ 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }, 400],
  ])('EV-6, EV-7 %j', async (headers, status) => {
    const bytes = Buffer.from('{"data":"type"}');
    expect((await post(bytes, headers as Record<string, string>)).status).toBe(status);
  });

  test('a body that ends before its Content-Length stores nothing', async () => {
    const before = await total();
    const { port } = new URL(svc.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    const head = `POST /api/events/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n`;
    await new Promise((done) => socket.write(`${head}{"data":"too short"}`, done));
    await Bun.sleep(50);
    socket.destroy();
    await eventually(async () => {
      const { queue } = (await (await root.fetch('/admin/ingest')).json()) as any;
      expect(queue.bytes).toBe(0);
    });
    expect(await total()).toBe(before);
  });
});

describe('B-I', () => {
  const lines = (...texts: string[]): Promise<Answer> =>
    post(`${texts.join('\n')}\n`, { 'Content-Type': 'application/x-ndjson' });

  test('bad lines are named, the others stored', async () => {
    const { status, body } = await lines(
      of({ data: 'good' }),
      '{"data":',
      nested(33),
      of({ data: 'x'.repeat(MIB + 1) }),
      of({ data: 'x', extracted_fields: { ['k'.repeat(256)]: 1 } }),
      of({ data: 'good too' }),
    );
    expect([status, body.accepted, body.rejected]).toEqual([201, 2, 4]);
    expect(body.errors.map(({ line }: { line: number }) => line)).toEqual([2, 3, 4, 5]);
  });

  test.each([
    ['no time', {}],
    ['1970', { event_time: '1970-01-01T00:00:00Z' }],
    ['the year 9999', { event_time: '9999-12-31T23:59:59.999999Z' }],
    ['a text that is no time', { event_time: 'yesterday' }],
    ['nanoseconds since 1970', { event_time: 1_795_168_800_000_000_000 }],
    ['the year 10000', { event_time: '10000-01-01T00:00:00Z' }],
  ])('%s: accepted, stored as given, created now (EV-30)', async (_, fields) => {
    const startedAt = Date.now();
    const { status, body } = await post(of({ data: 'time', extracted_fields: fields }));
    expect([status, body.extracted_fields]).toEqual([201, fields]);
    expect(Date.parse(body.created)).toBeGreaterThanOrEqual(startedAt - 1);
    expect(Date.parse(body.created)).toBeLessThanOrEqual(Date.now() + 1);
  });

  test('line feeds, escapes and second records in a value stay one event (EV-55)', async () => {
    const data = 'a\r\nb\u001b[31m\u2028{"data":"second"}\n<13>1 - - - - - -';
    const before = await total();
    const { body } = await lines(of({ data }));
    expect([body.accepted, await total()]).toEqual([1, before + 1]);
    const read = (await (
      await root.fetch(`/api/events/${body.first_id}/`)
    ).json()) as Answer['body'];
    expect(read.data).toBe(data);
  });

  test('a histogram by a value of its own in every event keeps the common ones and counts all (EV-80)', async () => {
    const events = 24_000;
    const start = Date.parse('2020-01-01T00:00:00Z');
    for (let from = 0; from < events; from += 4_000) {
      const batch = Array.from({ length: 4_000 }, (_, index) => {
        const at = from + index;
        const minute = new Date(start + (at % 1_900) * 60_000).toISOString();
        const who = at % 8 === 0 ? 'common' : `${at} ${'v'.repeat(1_500)}`;
        return { index: 'many', data: 'x', extracted_fields: { who, event_time: minute } };
      });
      const { status } = await lines(...batch.map(of));
      expect(status).toBe(201);
    }
    const answer = await root.fetch('/api/events/histogram?index=many&interval=1m&by=who&limit=3');
    const body = (await answer.json()) as Answer['body'];
    expect([answer.status, body.total, body.truncated]).toEqual([200, events, false]);
    expect([body.series.length, body.series[0], body.series.at(-1)]).toEqual([
      4,
      'common',
      'OTHER',
    ]);
    expect(body.series_capped).toBe(true);
    let common = 0;
    for (const { count, series } of body.buckets as {
      count: number;
      series: Record<string, number>;
    }[]) {
      expect(Object.values(series).reduce((sum, one) => sum + one, 0)).toBe(count);
      common += series['common']!;
    }
    // Every eighth of them; it is there from the first bucket on, so nothing of it was left out.
    expect(common).toBe(events / 8);
    expect(body.series[1].length).toBeLessThan(1_100);
  });
});

/**
 * The dialects of log clients, request by request: answers, partial failures, refusals in their own words (EV section 9).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { snappyCompress } from 'hysnappy';
import { zstdCompressSync } from 'node:zlib';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';

const NO_SPACE_NEEDED = { min_free_bytes: 1 };
let svc: Service;
let root: Client;
let key: string;
beforeAll(async () => {
  svc = await startService({
    files: { 'web/notes.md': '# hello\n' },
    config: {
      events: { ...NO_SPACE_NEEDED, limits: { max_event_bytes: 4096, max_events: 50 } },
    },
  });
  await svc.accounts.user('root', { superuser: true });
  key = await svc.accounts.apiKey('root');
  root = svc.withHeaders({ 'X-API-Key': key });
  await svc.accounts.grant('shipper', '@events/web', 'write');
});
afterAll(() => svc[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // The shapes of answers are what these tests are about.
  readonly body: any;
}

async function send(
  client: Client,
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Answer> {
  const response = await client.fetch(path, {
    method,
    headers,
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: body as Bun.BodyInit }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  };
}

/** The newest events, oldest first. */
async function newest(count: number): Promise<any[]> {
  const response = await root.fetch(`/api/events/?ordering=-id&limit=${count}`);
  return ((await response.json()) as unknown[]).toReversed();
}

async function total(): Promise<number> {
  const response = await root.fetch('/api/events/?limit=1&count=1');
  return Number(response.headers.get('x-total-count'));
}

describe('Splunk HEC (EV-66 to EV-70)', () => {
  const hec = (body: string, headers = {}, path = '/services/collector') =>
    send(root, path, body, headers);

  test('H22 good events are stored and the bad one is named', async () => {
    const { status, body } = await hec(
      '{"event":"a","time":1795168800.25}{"event":""}{"event":{"k":1},"index":"web"}',
    );
    expect([status, body]).toEqual([
      400,
      {
        text: 'Event field cannot be blank',
        code: 13,
        'invalid-event-number': 1,
        accepted: 2,
        rejected: 1,
        errors: [{ line: 1, index: 1, text: 'Event field cannot be blank', code: 13 }],
      },
    ]);
    expect(await newest(2)).toMatchObject([
      {
        data: 'a',
        source: 'hec',
        host: '127.0.0.1',
        extracted_fields: { event_time: '2026-11-20T10:00:00.250000Z' },
      },
      { index: 'web', sourcetype: 'json', data: '{"k":1}', extracted_fields: { k: 1 } },
    ]);
  });

  test.each([
    ['an array of objects', '[{"event":"a"},\n {"event":"b"}]', 2],
    ['objects on lines', '{"event":"a"}\r\n\r\n{"event":"b"}\n', 2],
    ['objects over lines', '{\n"event":\n"a"\n}\n{"event":"}{"}', 2],
    ['a byte order mark is no part of it', '{"event":"a"}', 1],
  ])('EV-66 %s', async (_, body, count) => {
    expect((await hec(body)).body).toEqual({ text: 'Success', code: 0 });
    expect(await newest(count)).toHaveLength(count);
  });

  test('EV-66 members of the entry, of the query, and fields below what extraction finds', async () => {
    const { status } = await hec(
      JSON.stringify({
        event: '{"a":1}',
        time: '1795168800.5',
        host: 'alpha',
        source: 5,
        sourcetype: 'json',
        fields: { a: 9, b: 'x' },
      }),
      {},
      '/services/collector/event/1.0?index=web&host=never',
    );
    expect(status).toBe(200);
    expect(await newest(1)).toMatchObject([
      {
        index: 'web',
        host: 'alpha',
        source: '5',
        sourcetype: 'json',
        extracted_fields: { a: 1, b: 'x', event_time: '2026-11-20T10:00:00.500000Z' },
      },
    ]);
  });

  test.each([
    ['{"event":null}', 12],
    ['{"fields":{}}', 12],
    ['{"event":"  "}', 13],
    ['{"event":"a","fields":[1]}', 15],
    ['{"event":"a","time":"soon"}', 6],
    ['{"event":"a","time":1795168800000000000}', 6],
    ['{"event":"a","host":{}}', 6],
    [`{"event":"a","host":"${'h'.repeat(256)}"}`, 6],
    [`{"event":"${'x'.repeat(5000)}"}`, 6],
    [`{"event":${'['.repeat(40)}${']'.repeat(40)}}`, 6],
    ['{"event":NaN}', 6],
    ['nonsense', 6],
    ['5', 6],
  ])('EV-67 %s is refused with code %d and the next one stored', async (bad, code) => {
    const { status, body } = await hec(`${bad}\n{"event":"after"}`);
    expect([status, body.code, body.accepted, body.rejected]).toEqual([400, code, 1, 1]);
    expect(await newest(1)).toMatchObject([{ data: 'after' }]);
  });

  test('EV-67 after a syntax error reading goes on at the next line that starts with {', async () => {
    const { body } = await hec(
      '{"event":"a"\n"x"}\n{"event":"b"}\n{"event":"c","x":\n{"event":"d"}',
    );
    expect(body).toMatchObject({ accepted: 2, rejected: 2 });
    expect(body.errors.map(({ line }: { line: number }) => line)).toEqual([1, 4]);
    expect((await newest(2)).map(({ data }) => data)).toEqual(['b', 'd']);
  });

  test('EV-65 an empty body, too many events, and a body that is no JSON at all', async () => {
    const before = await total();
    expect(await hec(' \n')).toMatchObject({ status: 400, body: { text: 'No data', code: 5 } });
    expect(await hec('{"event":"a"}'.repeat(51))).toMatchObject({
      status: 413,
      body: { text: 'Request entity too large', code: 27 },
    });
    expect(await hec('\u0000\u0001\u0002')).toMatchObject({ status: 400, body: { code: 6 } });
    expect(await total()).toBe(before);
  });

  test('EV-55, EV-62 one event in, one event out, whatever it holds', async () => {
    const text = 'a\u2028b\u001b[31m\r\n{"event":"fake"}\n2026-11-20 fake';
    await hec(JSON.stringify({ event: `${text}\r\n` }));
    expect((await newest(1))[0].data).toBe(text);
    const bytes = Buffer.concat([
      Buffer.from('{"event":"bad \xff byte","sourcetype":"nul\\u0000"}', 'latin1'),
    ]);
    expect((await send(root, '/services/collector', bytes)).status).toBe(200);
    expect(await newest(1)).toMatchObject([{ data: 'bad \ufffd byte', sourcetype: 'nul\ufffd' }]);
  });

  test('EV-68 raw: lines, with the metadata of the query', async () => {
    const { status, body } = await send(
      root,
      '/services/collector/raw?sourcetype=kv&index=web&source=s&host=h',
      '  a=1 b=2\r\n\n \nc=3 d="4"',
    );
    expect([status, body]).toEqual([200, { text: 'Success', code: 0 }]);
    expect(await newest(2)).toMatchObject([
      { data: '  a=1 b=2', index: 'web', source: 's', host: 'h', extracted_fields: { a: 1, b: 2 } },
      { data: 'c=3 d="4"', extracted_fields: { c: 3, d: '4' } },
    ]);
  });

  test('EV-69 acknowledgements count by credential and channel, over a restart', async () => {
    const channel = crypto.randomUUID();
    const header = { 'X-Splunk-Request-Channel': channel };
    expect((await hec('{"event":"a"}', header)).body).toEqual({
      text: 'Success',
      code: 0,
      ackId: 0,
    });
    expect((await hec('{"event":"a"}{}', header)).body.ackId).toBeUndefined();
    const upper = `/services/collector/raw?channel=${channel.toUpperCase()}`;
    expect((await send(root, upper, 'x')).body.ackId).toBe(1);
    await svc.restart();
    const ask = (body: string, headers: Record<string, string> = header) =>
      send(root, '/services/collector/ack', body, headers);
    expect((await ask('{"acks":[0,1,2]}')).body).toEqual({ acks: { 0: true, 1: true, 2: false } });
    expect((await hec('{"event":"a"}', header)).body.ackId).toBe(2);
    expect(await ask('{"acks":[0]}', {})).toMatchObject({ status: 400, body: { code: 10 } });
    expect(await ask('{"acks":["x"]}')).toMatchObject({ status: 400, body: { code: 6 } });
    expect(await hec('{"event":"a"}', { 'X-Splunk-Request-Channel': 'no' })).toMatchObject({
      status: 400,
      body: { text: 'Invalid data channel', code: 11 },
    });
    const other = svc.withHeaders({ Authorization: `Splunk ${await svc.accounts.apiKey('root')}` });
    const foreign = await send(other, '/services/collector/ack', '{"acks":[0]}', header);
    expect(foreign.body).toEqual({ acks: { 0: false } });
  });

  test('EV-70 health needs no credential', async () => {
    for (const method of ['GET', 'POST']) {
      expect(await send(svc, '/services/collector/health', '', {}, method)).toMatchObject({
        status: 200,
        body: { text: 'HEC is healthy', code: 17 },
      });
    }
  });

  test('EV-49 a repeat with one Idempotency-Key is stored once', async () => {
    const headers = { 'Idempotency-Key': 'k1', 'X-Splunk-Request-Channel': crypto.randomUUID() };
    const first = await hec('{"event":"once"}', headers);
    const before = await total();
    const again = await hec('{"event":"once"}', headers);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await total()).toBe(before);
    expect((await hec('{"event":"twice"}', headers)).status).toBe(422);
  });

  test('EV-38 a dry run stores nothing and shows the events', async () => {
    const before = await total();
    const { body } = await hec('{"event":"a"}', {}, '/services/collector?dry_run=1');
    expect(body).toMatchObject({ text: 'Success', code: 0, dry_run: [{ id: null, data: 'a' }] });
    expect(await total()).toBe(before);
  });
});

describe('Elasticsearch _bulk (EV-71 to EV-73)', () => {
  const bulk = (body: string, path = '/_bulk', headers = {}) => send(root, path, body, headers);

  test('H23 items in order, with the id of the event', async () => {
    const { status, body, headers } = await bulk(
      '{"create":{}}\n{"@timestamp":1795168800000,"m":"x","host":{"name":"alpha"}}\n{"delete":{"_id":"1"}}\n',
      '/web/_bulk',
    );
    const [event] = await newest(1);
    expect(status).toBe(200);
    expect(headers.get('x-elastic-product')).toBe('Elasticsearch');
    expect(body).toMatchObject({ errors: true, took: expect.any(Number) });
    expect(body.items).toEqual([
      { create: { _index: 'web', _id: String(event.id), result: 'created', status: 201 } },
      {
        delete: {
          _index: 'web',
          status: 400,
          error: { type: 'illegal_argument_exception', reason: 'line 3: delete is not supported' },
        },
      },
    ]);
    expect(event).toMatchObject({
      index: 'web',
      host: 'alpha',
      sourcetype: 'json',
      source: 'bulk',
      data: '{"@timestamp":1795168800000,"m":"x","host":{"name":"alpha"}}',
      extracted_fields: { m: 'x', event_time: '2026-11-20T10:00:00.000000Z' },
    });
  });

  test('EV-71 the action names the index, other members name time, message, source and host', async () => {
    const document = {
      ts: '2026-11-20T10:00:00.123456789+01:00',
      message: 'the line',
      log: { file: { path: '/var/log/a' } },
      'host.hostname': 'beta',
      n: 1,
    };
    const { body } = await bulk(
      `{"index":{"_index":"audit","_id":"7","pipeline":"p"}}\n${JSON.stringify(document)}`,
      '/elastic/web/_bulk?time_field=ts&message_field=message&refresh=true',
    );
    expect(body).toMatchObject({ errors: false, items: [{ index: { _index: 'audit' } }] });
    const [event] = await newest(1);
    expect(event).toMatchObject({
      index: 'audit',
      data: 'the line',
      source: '/var/log/a',
      host: 'beta',
      extracted_fields: { n: 1, event_time: '2026-11-20T09:00:00.123456Z' },
    });
    expect(event.extracted_fields.message).toBeUndefined();
  });

  test('EV-72 bad documents are item errors, the good ones are stored', async () => {
    const lines = [
      ...['{"index":{}}', '{"a":'],
      ...['{"index":{}}', '[1]'],
      ...['{"update":{"_id":"1"}}', '{"doc":{}}'],
      ...['{"index":{}}', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`],
      ...['{"index":{}}', '{"ok":true}'],
    ];
    const { body } = await bulk(`${lines.join('\n')}\n`);
    const statuses = body.items.map((item: Record<string, any>) => Object.values(item)[0].status);
    expect(statuses).toEqual([400, 400, 400, 400, 201]);
    expect(body.items[0].index.error).toMatchObject({ type: 'mapper_parsing_exception' });
    expect(body.items[0].index.error.reason).toStartWith('line 2: ');
  });

  test.each(['', 'nonsense\n', '{"index":1}\n{}\n', '{"index":{}}\n', '{"a":{},"b":{}}\n{}\n'])(
    'EV-72 an action line that cannot be read (%j) refuses everything',
    async (tail) => {
      const before = await total();
      const { status, body } = await bulk(tail === '' ? '' : `{"index":{}}\n{"a":1}\n${tail}`);
      expect([status, body.error.type, body.status]).toEqual([400, 'parse_exception', 400]);
      expect(await total()).toBe(before);
    },
  );

  test('EV-24 a forbidden index is an error of its item', async () => {
    const shipper = await svc.as('shipper');
    const body = '{"index":{"_index":"web"}}\n{"a":1}\n{"index":{"_index":"secret"}}\n{"a":1}\n';
    const answer = await send(shipper, '/_bulk', body);
    expect(answer.body.items).toMatchObject([
      { index: { status: 201 } },
      { index: { _index: 'secret', status: 403, error: { type: 'security_exception' } } },
    ]);
  });

  test('EV-73 what clients ask first', async () => {
    const get = (path: string) => send(root, path, '', {}, 'GET');
    expect((await get('/elastic/')).body).toMatchObject({
      version: { number: '8.17.0', build_flavor: 'default' },
      tagline: 'You Know, for Search',
    });
    expect((await get('/elastic/_cluster/health')).body.status).toBe('green');
    expect((await get('/elastic/_license')).body.license.status).toBe('active');
    expect((await get('/elastic/_xpack')).body).toEqual({ features: {} });
    expect((await get('/elastic/_nodes/http')).body).toEqual({ nodes: {} });
    for (const path of ['_index_template/logs', '_ilm/policy/x', '_ingest/pipeline/p', 'logs']) {
      expect((await get(`/elastic/${path}`)).body).toEqual({});
      expect((await send(root, `/elastic/${path}`, '', {}, 'HEAD')).status).toBe(200);
      expect((await send(root, `/elastic/${path}`, '{}', {}, 'PUT')).body).toEqual({
        acknowledged: true,
      });
    }
    const unknown = await get('/elastic/logs/_search');
    expect([unknown.status, unknown.body.status]).toEqual([404, 404]);
    expect(unknown.headers.get('x-elastic-product')).toBe('Elasticsearch');
    expect((await send(svc, '/elastic/', '', {}, 'GET')).status).toBe(401);
  });

  test('EV-10 other methods of these paths are a matter of the files', async () => {
    const { status, body } = await send(root, '/web/_bulk', '', {}, 'GET');
    expect([status, body.detail ?? body]).not.toContain(405);
    expect(status).toBe(404);
  });
});

describe('OTLP (EV-74)', () => {
  const otlp = (body: unknown) =>
    send(root, '/v1/logs', typeof body === 'string' ? body : JSON.stringify(body), {
      'Content-Type': 'application/json',
    });
  const request = (logRecords: unknown[], attributes: unknown[] = []) => ({
    resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }],
  });

  test('H24 a record becomes an event', async () => {
    const answer = await otlp(
      request(
        [
          {
            timeUnixNano: '1795168800000000000',
            severityText: 'WARN',
            body: { stringValue: 'hi' },
            attributes: [{ key: 'n', value: { intValue: '3' } }],
          },
        ],
        [{ key: 'host.name', value: { stringValue: 'alpha' } }],
      ),
    );
    expect([answer.status, answer.body]).toEqual([200, { partialSuccess: {} }]);
    const [{ id: _, created: __, updated: ___, ...event }] = await newest(1);
    expect(event).toEqual({
      index: 'default',
      sourcetype: 'otlp',
      source: 'otlp',
      host: 'alpha',
      data: 'hi',
      extracted_fields: {
        n: 3,
        severity: 'WARN',
        resource: { 'host.name': 'alpha' },
        event_time: '2026-11-20T10:00:00.000000Z',
      },
    });
  });

  test('snake_case, numbers of 64 bits, structured bodies, and the time it was observed', async () => {
    const text = `{"resource_logs":[{"scope_logs":[{"scope":{"name":"lib"},"log_records":[{"observed_time_unix_nano":1795168800000000000,
      "severity_number":9,"trace_id":"ABCD","body":{"kvlist_value":{"values":[{"key":"a","value":{"array_value":{"values":[{"bool_value":true},{"double_value":1.5}]}}}]}},
      "attributes":[{"key":"big","value":{"intValue":9007199254740993}}]},{"attributes":[]}]}]}]}`;
    expect((await otlp(text)).body).toEqual({ partialSuccess: {} });
    const response = await root.fetch('/api/events/?ordering=-id&limit=1');
    const written = await response.text();
    expect(written).toContain('"big":9007199254740993');
    expect(JSON.parse(written)).toMatchObject([
      {
        data: '{"a":[true,1.5]}',
        extracted_fields: {
          severity_number: 9,
          trace_id: 'abcd',
          scope: 'lib',
          event_time: '2026-11-20T10:00:00.000000Z',
        },
      },
    ]);
  });

  test('rejected records are counted, the others stored', async () => {
    const answer = await otlp(
      request([
        { timeUnixNano: 'soon', body: { stringValue: 'a' } },
        { body: { stringValue: 'x'.repeat(5000) } },
        { body: { stringValue: 'good' } },
      ]),
    );
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedLogRecords: '2',
          errorMessage: 'a time is no number of nanoseconds',
        },
      },
    ]);
    expect(await newest(1)).toMatchObject([{ data: 'good' }]);
  });

  test.each([
    ['{"resourceLogs":', 'application/json', 400, 3],
    ['[]', 'application/json', 400, 3],
    ['<x/>', 'text/xml', 415, 3],
  ])('EV-65 %j as %s is refused', async (body, type, status, code) => {
    const answer = await send(root, '/v1/logs', body, { 'Content-Type': type });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  test('damaged protobuf is refused as a binary status, and never a 500', async () => {
    const type = { 'Content-Type': 'application/x-protobuf' };
    for (const bytes of [
      [0xff],
      [0x0a, 0x7f],
      [0x0a, 0x02, 0x12, 0x09],
      [0x0f],
      Array(20).fill(0xff),
    ]) {
      const answer = await send(root, '/v1/logs', Uint8Array.from(bytes), type);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        400,
        'application/x-protobuf',
      ]);
    }
    expect((await send(root, '/v1/logs', new Uint8Array(), type)).status).toBe(200);
  });
});

describe('Loki (EV-75)', () => {
  const push = (body: unknown, path = '/loki/api/v1/push') =>
    send(root, path, JSON.stringify(body), { 'Content-Type': 'application/json' });

  test('H25 labels and metadata become fields', async () => {
    const { status } = await push({
      streams: [
        {
          stream: { job: 'app', host: 'beta' },
          values: [['1795168800000000000', 'x', { trace: 't' }]],
        },
      ],
    });
    expect(status).toBe(204);
    expect(await newest(1)).toMatchObject([
      {
        sourcetype: 'loki',
        source: 'app',
        host: 'beta',
        data: 'x',
        extracted_fields: {
          job: 'app',
          host: 'beta',
          trace: 't',
          event_time: '2026-11-20T10:00:00.000000Z',
        },
      },
    ]);
  });

  test('good entries are stored, one line names the first bad one', async () => {
    const answer = await push({
      streams: [
        {
          stream: { index: 'web', sourcetype: 'kv' },
          values: [
            ['1', 'a=1 b=2'],
            ['now', 'b'],
          ],
        },
        { stream: {}, values: 'x' },
        { stream: {}, values: [['1', 5]] },
      ],
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toStartWith('text/plain');
    expect(answer.body).toBe(
      '3 of 4 entries rejected: stream 0 entry 1: the time is no number of nanoseconds\n',
    );
    expect(await newest(1)).toMatchObject([{ index: 'web', extracted_fields: { a: 1, b: 2 } }]);
  });

  test('EV-38 a dry run answers JSON', async () => {
    const streams = [{ stream: {}, values: [['1', 'a']] }];
    const answer = await push({ streams }, '/loki/api/v1/push?dry_run=1');
    expect([answer.status, answer.body.dry_run[0].data]).toEqual([200, 'a']);
  });

  test('a snappy bomb is refused by the size it states, damage as 400', async () => {
    const type = { 'Content-Type': 'application/x-protobuf' };
    const bomb = Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0]);
    expect((await send(root, '/loki/api/v1/push', bomb, type)).status).toBe(413);
    const damaged = [
      Uint8Array.from([5, 0xff]),
      Uint8Array.from([0]),
      new Uint8Array(),
      snappyCompress(Uint8Array.from([0x0a, 0x7f])),
    ];
    for (const bytes of damaged) {
      expect((await send(root, '/loki/api/v1/push', bytes, type)).status).toBe(400);
    }
    const wrong = { 'Content-Type': 'text/csv' };
    expect((await send(root, '/loki/api/v1/push', 'x', wrong)).status).toBe(415);
  });
});

describe('credentials (EV-58, EV-63, EV-65)', () => {
  const PATHS = ['/services/collector', '/_bulk', '/v1/logs', '/loki/api/v1/push'];
  const using = (authorization: string) => svc.withHeaders({ Authorization: authorization });
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test('every form of a key is taken', async () => {
    for (const [path, detail] of [
      ['/api/apikeys/9999/ingest', 'API key not found'],
      ['/admin/api-keys/9999/ingest', 'API Key not found'],
    ] as const) {
      const missing = await root.fetch(path);
      expect([path, missing.status, await missing.json()]).toEqual([path, 404, { detail }]);
    }
    const put = await root.fetch('/api/apikeys/1/ingest', {
      method: 'PUT',
      body: '{"alias":true,"index":"aliased"}',
    });
    const { alias } = (await put.json()) as { alias: string };
    const forms = [key, alias].flatMap((value) => [
      ...['Splunk', 'Bearer', 'Token', 'ApiKey'].map((scheme) => `${scheme} ${value}`),
      `ApiKey ${base64(`id:${value}`)}`,
      `Basic ${base64(`x:${value}`)}`,
    ]);
    for (const form of forms) {
      const answer = await send(using(form), '/services/collector', '{"event":"a"}');
      expect([form, answer.status, answer.body.code]).toEqual([form, 200, 0]);
    }
    expect(await newest(1)).toMatchObject([{ index: 'aliased' }]);
    await root.fetch('/api/apikeys/1/ingest', { method: 'PUT', body: '{}' });
  });

  test('HEC tells what is wrong with a credential', async () => {
    const codeOf = async (client: Client) => {
      const { status, body } = await send(client, '/services/collector', '{"event":"a"}');
      return [status, body.code];
    };
    expect(await codeOf(svc)).toEqual([401, 2]);
    expect(await codeOf(using('Digest x'))).toEqual([401, 3]);
    expect(await codeOf(using('Splunk '))).toEqual([401, 3]);
    expect(await codeOf(using('Splunk a b'))).toEqual([401, 3]);
    expect(await codeOf(using(`Splunk ${crypto.randomUUID()}`))).toEqual([403, 4]);
    expect(await codeOf(await svc.as('stranger'))).toEqual([403, 4]);
    const session = await svc.inBrowserAs('root');
    expect(await codeOf(session)).toEqual([401, 2]);
    await svc.accounts.db.run('UPDATE users SET is_active = 0 WHERE username = ?', ['stranger']);
    expect(await codeOf(await svc.as('stranger'))).toEqual([403, 1]);
    const query = await send(svc, `/services/collector?token=${key}`, '{"event":"a"}');
    expect(query.status).toBe(401);
  });

  test('the others refuse with 401 and 403 in their own shape', async () => {
    const stranger = await svc.as('nobody');
    for (const path of PATHS.slice(1)) {
      const type = { 'Content-Type': 'application/json' };
      expect((await send(svc, path, '{}', type)).status).toBe(401);
      expect((await send(using('Bearer ak_x'), path, '{}', type)).status).toBe(401);
      expect((await send(stranger, path, '{}', type)).status).toBe(403);
    }
    expect((await send(svc, '/_bulk', '')).body).toMatchObject({
      error: { type: 'security_exception' },
      status: 401,
    });
    expect((await send(svc, '/v1/logs', '')).body).toMatchObject({ code: 16 });
    expect((await send(stranger, '/v1/logs', '')).body).toMatchObject({ code: 7 });
  });

  test('EV-58 a key that may only create events opens nothing else', async () => {
    const client = await svc.as('shipper');
    const keys = (await (await client.fetch('/api/apikeys')).json()) as { id: number }[];
    const path = `/admin/api-keys/${Math.max(...keys.map(({ id }) => id))}/ingest`;
    const put = await root.fetch(path, {
      method: 'PUT',
      body: '{"create_only":true,"index":"web"}',
    });
    expect(put.status).toBe(200);
    for (const closed of ['/api/events/', '/api/savedsearches/', '/api/apikeys']) {
      expect([closed, (await client.fetch(closed)).status]).toEqual([closed, 403]);
    }
    expect((await send(client, '/services/collector', '{"event":"a"}')).status).toBe(200);
    expect(
      (await send(client, '/services/collector', '{"event":"a","index":"x"}')).body,
    ).toMatchObject({ code: 7, text: 'Incorrect index' });
    expect((await send(client, '/elastic/', '', {}, 'GET')).status).toBe(200);
    const create = { method: 'POST', body: '{"data":"a"}' };
    expect((await client.fetch('/api/events/', create)).status).toBe(201);
    await root.fetch(path, { method: 'PUT', body: '{}' });
  });

  test('EV-60, EV-61 counters and rejected entries by credential and dialect', async () => {
    await send(root, '/services/collector', '{"event":"good"}{"event":""}');
    const ingest = (await (await root.fetch('/admin/ingest')).json()) as any;
    const mine = ingest.credentials.find(
      (one: any) => one.dialect === 'hec' && one.kind === 'api_key' && one.id === '1',
    );
    expect(mine.accepted).toBeGreaterThan(10);
    expect(mine).toMatchObject({ label: 'root', last_error: 'Event field cannot be blank' });
    expect(ingest.unknown.length).toBeGreaterThan(0);
    expect(ingest.unknown[0].hash).toMatch(/^[0-9a-f]{8}$/);
    const rejects = (await (await root.fetch('/admin/ingest/rejects')).json()) as any[];
    expect(rejects[0]).toMatchObject({
      dialect: 'hec',
      position: 'line 1, event 1',
      reason: 'Event field cannot be blank',
      sample: '{"event":""}',
    });
  });
});

describe('bodies (EV-7, EV-52, EV-53)', () => {
  test('gzip and zstd are read, other codings refused, bombs stopped', async () => {
    const text = '{"event":"packed"}';
    const forms: [string, Uint8Array, number][] = [
      ['gzip', Bun.gzipSync(text), 200],
      ['zstd', zstdCompressSync(text), 200],
      ['deflate', Bun.deflateSync(text), 200],
      ['br', Buffer.from(text), 415],
      ['snappy', Buffer.from(text), 415],
      ['gzip', Buffer.from(text), 400],
    ];
    for (const [coding, body, status] of forms) {
      const answer = await send(root, '/services/collector', body, { 'Content-Encoding': coding });
      expect([coding, answer.status]).toEqual([coding, status]);
    }
    const bomb = Bun.gzipSync(new Uint8Array(300 * 2 ** 20));
    for (const path of ['/services/collector', '/_bulk', '/loki/api/v1/push', '/v1/logs']) {
      const headers = { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' };
      expect([path, (await send(root, path, bomb, headers)).status]).toEqual([path, 413]);
    }
  });

  test('too large a body is refused in the shape of the dialect', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const large = Buffer.alloc(33 * 2 ** 20, 0x20);
    expect((await send(root, '/services/collector', large, headers)).body).toMatchObject({
      code: 27,
    });
    expect((await send(root, '/_bulk', large, headers)).body).toMatchObject({ status: 413 });
    expect((await send(root, '/v1/logs', large, headers)).body).toMatchObject({ code: 3 });
    const loki = await send(root, '/loki/api/v1/push', large, headers);
    expect([loki.status, loki.body]).toEqual([413, 'Request body too large\n']);
  });
});

test('EV-54, EV-14 read-only mode and rates refuse in the shape of the dialect', async () => {
  await using small = await startService({
    config: {
      events: { ...NO_SPACE_NEEDED, throttle: { ingest: '1/hour' }, hec_query_token: true },
    },
  });
  await small.accounts.user('root', { superuser: true });
  const value = await small.accounts.apiKey('root');
  const client = small.withHeaders({ 'X-API-Key': value });
  const query = `/services/collector?token=${value}`;
  expect((await send(small, query, '{"event":"a"}')).status).toBe(200);
  const refused = await send(client, '/services/collector', '{"event":"a"}');
  expect([refused.status, refused.body]).toEqual([429, { text: 'Server is busy', code: 9 }]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  expect((await send(client, '/_bulk', '')).body.error.type).toBe(
    'es_rejected_execution_exception',
  );
  expect((await send(client, '/v1/logs', '')).body).toMatchObject({ code: 8 });
  const loki = await send(client, '/loki/api/v1/push', '');
  expect([loki.status, loki.body]).toEqual([
    429,
    expect.stringMatching(/^Request was throttled\. Expected available in \d+ seconds\.\n$/),
  ]);
});

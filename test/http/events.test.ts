/**
 * Events over HTTP: the worked examples of the contract (EV section 16), lists, changes, rights, repeats, bodies.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync, zstdCompressSync, deflateSync } from 'node:zlib';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { PASSWORD } from '../support/password.ts';
import { send } from '../support/send.ts';

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({
    config: {
      events: { limits: { max_decoded_bytes: '1MiB', max_events: 50 }, min_free_bytes: 1 },
    },
  });
  await svc.createSuperuser('root');
  root = svc.withHeaders({ Authorization: `Basic ${btoa(`root:${PASSWORD}`)}` });
});
afterAll(() => svc[Symbol.asyncDispose]());

const create = (body: unknown, headers?: Record<string, string>, query = '') =>
  send(root, 'POST', `/api/events/${query}`, body, headers);
const NDJSON = { 'Content-Type': 'application/x-ndjson' };

describe('worked examples', () => {
  test('H1 defaults, trimming and numbers as text, members in order (EV-27)', async () => {
    const { status, body } = await create({ data: '  padded  ', host: 5 });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      index: 'default',
      sourcetype: 'default',
      source: 'default',
      host: '5',
      data: 'padded',
      extracted_fields: {},
    });
    expect(Object.keys(body)).toEqual([
      'id',
      'index',
      'sourcetype',
      'source',
      'host',
      'data',
      'created',
      'updated',
      'extracted_fields',
    ]);
    expect(body.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  test('H2 all failing fields together', async () => {
    const { status, body } = await create({ host: ' ', source: null, index: true });
    expect([status, body]).toEqual([
      400,
      {
        index: ['Not a valid string.'],
        source: ['This field may not be null.'],
        host: ['This field may not be blank.'],
        data: ['This field is required.'],
      },
    ]);
  });

  test('H3 to H5 arrays are all or nothing', async () => {
    const before = (await send(root, 'GET', '/api/events/?count=1&limit=1')).headers.get(
      'x-total-count',
    );
    const { status, body } = await create([{ data: 'a' }, { host: 'b' }, 'x']);
    expect([status, body]).toEqual([
      400,
      [
        {},
        { data: ['This field is required.'] },
        { non_field_errors: ['Invalid data. Expected a dictionary, but got str.'] },
      ],
    ]);
    expect(
      (await send(root, 'GET', '/api/events/?count=1&limit=1')).headers.get('x-total-count'),
    ).toBe(before);
    expect(await create([])).toMatchObject({ status: 201, body: [] });
    expect(await create('null')).toMatchObject({
      status: 400,
      body: { non_field_errors: ['No data provided'] },
    });
  });

  test('H6 extraction on create, PATCH and PUT', async () => {
    const made = await create({
      sourcetype: ' JSON ',
      data: '{"a":1}',
      extracted_fields: { a: 9, b: 2 },
    });
    expect(made.body).toMatchObject({ sourcetype: 'JSON', extracted_fields: { a: 1, b: 2 } });
    const path = `/api/events/${made.body.id}/`;
    const patched = await send(root, 'PATCH', path, { data: '{"c":3}' });
    expect([patched.status, patched.body.extracted_fields]).toEqual([200, { b: 2, c: 3 }]);
    const put = await send(root, 'PUT', path, { data: 'plain', sourcetype: 'text' });
    expect(put.body).toMatchObject({
      sourcetype: 'text',
      data: 'plain',
      extracted_fields: { b: 2 },
    });
    expect(put.body.created).toBe(made.body.created);
    expect(put.body.updated > patched.body.updated).toBe(true);
  });

  test('H7 what cannot be extracted yields nothing', async () => {
    const { body } = await create([
      { sourcetype: 'json', data: '[1,2]' },
      { sourcetype: 'json', data: '{"a":NaN}' },
      { sourcetype: 'json', data: '{"a":1}', extracted_fields: [7] },
    ]);
    expect(body.map((event: { extracted_fields: unknown }) => event.extracted_fields)).toEqual([
      {},
      {},
      { a: 1 },
    ]);
  });

  test.each([
    [
      'kv',
      'level=warn took=12, ok=true id=007 q="1 2" path=/a;b=3',
      { level: 'warn', took: 12, ok: true, id: '007', q: '1 2', path: '/a', b: 3 },
    ],
    ['logfmt', 'level=warn debug path=/a;b=3', { level: 'warn', debug: true, path: '/a;b=3' }],
    [
      'auto',
      '<165>1 2026-11-20T10:00:00.5+01:00 alpha app 42 ID1 [x@1 k="v"] hello',
      {
        facility: 20,
        severity: 5,
        severity_name: 'notice',
        event_time: '2026-11-20T09:00:00.500000Z',
        hostname: 'alpha',
        appname: 'app',
        procid: '42',
        msgid: 'ID1',
        structured_data: { 'x@1': { k: 'v' } },
        message: 'hello',
      },
    ],
    [
      'access_combined',
      '10.0.0.7 - bob [20/Nov/2026:10:00:00 +0000] "GET /a?x=1 HTTP/1.1" 404 12 "-" "curl/8"',
      {
        clientip: '10.0.0.7',
        user: 'bob',
        event_time: '2026-11-20T10:00:00.000000Z',
        method: 'GET',
        uri: '/a?x=1',
        uri_path: '/a',
        uri_query: 'x=1',
        protocol: 'HTTP/1.1',
        status: 404,
        bytes: 12,
        useragent: 'curl/8',
      },
    ],
    [
      'json',
      '{"n":12345678901234567890,"f":1.50,"ip":"10.0.0.7"}',
      { n: 12345678901234567890, f: 1.5, ip: '10.0.0.7' },
    ],
    ['kv', '__proto__=x a=1', JSON.parse('{"__proto__":"x","a":1}')],
  ])('H8 to H11 %s', async (sourcetype, data, fields) => {
    const { status, body } = await create({ sourcetype, data });
    expect([status, body.extracted_fields]).toEqual([201, fields]);
  });

  test('H12 wrong parameters, all together', async () => {
    const { status, body } = await send(
      root,
      'GET',
      '/api/events/?created=nonsense&limit=0&ordering=host',
    );
    expect([status, body]).toEqual([
      400,
      {
        created: ['Enter a valid date/time.'],
        limit: ['Enter a whole number from 1 to 10000.'],
        ordering: ['Select a valid choice: id, -id, created, -created.'],
      },
    ]);
  });

  test('H13 and H17: nothing there, nobody there', async () => {
    expect(await send(root, 'GET', '/api/events/99999/')).toMatchObject({
      status: 404,
      body: { detail: 'No Event matches the given query.' },
    });
    const anonymous = await send(svc, 'GET', '/api/events/');
    expect(anonymous).toMatchObject({
      status: 401,
      body: { detail: 'Authentication credentials were not provided.' },
    });
    expect(anonymous.headers.get('www-authenticate')).toBe('Basic realm="svc", charset="UTF-8"');
    const page = await send(svc, 'GET', '/api/events/', undefined, { 'Sec-Fetch-Mode': 'cors' });
    expect(page.headers.get('www-authenticate')).toBe('Token realm="svc"');
  });

  test('H14 lines are taken one by one', async () => {
    const { status, body } = await create(
      '{"data":"a"}\n{"data":""}\nnot json\n\n{"data":"b"}',
      NDJSON,
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({
      accepted: 2,
      rejected: 2,
      last_id: body.first_id + 1,
      errors_truncated: false,
    });
    expect(body.errors[0]).toEqual({ line: 2, error: { data: ['This field may not be blank.'] } });
    expect(body.errors[1].error.detail).toStartWith('JSON parse error - ');
    expect((await create('x\ny', NDJSON)).status).toBe(400);
  });
});

describe('bodies', () => {
  test.each([
    ['{"data":"x",}', /^JSON parse error - .+: line 1 column 13 \(char 12\)$/],
    ['', /^JSON parse error - .+: line 1 column 1 \(char 0\)$/],
    ['{"data":NaN}', /^JSON parse error/],
    ['{"data":"\\ud800"}', /^JSON parse error - Lone surrogate/],
    [
      `{"data":"x","extracted_fields":${'['.repeat(40)}${']'.repeat(40)}}`,
      /^JSON parse error - Nesting/,
    ],
    ['['.repeat(200_000), /^JSON parse error/],
  ])('%p is no JSON', async (text, detail) => {
    const { status, body } = await create(text);
    expect(status).toBe(400);
    expect(body.detail).toMatch(detail);
  });

  test('limits answer in the words of the contract', async () => {
    expect(await create(Array.from({ length: 51 }, () => ({ data: 'x' })))).toMatchObject({
      status: 413,
      body: { detail: 'Too many events in one request (maximum 50)' },
    });
    expect(await create({ data: 'x'.repeat(2 ** 20 + 1) })).toMatchObject({
      status: 400,
      body: { data: ['Ensure this field has no more than 1048576 bytes.'] },
    });
    expect(await create({ data: 'x', host: 'é'.repeat(256) })).toMatchObject({
      status: 400,
      body: { host: ['Ensure this field has no more than 255 characters.'] },
    });
    expect(await create({ data: 'a\0b' })).toMatchObject({
      status: 400,
      body: { data: ['Null characters are not allowed.'] },
    });
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`k${at}`, 1]));
    expect(await create({ data: 'x', extracted_fields: many })).toMatchObject({
      status: 400,
      body: { extracted_fields: ['Ensure this field has no more than 1000 members.'] },
    });
  });

  test('compressed bodies, and bombs', async () => {
    const text = '{"data":"compressed"}';
    for (const [coding, bytes] of [
      ['gzip', gzipSync(text)],
      ['zstd', zstdCompressSync(text)],
      ['deflate', deflateSync(text)],
    ] as const) {
      const response = await root.fetch('/api/events/', {
        method: 'POST',
        body: bytes,
        headers: { 'Content-Encoding': coding, 'Content-Type': 'application/json' },
      });
      expect([coding, response.status]).toEqual([coding, 201]);
    }
    const bomb = gzipSync(Buffer.alloc(8 * 2 ** 20, 32));
    const refused = await root.fetch('/api/events/', {
      method: 'POST',
      body: bomb,
      headers: { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' },
    });
    expect([refused.status, await refused.json()]).toEqual([
      413,
      { detail: 'Decompressed body too large' },
    ]);
    const unknown = await root.fetch('/api/events/', {
      method: 'POST',
      body: 'x',
      headers: { 'Content-Encoding': 'br' },
    });
    expect([unknown.status, await unknown.json()]).toEqual([
      415,
      { detail: 'Unsupported media type "br" in request.' },
    ]);
    const damaged = await root.fetch('/api/events/', {
      method: 'POST',
      body: bomb.subarray(0, 100),
      headers: { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' },
    });
    expect(damaged.status).toBe(400);
  });

  test('forms, and what curl -d sends', async () => {
    const form = await root.fetch('/api/events/', {
      method: 'POST',
      body: new URLSearchParams({ data: 'form', extracted_fields: '{"a":1}' }),
    });
    expect([form.status, await form.json()]).toMatchObject([
      201,
      { data: 'form', extracted_fields: { a: 1 } },
    ]);
    const curl = await root.fetch('/api/events/', {
      method: 'POST',
      body: ' {"data":"curl"}',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect([curl.status, await curl.json()]).toMatchObject([201, { data: 'curl' }]);
    const wrong = await root.fetch('/api/events/', {
      method: 'POST',
      body: new URLSearchParams({ data: 'x', extracted_fields: '{' }),
    });
    expect([wrong.status, await wrong.json()]).toEqual([
      400,
      { extracted_fields: ['Value must be valid JSON.'] },
    ]);
    const multipart = new FormData();
    multipart.set('data', 'parts');
    expect((await root.fetch('/api/events/', { method: 'POST', body: multipart })).status).toBe(
      201,
    );
    expect(
      await send(root, 'POST', '/api/events/', 'x', { 'Content-Type': 'text/plain' }),
    ).toMatchObject({
      status: 415,
      body: {
        detail:
          'Unsupported media type "text/plain" in request. Lines of text go to /services/collector/raw.',
      },
    });
  });

  test('one event in is one event out', async () => {
    const data = 'a\r\n{"data":"fake"}\n\u001b[31m\u2028b';
    const { body } = await create({ data });
    expect((await send(root, 'GET', `/api/events/${body.id}/`)).body.data).toBe(data);
  });

  test('a dry run checks and stores nothing', async () => {
    const before = (await send(root, 'GET', '/api/events/?count=1&limit=1')).headers.get(
      'x-total-count',
    );
    const { status, body } = await create({ data: 'a=1 b=2', sourcetype: 'kv' }, {}, '?dry_run=1');
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: null, extracted_fields: { a: 1, b: 2 } });
    expect(
      (await send(root, 'GET', '/api/events/?count=1&limit=1')).headers.get('x-total-count'),
    ).toBe(before);
  });

  test('Prefer: return=minimal', async () => {
    const { body, headers } = await create([{ data: '1' }, { data: '2' }], {
      Prefer: 'return=minimal',
    });
    expect(headers.get('preference-applied')).toBe('return=minimal');
    expect(body).toEqual({ created: 2, first_id: body.first_id, last_id: body.first_id + 1 });
  });
});

describe('repeats', () => {
  test('with one key are stored once and answered alike (EV-49)', async () => {
    const headers = { 'Idempotency-Key': 'batch-1' };
    const first = await create([{ data: 'once' }, { data: 'twice' }], headers);
    const second = await create([{ data: 'once' }, { data: 'twice' }], headers);
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect([
      first.headers.get('idempotent-replayed'),
      second.headers.get('idempotent-replayed'),
    ]).toEqual([null, 'true']);
    await send(root, 'DELETE', `/api/events/${first.body[0].id}/`);
    expect((await create([{ data: 'once' }, { data: 'twice' }], headers)).body).toEqual(first.body);
    expect(await create({ data: 'other' }, headers)).toMatchObject({
      status: 422,
      body: { detail: 'Idempotency-Key was used with a different body.' },
    });
    expect(await create({ data: 'other' }, { 'Idempotency-Key': 'a b' })).toMatchObject({
      status: 400,
      body: { detail: 'Invalid Idempotency-Key.' },
    });
  });

  test('that come together wait for the first', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create({ data: 'race' }, { 'Idempotency-Key': 'race' })),
    );
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(
      answers.filter(({ headers }) => headers.get('idempotent-replayed') === null),
    ).toHaveLength(1);
  });
});

describe('lists', () => {
  let ids: number[];
  beforeAll(async () => {
    const { body } = await create(
      Array.from({ length: 25 }, (_, at) => ({
        data: `listed item ${at} Straße`,
        index: 'list',
        host: at % 2 === 0 ? 'even' : 'odd',
        extracted_fields: { n: at, name: `v${at}` },
      })),
    );
    ids = body.map((event: { id: number }) => event.id);
  });

  const list = (query: string) => send(root, 'GET', `/api/events/?index=list&${query}`);
  const idsOf = (body: { id: number }[]) => body.map(({ id }) => id);

  test('filters and orders', async () => {
    expect(idsOf((await list('')).body)).toEqual(ids);
    expect(idsOf((await list('ordering=-id&limit=3')).body)).toEqual(ids.toReversed().slice(0, 3));
    expect(idsOf((await list('host=odd')).body)).toEqual(ids.filter((_, at) => at % 2 === 1));
    expect((await list('host=ODD')).body).toEqual([]);
    const [first] = (await list('limit=1')).body;
    expect(idsOf((await list(`created=${encodeURIComponent(first.created)}`)).body)).toEqual(ids);
    expect((await list(`created_before=${encodeURIComponent(first.created)}`)).body).toEqual([]);
    expect(idsOf((await list(`created_after=${encodeURIComponent(first.created)}`)).body)).toEqual(
      ids,
    );
  });

  test('unknown parameters have no effect and are named', async () => {
    const { headers, body } = await list('created__gte=x&page=2&limit=1');
    expect(headers.get('x-ignored-parameters')).toBe('created__gte,page');
    expect(body).toHaveLength(1);
  });

  test('a walk along the cursors sees each event once', async () => {
    const seen: number[] = [];
    let path: string | null = '/api/events/?index=list&limit=7&count=1&ordering=-id';
    while (path !== null) {
      const { body, headers } = await send(root, 'GET', path);
      expect(headers.get('x-total-count')).toBe('25');
      seen.push(...idsOf(body));
      path = /<(.+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? null;
    }
    expect(seen).toEqual(ids.toReversed());
    expect(await list('cursor=abc')).toMatchObject({
      status: 400,
      body: { cursor: ['Invalid cursor.'] },
    });
  });

  test.each([
    ['item', 25],
    ['"ITEM 24"', 1],
    ['"item 2"', 6],
    ['strasse', 25],
    ['item, 3', 25],
    ['"name": "v7"', 1],
    ['"v1"', 11],
    ['nothing', 0],
    ['list', 25],
    ['%', 0],
  ])('search %p finds %d', async (term, count) => {
    const { body } = await list(`search=${encodeURIComponent(term)}`);
    if (term !== 'item, 3') expect(body).toHaveLength(count);
    else expect(body.length).toBeGreaterThan(0);
  });

  test('formats', async () => {
    const ndjson = await send(root, 'GET', '/api/events/?index=list&limit=2&format=ndjson');
    expect(
      ndjson.body
        .trim()
        .split('\n')
        .map((line: string) => JSON.parse(line).id),
    ).toEqual(ids.slice(0, 2));
    const csv = await send(root, 'GET', '/api/events/?index=list&limit=1', undefined, {
      Accept: 'text/csv',
    });
    expect(csv.body.split('\r\n')[0]).toBe(
      'id,index,sourcetype,source,host,data,created,updated,extracted_fields',
    );
    expect(await send(root, 'GET', '/api/events/?format=xml')).toMatchObject({
      status: 404,
      body: { detail: 'Not found.' },
    });
    expect(await send(root, 'GET', '/api/events/?search=%00')).toMatchObject({
      status: 400,
      body: ['Null characters are not allowed.'],
    });
  });
});

describe('single events', () => {
  let id: number;
  beforeEach(async () => {
    id = (await create({ data: 'single' })).body.id;
  });

  test('carry a version that guards changes', async () => {
    const got = await send(root, 'GET', `/api/events/${id}/`);
    const etag = got.headers.get('etag')!;
    expect(etag).toMatch(new RegExp(`^"${id}\\.\\d+"$`));
    expect(
      await send(root, 'PATCH', `/api/events/${id}/`, {}, { 'If-Match': '"1.1"' }),
    ).toMatchObject({ status: 412, body: { detail: 'Precondition failed.' } });
    const patched = await send(root, 'PATCH', `/api/events/${id}/`, {}, { 'If-Match': etag });
    expect(patched.status).toBe(200);
    expect(patched.headers.get('etag')).not.toBe(etag);
    expect(patched.body.updated > got.body.updated).toBe(true);
  });

  test('PUT needs data, PATCH does not; arrays are refused', async () => {
    expect(await send(root, 'PUT', `/api/events/${id}/`, { host: 'h' })).toMatchObject({
      status: 400,
      body: { data: ['This field is required.'] },
    });
    expect((await send(root, 'PATCH', `/api/events/${id}/`, { host: 'h' })).body).toMatchObject({
      host: 'h',
      data: 'single',
    });
    expect(await send(root, 'PUT', `/api/events/${id}/`, [])).toMatchObject({
      status: 400,
      body: { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] },
    });
  });

  test('go and stay gone', async () => {
    expect((await send(root, 'DELETE', `/api/events/${id}/`)).status).toBe(204);
    expect((await send(root, 'GET', `/api/events/${id}/`)).status).toBe(404);
    expect((await send(root, 'DELETE', `/api/events/${id}/`)).status).toBe(404);
    expect((await create({ data: 'next' })).body.id).toBeGreaterThan(id);
  });

  test('other methods are named', async () => {
    const answer = await send(root, 'PUT', '/api/events/', {});
    expect(answer).toMatchObject({ status: 405, body: { detail: 'Method "PUT" not allowed.' } });
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });
});

describe('rights', () => {
  const NO = { detail: 'You do not have permission to perform this action.' };
  let web: number;
  let hidden: number;
  beforeAll(async () => {
    web = (await create({ data: 'web event', index: 'web' })).body.id;
    hidden = (await create({ data: 'hidden event', index: 'secret' })).body.id;
    await svc.accounts.grant('webreader', '@events/web', 'read');
    await svc.accounts.grant('webwriter', '@events/web', 'write');
    await svc.accounts.grant('both', '@events/web', 'read', 'write');
    await svc.accounts.grant('both', '@events/secret', 'read');
    await svc.accounts.grant('star', '*', 'read', 'write');
  });

  test('without any right all is refused, and * opens no events', async () => {
    for (const user of ['nobody', 'star']) {
      const client = await svc.as(user);
      expect(await send(client, 'GET', '/api/events/')).toMatchObject({ status: 403, body: NO });
      expect(await send(client, 'GET', `/api/events/${web}/`)).toMatchObject({
        status: 403,
        body: NO,
      });
      expect(await send(client, 'POST', '/api/events/', 'no json')).toMatchObject({
        status: 403,
        body: NO,
      });
      expect(await send(client, 'DELETE', `/api/events/${web}/`)).toMatchObject({
        status: 403,
        body: NO,
      });
    }
  });

  test('unreadable events do not exist', async () => {
    const reader = await svc.as('webreader');
    const { body, headers } = await send(reader, 'GET', '/api/events/?count=1&limit=100');
    expect(body.every((event: { index: string }) => event.index === 'web')).toBe(true);
    expect(headers.get('x-total-count')).toBe(String(body.length));
    expect((await send(reader, 'GET', `/api/events/${web}/`)).status).toBe(200);
    expect(await send(reader, 'GET', `/api/events/${hidden}/`)).toMatchObject({
      status: 404,
      body: { detail: 'No Event matches the given query.' },
    });
    expect(await send(reader, 'POST', '/api/events/', { data: 'x', index: 'web' })).toMatchObject({
      status: 403,
      body: NO,
    });
  });

  test('write is asked for each entry', async () => {
    const writer = await svc.as('webwriter');
    expect((await send(writer, 'POST', '/api/events/', { data: 'x', index: 'web' })).status).toBe(
      201,
    );
    expect(
      await send(writer, 'POST', '/api/events/', [{ data: 'x', index: 'web' }, { data: 'x' }]),
    ).toMatchObject({ status: 403, body: NO });
    const lines = await send(
      writer,
      'POST',
      '/api/events/',
      '{"data":"x","index":"web"}\n{"data":"y"}',
      NDJSON,
    );
    expect(lines.body).toMatchObject({
      accepted: 1,
      rejected: 1,
      errors: [{ line: 2, error: { detail: "index 'default' is not permitted" } }],
    });
    expect((await send(writer, 'POST', '/api/events/?index=web', { data: 'x' })).status).toBe(201);
    expect((await send(writer, 'GET', '/api/events/')).status).toBe(403);
    expect(await send(writer, 'PATCH', `/api/events/${web}/`, { index: 'other' })).toMatchObject({
      status: 403,
      body: NO,
    });
    expect((await send(writer, 'DELETE', `/api/events/${hidden}/`)).status).toBe(404);
    expect((await send(await svc.as('both'), 'DELETE', `/api/events/${hidden}/`)).status).toBe(403);
  });

  test('API key scopes only take away', async () => {
    const key = svc.withHeaders({
      'X-API-Key': await svc.accounts.apiKey('both', ['read:@events/web']),
    });
    expect((await send(key, 'GET', `/api/events/${web}/`)).status).toBe(200);
    expect((await send(key, 'GET', `/api/events/${hidden}/`)).status).toBe(404);
    expect((await send(key, 'POST', '/api/events/', { data: 'x', index: 'web' })).status).toBe(403);
  });

  test('a browser session needs its CSRF token', async () => {
    const browser = await svc.inBrowserAs('both');
    expect((await send(browser, 'POST', '/api/events/', { data: 'x', index: 'web' })).status).toBe(
      201,
    );
    expect(
      (
        await send(
          browser,
          'POST',
          '/api/events/',
          { data: 'x', index: 'web' },
          { 'X-CSRF-Token': 'wrong' },
        )
      ).status,
    ).toBe(403);
  });
});

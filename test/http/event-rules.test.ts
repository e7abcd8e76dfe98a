/**
 * Rules of the event contract, sentence by sentence, where the worked examples and the tests of one route leave something
 * open (EV-1 to EV-56, EV-90, EV-104).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { PASSWORD } from '../support/password.ts';
import { send } from '../support/send.ts';

const NO = { detail: 'You do not have permission to perform this action.' };
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({
    files: { 'notes.csv': 'id,text\n1,one\n', 'api/events/readme.md': '# below the events\n' },
    config: {
      events: {
        min_free_bytes: 1,
        syslog_timezone: 'Europe/Berlin',
        extractors: [
          { sourcetype: 'app', regex: 'took=(?<took>\\d+)', types: { took: 'integer' } },
          { sourcetype: 'APP', regex: '(?P<took>slow)' },
          { sourcetype: 'gate', grok: '%{IP:ip} %{WORD:verb} %{INT:count:int}' },
          {
            sourcetype: 'timed',
            regex: 'at (?<at>\\S+ \\S+)',
            time: { field: 'at', format: '%d/%m/%Y %H:%M', timezone: 'Europe/Berlin' },
          },
        ],
      },
    },
  });
  await svc.createSuperuser('root');
  root = svc.withHeaders({ Authorization: `Basic ${btoa(`root:${PASSWORD}`)}` });
});
afterAll(() => svc[Symbol.asyncDispose]());

const create = (body: unknown, headers?: Record<string, string>) =>
  send(root, 'POST', '/api/events/', body, headers);
const fieldsOf = async (sourcetype: string, data: string, given?: unknown): Promise<any> => {
  const answer = await create({
    sourcetype,
    data,
    ...(given !== undefined && { extracted_fields: given }),
  });
  expect(answer.status).toBe(201);
  return answer.body.extracted_fields;
};

describe('conventions', () => {
  test('EV-1 the general rules hold: HEAD, OPTIONS, slashes, request ids, headers', async () => {
    const head = await send(root, 'HEAD', '/api/events/?limit=1');
    expect([head.status, head.body]).toEqual([200, null]);
    const options = await send(root, 'OPTIONS', '/api/events/');
    expect(options.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    expect((await send(root, 'GET', '/api/events?limit=1')).status).toBe(200);
    const answer = await send(root, 'GET', '/api/events/?limit=1');
    expect(answer.headers.get('x-request-id')).not.toBeNull();
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.each([
    ['2001-02-03T04:05:06.123456Z', '2001-02-03T04:05:06.123456Z'],
    ['2001-02-03 04:05:06', '2001-02-03T04:05:06.000000Z'],
    ['2001-02-03', '2001-02-03T00:00:00.000000Z'],
    ['2001-02-03T04:05:06+02:00', '2001-02-03T02:05:06.000000Z'],
    ['2001-02-03t04:05:06.1234569z', '2001-02-03T04:05:06.123456Z'],
  ])('EV-2 the time %p is taken as %p', async (given, meant) => {
    const after = encodeURIComponent(given);
    expect((await send(root, 'GET', `/api/events/?created_before=${after}`)).body).toEqual([]);
    await create({ data: 'timed', index: 'times', extracted_fields: { event_time: given } });
    const run = await send(root, 'POST', '/search2/api/run/', {
      query: 'search index=times | sort -id | head 1 | table event_time, _time, created',
    });
    expect(run.body.rows[0]._time).toBe(meant);
    expect(run.body.rows[0].created).toMatch(TIME);
  });

  test('EV-4 all failing fields are named, and what is no JSON is placed', async () => {
    const wrong = await create({ data: '', host: 'x'.repeat(256), source: {} });
    expect([wrong.status, wrong.body]).toEqual([
      400,
      {
        source: ['Not a valid string.'],
        host: ['Ensure this field has no more than 255 characters.'],
        data: ['This field may not be blank.'],
      },
    ]);
    for (const text of ['{"data":-Infinity}', `{"data":"x"`, '{"data":"\\uDC00"}']) {
      const { status, body } = await create(text);
      expect([text, status]).toEqual([text, 400]);
      expect(body.detail).toMatch(/^JSON parse error - .+: line 1 column \d+ \(char \d+\)$/);
    }
    const invalid = await root.fetch('/api/events/', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: new Uint8Array([
        0x7b, 0x22, 0x64, 0x61, 0x74, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d,
      ]),
    });
    expect(invalid.status).toBe(400);
    expect(((await invalid.json()) as { detail: string }).detail).toMatch(/^JSON parse error - /);
  });

  test('EV-5 401 asks for Basic, but never by a page behind the back of its reader', async () => {
    const plain = await send(svc, 'GET', '/api/events/');
    expect(plain.headers.get('www-authenticate')).toBe('Basic realm="svc", charset="UTF-8"');
    const navigated = await send(svc, 'GET', '/api/events/', undefined, {
      'Sec-Fetch-Mode': 'navigate',
    });
    expect(navigated.headers.get('www-authenticate')).toBe('Basic realm="svc", charset="UTF-8"');
    const fetched = await send(svc, 'GET', '/api/events/', undefined, { 'Sec-Fetch-Mode': 'cors' });
    expect([fetched.status, fetched.headers.get('www-authenticate')]).toEqual([
      401,
      'Token realm="svc"',
    ]);
    const page = await send(svc, 'GET', '/api/events/', undefined, { Accept: 'text/html' });
    expect([page.status, page.headers.get('location')]).toEqual([
      expect.any(Number),
      expect.stringContaining('/auth/login'),
    ]);
    const dialect = await send(svc, 'GET', '/elastic/', undefined, { Accept: 'text/html' });
    expect(dialect.status).toBe(401);
  });

  test('EV-6 kinds of bodies: no type at all, +json, three names of NDJSON', async () => {
    const bare = await root.fetch('/api/events/', {
      method: 'POST',
      body: new Blob(['{"data":"bare"}']),
    });
    expect(bare.status).toBe(201);
    const suffix = await create({ data: 'x' }, { 'Content-Type': 'application/vnd.a+json' });
    expect(suffix.status).toBe(201);
    for (const type of ['application/x-ndjson', 'application/ndjson', 'application/jsonl']) {
      const lines = await create('{"data":"a"}\n{"data":"b"}', { 'Content-Type': type });
      expect([type, lines.status, lines.body.accepted]).toEqual([type, 201, 2]);
    }
    const noLines = await send(root, 'POST', '/api/savedsearches/', '{"name":"n","query":"q"}\n', {
      'Content-Type': 'application/x-ndjson',
    });
    expect(noLines.status).toBe(415);
  });

  test('EV-11 nothing is kept by caches; the description lists what the caller may use', async () => {
    for (const path of ['/api/events/', '/api/savedsearches/', '/api/', '/search2/api/commands/']) {
      const { headers } = await send(root, 'GET', path);
      expect([path, headers.get('cache-control')]).toEqual([path, 'no-store']);
    }
    const paths = async (client: Client) =>
      Object.keys(((await send(client, 'GET', '/openapi.json')).body as { paths: object }).paths);
    const without = await paths(await svc.as('without-events'));
    await svc.accounts.grant('with-events', '@events/web', 'read');
    const having = await paths(await svc.as('with-events'));
    expect(having.some((path) => path.startsWith('/api/events'))).toBe(true);
    expect(without.some((path) => path.startsWith('/api/events'))).toBe(false);
    expect(without).toContain('/search2/api/run/');
    const { components } = (await send(root, 'GET', '/openapi.json')).body;
    expect(Object.keys(components.securitySchemes)).toContain('tokenAuth');
  });
});

describe('identity and rights', () => {
  test('EV-12 every credential opens every route, the scheme in any case', async () => {
    const token = (
      await send(svc, 'POST', '/api-token-auth/', { username: 'root', password: PASSWORD })
    ).body.token as string;
    const key = await svc.accounts.apiKey('root');
    const ways: Record<string, string>[] = [
      { Authorization: `Token ${token}` },
      { Authorization: `tOKEN ${token}` },
      { Authorization: `Bearer ${token}` },
      { Authorization: `Bearer ${key}` },
      { 'X-API-Key': key },
      { Authorization: `Basic ${btoa(`root:${PASSWORD}`)}` },
    ];
    for (const headers of ways) {
      const client = svc.withHeaders(headers);
      for (const path of ['/api/events/?limit=1', '/api/savedsearches/', '/search2/api/commands/'])
        expect([headers, path, (await send(client, 'GET', path)).status]).toEqual([
          headers,
          path,
          200,
        ]);
      const made = await send(client, 'POST', '/api/events/', {
        data: 'by any credential (EV-56)',
      });
      expect([headers, made.status]).toEqual([headers, 201]);
      const hec = await send(client, 'POST', '/services/collector', { event: 'x' });
      expect([headers, hec.status]).toEqual([headers, 200]);
    }
    const changed = 'another Horse 8 battery';
    await send(root, 'PUT', '/auth/password', {
      current_password: PASSWORD,
      new_password: changed,
    });
    expect((await send(root, 'GET', '/api/events/?limit=1')).status).toBe(401);
    root = svc.withHeaders({ Authorization: `Basic ${btoa(`root:${changed}`)}` });
    expect((await send(root, 'GET', '/api/events/?limit=1')).status).toBe(200);
  });

  test('EV-21 reading and writing do not imply each other, but a writer sees what it wrote', async () => {
    await svc.accounts.grant('editor', '@events/ev21', 'write');
    const editor = await svc.as('editor');
    const made = await send(editor, 'POST', '/api/events/', { index: 'ev21', data: 'first' });
    expect(made.status).toBe(201);
    const changed = await send(editor, 'PATCH', `/api/events/${made.body.id}/`, { host: 'h1' });
    expect([changed.status, changed.body.host, changed.body.data]).toEqual([200, 'h1', 'first']);
    expect(await send(editor, 'GET', `/api/events/${made.body.id}/`)).toMatchObject({
      status: 403,
      body: NO,
    });
    expect(await send(editor, 'GET', '/api/events/histogram')).toMatchObject({ status: 403 });
  });

  test('EV-25, EV-26 a scoped key runs searches, but sees and saves only what it may', async () => {
    await svc.accounts.grant('scoped', '@events', 'read', 'write');
    await create({ index: 'ev26a', data: 'seen' });
    await create({ index: 'ev26b', data: 'unseen' });
    const client = svc.withHeaders({
      'X-API-Key': await svc.accounts.apiKey('scoped', ['read:@events/ev26a']),
    });
    const run = await send(client, 'POST', '/search2/api/run/', {
      query: 'search index=ev26* | table data',
    });
    expect([run.status, run.body.rows]).toEqual([200, [{ data: 'seen' }]]);
    const validated = await send(client, 'POST', '/search2/api/validate/', { query: 'x' });
    expect(validated.status).toBe(200);
    expect((await send(client, 'GET', '/api/savedsearches/')).status).toBe(403);
    const reading = svc.withHeaders({
      'X-API-Key': await svc.accounts.apiKey('scoped', ['read']),
    });
    expect((await send(reading, 'GET', '/api/savedsearches/')).status).toBe(200);
    const saved = { name: 'n', query: 'q' };
    expect((await send(reading, 'POST', '/api/savedsearches/', saved)).status).toBe(403);
  });

  test('DS-118, EV-90 a scoped key of a superuser reads what its scopes cover, and is no superuser', async () => {
    await svc.accounts.user('chief', { superuser: true });
    const clerk = await svc.as('clerk');
    const made = await send(clerk, 'POST', '/api/savedsearches/', { name: 'private', query: 'q' });
    expect(made.status).toBe(201);
    const path = `/api/savedsearches/${made.body.id}/`;
    const chief = await svc.as('chief');
    expect((await send(chief, 'GET', path)).status).toBe(200);
    await create({ index: 'ev118', data: 'seen by scope' });
    const scoped = svc.withHeaders({ 'X-API-Key': await svc.accounts.apiKey('chief', ['read']) });
    expect((await send(scoped, 'GET', path)).status).toBe(404);
    const { body: names } = await send(scoped, 'GET', '/api/savedsearches/');
    expect(JSON.stringify(names)).not.toContain('private');
    expect((await send(scoped, 'GET', '/auth/me')).body.is_superuser).toBe(false);
    const run = await send(scoped, 'POST', '/search2/api/run/', {
      query: 'search index=ev118 | table data',
    });
    expect(run.body.rows).toEqual([{ data: 'seen by scope' }]);
  });

  test('EV-22 default access is for whoever is signed in, and for nobody else', async () => {
    await using open = await startService({
      config: { events: { default_access: 'read', min_free_bytes: 1 } },
    });
    const reader = await open.as('anyone');
    expect((await send(reader, 'GET', '/api/events/')).status).toBe(200);
    expect((await send(reader, 'POST', '/api/events/', { data: 'x' })).status).toBe(403);
    expect((await send(open, 'GET', '/api/events/')).status).toBe(401);
  });

  test('EV-23 nothing tells of events that may not be read', async () => {
    await svc.accounts.grant('half', '@events/ev23', 'read');
    await create({ index: 'ev23', data: 'open', host: 'seen-host' });
    await create({ index: 'ev23-secret', data: 'secret', host: 'hidden-host' });
    const half = await svc.as('half');
    const asked = [
      '/api/events/?search=hidden-host&count=1&limit=5',
      '/api/events/histogram?interval=1d&by=index',
      '/api/events/fields',
    ];
    for (const path of asked) {
      const answer = await send(half, 'GET', path);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(JSON.stringify(answer.body)).not.toMatch(/hidden-host|ev23-secret/);
    }
    const counted = await send(half, 'GET', '/api/events/?index=ev23-secret&count=1&limit=1');
    expect([counted.body, counted.headers.get('x-total-count')]).toEqual([[], '0']);
    const run = await send(half, 'POST', '/search2/api/run/', {
      query: 'search index=ev23-secret | stats count',
    });
    expect(run.body.rows).toEqual([{ count: 0 }]);
  });
});

describe('the event', () => {
  test('EV-28 strings are trimmed, numbers become text, the rest is ignored', async () => {
    const { body } = await create(
      '{"data":5.50,"host":1e3,"source":" a\\t","id":7,"created":"2001-01-01","__proto__":{"x":1},"constructor":1,"extracted_fields":{"__proto__":{"y":2},"big":12345678901234567890}}',
    );
    expect(body).toMatchObject({ data: '5.5', source: 'a' });
    expect(body.id).not.toBe(7);
    expect(body.created > '2026').toBe(true);
    const text = await (await root.fetch(`/api/events/${body.id}/`)).text();
    expect(text).toContain('"__proto__":{"y":2}');
    expect(text).toContain('12345678901234567890');
    for (const field of ['data', 'host', 'index', 'source', 'sourcetype'])
      expect((await create({ data: 'x', [field]: 'a\u0000b' })).body).toEqual({
        [field]: ['Null characters are not allowed.'],
      });
  });

  test.each([
    ['"x"', 'str'],
    ['5', 'int'],
    ['5.5', 'float'],
    ['true', 'bool'],
  ])('EV-29 the body %s is no event', async (text, type) => {
    expect(await create(text)).toMatchObject({
      status: 400,
      body: { non_field_errors: [`Invalid data. Expected a dictionary, but got ${type}.`] },
    });
    const { id } = (await create({ data: 'x' })).body;
    expect((await send(root, 'PATCH', `/api/events/${id}/`, text)).body).toEqual({
      non_field_errors: [`Invalid data. Expected a dictionary, but got ${type}.`],
    });
    expect((await send(root, 'PATCH', `/api/events/${id}/`, 'null')).body).toEqual({
      non_field_errors: ['No data provided'],
    });
  });

  test('EV-30 a time of the client is stored as given, nonsense is no time', async () => {
    const given = { event_time: '2001-02-03 04:05:06+01:00' };
    const { body } = await create({ index: 'ev30', data: 'x', extracted_fields: given });
    expect(body.extracted_fields).toEqual(given);
    await create({ index: 'ev30', data: 'y', extracted_fields: { event_time: 'soon' } });
    await create({ index: 'ev30', data: 'z', extracted_fields: { event_time: '2999-01-01' } });
    const { rows } = (
      await send(root, 'POST', '/search2/api/run/', {
        query: 'search index=ev30 | sort id | table _time, created',
      })
    ).body;
    expect(rows.map((row: { _time: string }) => row._time)).toEqual([
      '2001-02-03T03:05:06.000000Z',
      rows[1].created,
      '2999-01-01T00:00:00.000000Z',
    ]);
  });
});

describe('lists', () => {
  beforeAll(async () => {
    await create([
      {
        index: 'ev34',
        host: 'Köln',
        data: '100% sure_thing *',
        extracted_fields: { a: { b: [1, 'ü'] } },
      },
      { index: 'ev34', host: 'bonn', data: 'say "hello there" and it\'s fine, bye' },
      { index: 'ev34', host: 'ΑΘΗΝΑ', data: 'οδός', source: 'back\\slash' },
    ]);
  });
  const found = async (search: string, more = ''): Promise<string[]> => {
    const path = `/api/events/?index=ev34&search=${encodeURIComponent(search)}${more}`;
    return ((await send(root, 'GET', path)).body as { host: string }[]).map(({ host }) => host);
  };

  test.each([
    ['100%', ['Köln']],
    ['sure_thing', ['Köln']],
    ['sureXthing', []],
    ['*', ['Köln']],
    ['KÖLN', ['Köln']],
    ['köln sure', ['Köln']],
    ['köln,hello', []],
    ['"hello there"', ['bonn']],
    ["'hello there'", ['bonn']],
    ['"HELLO  there"', []],
    ['"\\"hello"', ['bonn']],
    ['{"b": [1, "ü"]}', ['Köln']],
    ['"b": [1', ['Köln']],
    ['αθηνα', ['ΑΘΗΝΑ']],
    ['back\\slash', ['ΑΘΗΝΑ']],
    ['   ', ['Köln', 'bonn', 'ΑΘΗΝΑ']],
  ])('EV-34 search %p finds %p', async (search, hosts) => {
    expect(await found(search)).toEqual(hosts);
  });

  test('EV-34 times are found in both forms', async () => {
    const [first] = (await send(root, 'GET', '/api/events/?index=ev34&limit=1')).body;
    const created = first.created as string;
    const spaced = created.replace('T', ' ').replace('Z', '');
    expect(await found(created)).toHaveLength(3);
    expect(await found(`"${spaced}"`)).toHaveLength(3);
  });

  test('EV-31, EV-32 the last of repeated filters counts, empty ones do not, all of them hold together', async () => {
    const list = async (query: string) =>
      ((await send(root, 'GET', `/api/events/?${query}`)).body as { host: string }[]).map(
        ({ host }) => host,
      );
    expect(await list('index=nothing&index=ev34&host=bonn')).toEqual(['bonn']);
    expect(await list('index=ev34&host=&source=&sourcetype=default')).toHaveLength(3);
    expect(await list('index=ev34&host=bonn&search=sure')).toEqual([]);
    expect(await list('index=ev34&limit=1&offset=1')).toEqual(['bonn']);
    const odd = await send(root, 'GET', '/api/events/?index=ev34&h%20o=1&%C3%BC=2&limit=1');
    expect(odd.headers.get('x-ignored-parameters')).toBe('h%20o,%C3%BC');
  });

  test.each([
    ['limit=10001', { limit: ['Enter a whole number from 1 to 10000.'] }],
    ['limit=1.5', { limit: ['Enter a whole number from 1 to 10000.'] }],
    ['limit=1&offset=-1', { offset: ['Enter a whole number from 0.'] }],
    ['created_after=2026-13-01', { created_after: ['Enter a valid date/time.'] }],
    ['created_before=now', { created_before: ['Enter a valid date/time.'] }],
    ['limit=1&cursor=x&offset=1', { cursor: ['Invalid cursor.'] }],
  ])('EV-31 %s is refused', async (query, body) => {
    expect(await send(root, 'GET', `/api/events/?${query}`)).toMatchObject({ status: 400, body });
  });

  test('EV-33 a cursor belongs to its filters and its order', async () => {
    const first = await send(root, 'GET', '/api/events/?index=ev34&limit=1');
    const next = /<(.+)>; rel="next"/.exec(first.headers.get('link') ?? '')![1]!;
    expect((await send(root, 'GET', next)).body[0].host).toBe('bonn');
    const turned = await send(root, 'GET', `${next}&ordering=-id`);
    expect([turned.status, turned.body]).toEqual([400, { cursor: ['Invalid cursor.'] }]);
    const elsewhere = await send(root, 'GET', next.replace('ev34', 'ev23'));
    expect([elsewhere.status, elsewhere.body]).toEqual([400, { cursor: ['Invalid cursor.'] }]);
    const last = await send(root, 'GET', '/api/events/?index=ev34&limit=3');
    expect(last.headers.get('link')).toBeNull();
  });
});

describe('making events', () => {
  test('EV-36 arrays keep their order; no Location; an empty one asked for briefly', async () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ data: `entry ${at}` }));
    const { body, headers } = await create(many);
    expect(body.map(({ data }: { data: string }) => data)).toEqual(many.map(({ data }) => data));
    const ids = body.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => a - b));
    expect(headers.get('location')).toBeNull();
    expect((await create([], { Prefer: 'return=minimal' })).body).toEqual({
      created: 0,
      first_id: null,
      last_id: null,
    });
  });

  test('EV-37 lines of loggers are stored as they are', async () => {
    const pino = '{"level":30,"time":1795168800250,"hostname":"web-1","msg":"paid","n":1.0}';
    const cloud = '{"severity":"INFO","message":"up","timestamp":"2026-11-20T10:00:00.25Z"}';
    const lines = { 'Content-Type': 'application/x-ndjson' };
    const { status, body } = await create(`${pino}\r\n${cloud}\n{"host":"b"}\n`, lines);
    expect([status, body.accepted, body.rejected]).toEqual([201, 2, 1]);
    const list = await root.fetch('/api/events/?ordering=-id&limit=2');
    expect(await list.json()).toMatchObject([
      { data: cloud, sourcetype: 'json', extracted_fields: { severity: 'INFO' } },
      {
        data: pino,
        host: 'web-1',
        extracted_fields: { msg: 'paid', event_time: '2026-11-20T10:00:00.250000Z' },
      },
    ]);
    const one = await create(pino, { 'Content-Type': 'application/json' });
    const hint = [expect.stringContaining('application/x-ndjson')];
    expect([one.status, one.body]).toEqual([400, { data: hint }]);
  });

  test('EV-37 lines are taken one by one; at most a hundred bad ones are listed', async () => {
    const lines = ['', '{"data":"a"}', '  ', ...Array.from({ length: 120 }, () => '{}'), '5'];
    const { status, body } = await create(lines.join('\r\n'), {
      'Content-Type': 'application/x-ndjson',
    });
    expect([status, body.accepted, body.rejected, body.errors_truncated]).toEqual([
      201,
      1,
      121,
      true,
    ]);
    expect(body.errors).toHaveLength(100);
    expect(body.errors[0]).toEqual({ line: 4, error: { data: ['This field is required.'] } });
    const none = await create('{}\n5', { 'Content-Type': 'application/x-ndjson' });
    expect([none.status, none.body]).toEqual([
      400,
      {
        accepted: 0,
        rejected: 2,
        first_id: null,
        last_id: null,
        errors: [
          { line: 1, error: { data: ['This field is required.'] } },
          {
            line: 2,
            error: { non_field_errors: ['Invalid data. Expected a dictionary, but got int.'] },
          },
        ],
        errors_truncated: false,
      },
    ]);
    const blank = await create('\n\n', { 'Content-Type': 'application/x-ndjson' });
    expect([blank.status, blank.body.accepted]).toEqual([201, 0]);
    const large = await create(`{"data":"${'x'.repeat(2 ** 20 + 1)}"}\n{"data":"small"}`, {
      'Content-Type': 'application/x-ndjson',
    });
    expect([large.status, large.body.accepted, large.body.rejected]).toEqual([201, 1, 1]);
  });

  test('EV-39 a list of versions, any version, and what may not be done', async () => {
    const { id } = (await create({ data: 'v' })).body;
    const path = `/api/events/${id}/`;
    const etag = (await send(root, 'GET', path)).headers.get('etag')!;
    const listed = await send(root, 'PATCH', path, {}, { 'If-Match': `"other", ${etag}` });
    expect(listed.status).toBe(200);
    expect((await send(root, 'PATCH', path, {}, { 'If-Match': '*' })).status).toBe(200);
    expect((await send(root, 'DELETE', path, undefined, { 'If-Match': etag })).status).toBe(412);
    const post = await send(root, 'POST', path, {});
    expect([post.status, post.headers.get('allow')]).toEqual([
      405,
      'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
    ]);
    expect((await send(await svc.as('nobody-here'), 'DELETE', '/api/events/')).status).toBe(403);
    expect((await send(root, 'DELETE', '/api/events/')).status).toBe(405);
    expect((await send(root, 'GET', '/api/events/abc/')).body).toEqual({ detail: 'Not found.' });
  });
});

test('EV-10 below the routes are files; those that may not be read are not there', async () => {
  const file = '/api/events/readme.md';
  const asked = async (client: Client, path: string) => {
    const { status, body } = await send(client, 'GET', path);
    return [status, status === 404 ? body : null];
  };
  const nothing = [404, { detail: 'Not found.' }];
  const nobody = await svc.as('nobody-here');
  await svc.accounts.grant('reader-below', 'api/events/readme', 'read');
  expect(await asked(root, file)).toEqual([200, null]);
  expect(await asked(await svc.as('reader-below'), file)).toEqual([200, null]);
  expect(await asked(nobody, file)).toEqual(nothing);
  expect(await asked(nobody, '/api/savedsearches/x')).toEqual(nothing);
  expect(await asked(root, '/api/savedsearches/x')).toEqual(nothing);
  expect((await send(svc, 'GET', file)).status).toBe(401);
});

describe('extraction', () => {
  test('EV-40 merges over what the client sent; configured patterns come last, in their order', async () => {
    expect(await fieldsOf('app', 'took=12 slow', { took: 1, own: 2 })).toEqual({
      took: 'slow',
      own: 2,
    });
    expect(await fieldsOf('app', 'took=12', 'text')).toEqual({ took: 12 });
    expect(await fieldsOf('app', 'nothing', 'text')).toBe('text');
    expect(await fieldsOf('app', 'nothing', null)).toBeNull();
    expect(await fieldsOf('gate', 'from 10.1.2.3 opened 7 doors')).toEqual({
      ip: '10.1.2.3',
      verb: 'opened',
      count: 7,
    });
    expect(await fieldsOf('timed', 'at 20/11/2026 11:00')).toEqual({
      at: '20/11/2026 11:00',
      event_time: '2026-11-20T10:00:00.000000Z',
    });
  });

  test('EV-41 a change takes out what the old data yielded, and nothing of the client', async () => {
    const { id } = (
      await create({ sourcetype: 'kv', data: 'a=1 b=2', extracted_fields: { c: 3, b: 9 } })
    ).body;
    const path = `/api/events/${id}/`;
    const fields = async (change: object) =>
      (await send(root, 'PATCH', path, change)).body.extracted_fields;
    expect(await fields({ data: 'a=1 d=4' })).toEqual({ c: 3, a: 1, d: 4 });
    expect(await fields({ host: 'other' })).toEqual({ c: 3, a: 1, d: 4 });
    expect(await fields({ extracted_fields: { z: 1 } })).toEqual({ z: 1 });
    expect(await fields({ data: 'e=5', extracted_fields: null })).toBeNull();
    expect(await fields({ sourcetype: 'plain' })).toBeNull();
  });

  test.each([
    ['json', '{"a":1,"a":2,"b":{"c":[1]}}', { a: 2, b: { c: [1] } }],
    ['json', '"text"', {}],
    ['json', '{"a":1e999}', {}],
    ['JSON', '{"n":12345678901234567890123}', { n: 12345678901234567890123 }],
    [
      'kv',
      'x=1;y="a \\"b\\"\\n" (z=true) [w=-1.5e3] big=9007199254740993',
      {
        x: 1,
        y: 'a "b"\n',
        z: true,
        w: -1500,
        big: '9007199254740993',
      },
    ],
    ['kv', '1a=2 no.pe-x=3 last=1 last=2', { 'no.pe-x': 3, last: 2 }],
    ['logfmt', 'flag a="x y" b=1;2 c=false', { flag: true, a: 'x y', b: '1;2', c: false }],
    [
      'syslog',
      '<34>Jan 15 11:00:00 alpha su[12]: hello',
      {
        facility: 4,
        severity: 2,
        severity_name: 'crit',
        event_time: `${lastJanuary()}-01-15T10:00:00.000000Z`,
        hostname: 'alpha',
        appname: 'su',
        procid: '12',
        message: 'hello',
      },
    ],
    [
      'syslog',
      '<165>1 - - - - - - only text',
      {
        facility: 20,
        severity: 5,
        severity_name: 'notice',
        message: 'only text',
      },
    ],
    [
      'access_combined',
      '10.0.0.7 - - [20/Nov/2026:11:00:00 +0100] "bad" 400 -',
      {
        clientip: '10.0.0.7',
        event_time: '2026-11-20T10:00:00.000000Z',
        request: 'bad',
        status: 400,
      },
    ],
    ['auto', 'one=1', {}],
    ['auto', 'one=1 two=2', { one: 1, two: 2 }],
    ['auto', '{"a":1}', { a: 1 }],
    ['auto', '[1]', {}],
  ])('EV-42 to EV-46 %s of %p', async (sourcetype, data, fields) => {
    expect(await fieldsOf(sourcetype, data)).toEqual(fields);
  });
});

/** The year of the last 15th of January, or of tomorrow's: what a line without a year is taken for. */
function lastJanuary(): number {
  const tomorrow = new Date(Date.now() + 86_400_000);
  const year = tomorrow.getUTCFullYear();
  return tomorrow.getTime() >= Date.UTC(year, 0, 15, 10) ? year : year - 1;
}

test('EV-82 past their time, histogram and fields answer with what they have, and say so', async () => {
  await using hurried = await startService({
    config: { events: { explore_seconds: 1, min_free_bytes: 1 } },
  });
  await hurried.accounts.user('root', { superuser: true });
  const client = await hurried.as('root');
  // Slow to match, and nothing to be found in the substring index.
  const events = Array.from({ length: 12 }, () => ({ data: 'ab '.repeat(2 ** 18) }));
  for (let round = 0; round < 6; round++)
    expect((await send(client, 'POST', '/api/events/', events)).status).toBe(201);
  const slow = Array.from({ length: 400 }, (_, at) => `match(data, "((a|b) ?)*${at}c")`);
  const query = encodeURIComponent(`where ${slow.join(' OR ')}`);
  for (const view of ['histogram', 'fields']) {
    const { status, body } = await send(client, 'GET', `/api/events/${view}?query=${query}`);
    expect([view, status, body.truncated]).toEqual([view, 200, true]);
  }
  await eventually(async () => {
    const quick = await send(client, 'GET', '/api/events/histogram');
    expect([quick.body.total, quick.body.truncated]).toEqual([72, false]);
  });
});

describe('around it', () => {
  test.each([
    ['/services/collector', '{"event":"x"}', ['default', 'default', 'hec']],
    ['/services/collector', '{"event":{"a":1}}', ['default', 'json', 'hec']],
    ['/_bulk', '{"index":{}}\n{"m":1}\n', ['default', 'json', 'bulk']],
    [
      '/web/_bulk',
      '{"index":{"_index":"own"}}\n{"log":{"file":{"path":"/l"}}}\n',
      ['own', 'json', '/l'],
    ],
    ['/v1/logs', otlp([]), ['default', 'otlp', 'otlp']],
    [
      '/v1/logs',
      otlp([
        ['svc.index', 'own'],
        ['service.name', 'shop'],
      ]),
      ['own', 'otlp', 'shop'],
    ],
    ['/loki/api/v1/push', loki({}), ['default', 'loki', 'loki']],
    [
      '/loki/api/v1/push',
      loki({ index: 'own', sourcetype: 'kind', job: 'cron' }),
      ['own', 'kind', 'cron'],
    ],
  ])('EV-64 %s of %s has its index, sourcetype and source', async (path, body, expected) => {
    const { status } = await send(root, 'POST', path, body);
    expect(status).toBeLessThan(300);
    const [newest] = (await send(root, 'GET', '/api/events/?ordering=-id&limit=1')).body;
    expect([newest.index, newest.sourcetype, newest.source]).toEqual(expected);
  });

  test('EV-50, EV-56 who is not known is refused, whatever the way in', async () => {
    const routes = [
      '/api/events/',
      '/services/collector',
      '/_bulk',
      '/v1/logs',
      '/loki/api/v1/push',
    ];
    for (const path of routes) {
      const stranger = svc.withHeaders({ Authorization: `Bearer ${'0'.repeat(40)}` });
      const { status } = await send(stranger, 'POST', path, { event: 'x', data: 'x' });
      expect([path, status]).toEqual([path, path.startsWith('/services') ? 403 : 401]);
    }
  });

  test.each([
    [
      { shared_with: ['abc'] },
      { shared_with: ['Incorrect type. Expected pk value, received str.'] },
    ],
    [
      { shared_with: [true] },
      { shared_with: ['Incorrect type. Expected pk value, received bool.'] },
    ],
    [{ shared_with: 'x' }, { shared_with: ['Expected a list of items but got type "str".'] }],
    [{ shared_with: '5' }, { shared_with: ['Expected a list of items but got type "str".'] }],
    [{ shared_with: 5 }, { shared_with: ['Expected a list of items but got type "int".'] }],
    [{ shared_with: null }, { shared_with: ['This field may not be null.'] }],
    [{ is_public: 'perhaps' }, { is_public: ['Must be a valid boolean.'] }],
    [{ name: 5, query: '' }, { query: ['This field may not be blank.'] }],
  ])('EV-90 %p is refused', async (change, body) => {
    const answer = await send(root, 'POST', '/api/savedsearches/', {
      name: 'n',
      query: 'q',
      ...change,
    });
    expect([answer.status, answer.body]).toEqual([400, body]);
  });

  test.each(['t', 'YES', 'on', 1, '1', true])('EV-90 %p means public', async (is_public) => {
    const { body } = await send(root, 'POST', '/api/savedsearches/', {
      name: 'n',
      query: 'q',
      is_public,
    });
    expect(body.is_public).toBe(true);
  });

  test('EV-103 what this version leaves out is an error that says so', async () => {
    const { status, body } = await send(root, 'POST', '/search2/api/run/', {
      query: 'search index=web | transaction host',
    });
    expect([status, body.command]).toEqual([400, 'transaction']);
    expect(body.error).toContain('transaction');
  });

  test('EV-104 superusers see the indexes with their sizes', async () => {
    const { body } = await send(root, 'GET', '/admin/events/indexes');
    const names = body.map(({ index }: { index: string }) => index);
    expect(names).toEqual(names.toSorted());
    expect(Object.keys(body[0])).toEqual([
      'index',
      'events',
      'bytes',
      'oldest',
      'newest',
      'max_age_days',
      'max_bytes',
    ]);
    expect(body.find(({ index }: { index: string }) => index === 'ev34').events).toBe(3);
    expect((await send(await svc.as('half'), 'GET', '/admin/events/indexes')).status).toBe(403);
  });
});

/** One record of a resource with these attributes. */
function otlp(attributes: readonly (readonly [string, string])[]): string {
  const resource = {
    attributes: attributes.map(([key, stringValue]) => ({ key, value: { stringValue } })),
  };
  const logRecords = [{ body: { stringValue: 'x' } }];
  return JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
}

/** One line of a stream with these labels. */
function loki(stream: Readonly<Record<string, string>>): string {
  return JSON.stringify({ streams: [{ stream, values: [['1795168800000000000', 'x']] }] });
}

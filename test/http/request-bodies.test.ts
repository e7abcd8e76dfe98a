/**
 * JSON bodies that are no JSON, too large, too deep or of the wrong shape (DS-9, DS-10, DS-17, DS-18; reliability B-J):
 * each is refused with a 4xx in bounded time, or taken exactly.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { create } from './changes.ts';
import { eventually } from './eventually.ts';
import { list } from './listing.ts';
import { RawSocket } from './raw-socket.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';

const MAX_BODY = 256 * 1024;
const LIMIT_MS = 10_000;

const shared = sharedService({
  files: { 'a.csv': 'n,t\n1,x\n' },
  // Every request comes from an address of its own, so that wrong passwords stay below the limits of DS-102.
  config: { limits: { max_body_bytes: MAX_BODY }, trusted_proxies: ['127.0.0.1'] },
});

interface Endpoint {
  readonly method: string;
  readonly path: string;
  /** A body that is taken, or refused for another reason than its form. */
  readonly good: string;
  /** Its status. */
  readonly status: number;
}

const ENDPOINTS: readonly Endpoint[] = [
  { method: 'POST', path: '/api/a/', good: '{"action":"create","data":[]}', status: 200 },
  {
    method: 'PATCH',
    path: '/api/a/',
    good: '{"action":"update","data":{"_row_id":1}}',
    status: 200,
  },
  {
    method: 'DELETE',
    path: '/api/a/',
    good: '{"action":"delete","data":{"_row_id":99}}',
    status: 404,
  },
  { method: 'POST', path: '/api/apikeys', good: '{}', status: 201 },
  {
    method: 'PUT',
    path: '/auth/password',
    good: '{"current_password":"x","new_password":"y"}',
    status: 400,
  },
  {
    method: 'POST',
    path: '/auth/login',
    good: '{"username":"nobody","password":"x"}',
    status: 401,
  },
];

let key = '';
beforeAll(async () => {
  key = await shared.service.accounts.apiKey('writer');
});

let addresses = 0;
function nextAddress(): string {
  addresses++;
  return `198.51.${addresses >> 8}.${addresses & 255}`;
}

interface Sent {
  readonly status: number;
  readonly type: string | undefined;
  readonly loc: readonly (string | number)[] | undefined;
  readonly text: string;
}

async function send(
  { method, path }: Pick<Endpoint, 'method' | 'path'>,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Sent> {
  const start = performance.now();
  const response = await shared.service.fetch(path, {
    method,
    headers: { 'X-API-Key': key, 'X-Forwarded-For': nextAddress(), ...headers },
    body: body as Bun.BodyInit,
  });
  const text = await response.text();
  expect(performance.now() - start).toBeLessThan(onSharedCores(LIMIT_MS));
  const parsed = JSON.parse(text) as { detail?: { type: string; loc: (string | number)[] }[] };
  const first = Array.isArray(parsed.detail) ? parsed.detail[0] : undefined;
  return { status: response.status, type: first?.type, loc: first?.loc, text };
}

describe.each(ENDPOINTS)('$method $path', (endpoint) => {
  const { good, status: goodStatus } = endpoint;

  test.each([
    ['truncated', good.slice(0, -1), good.length - 1],
    ['a trailing comma', `${good.slice(0, -1)},}`, null],
    ['a comment', `/* x */ ${good}`, 0],
    ['single quotes', "{'a':1}", 1],
    ['a byte order mark', `\ufeff${good}`, 0],
    ['UTF-16', Buffer.from(good, 'utf16le'), 1],
    ['white space', ' \n\t ', null],
    ['invalid UTF-8', Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0x22, 0x7d])]), 6],
    ['two values', `${good} ${good}`, good.length + 1],
    ['NaN', '{"a":NaN}', 5],
    ['a leading zero', '{"a":01}', null],
    ['a raw line break in a text', '{"a":"x\ny"}', null],
    ['gzip without a word about it', gzipSync(good), null],
    ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, 32],
    ['200,000 levels', '['.repeat(200_000), 32],
    ['100,000 closed levels', '{"a":'.repeat(40_000) + '1' + '}'.repeat(40_000), null],
  ] as const)('%s is no JSON: 422 json_invalid (DS-10)', async (_, body, offset) => {
    const { status, type, loc } = await send(endpoint, body);
    expect({ status, type }).toEqual({ status: 422, type: 'json_invalid' });
    expect(loc?.[0]).toBe('body');
    if (offset === null) expect(loc?.[1]).toBeNumber();
    else expect(loc?.[1]).toBe(offset);
  });

  test.each([
    'null',
    '[]',
    '"x"',
    '1',
    'true',
    '[{}]',
    '-0',
    '1e400',
    `${'['.repeat(32)}${']'.repeat(32)}`,
  ])('%s is no object: 422 dict_type (DS-10)', async (body) => {
    const { status, type, loc } = await send(endpoint, body);
    expect({ status, type, loc }).toEqual({ status: 422, type: 'dict_type', loc: ['body'] });
  });

  test('no body at all: 422 missing (DS-10)', async () => {
    const { status, type, loc } = await send(endpoint, '');
    expect({ status, type, loc }).toEqual({ status: 422, type: 'missing', loc: ['body'] });
  });

  test('odd member names pollute nothing', async () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
    for (const name of names) {
      const body = `{"${name}":{"${name}":{"isAdmin":true,"polluted":1}},${good.slice(1)}`;
      const { status, text } = await send(endpoint, good === '{}' ? `{"${name}":{"x":1}}` : body);
      expect(status).toBe(goodStatus);
      expect(text).not.toContain('polluted');
    }
    expect((await shared.service.fetch('/health')).status).toBe(200);
  });

  test.each(['text/plain', 'application/json; charset=utf-7', 'application/octet-stream', ''])(
    'is JSON as %p too (DS-17)',
    async (type) => {
      const { status } = await send(endpoint, good, { 'Content-Type': type });
      expect(status).toBe(goodStatus);
    },
  );

  test('a very long body is 413, announced or in chunks, before anything else is looked at (DS-18)', async () => {
    const blank = ' '.repeat(MAX_BODY - good.length);
    const atLimit = await send(endpoint, good + blank);
    expect(atLimit.status).toBe(goodStatus);
    for (const body of [`${good}${blank} `, 'x'.repeat(4 * MAX_BODY)]) {
      const { status, text } = await send(endpoint, body);
      expect({ status, text }).toEqual({
        status: 413,
        text: '{"detail":"Request body too large"}',
      });
    }
    const chunks = chunked(['{"a":"', ...Array.from({ length: 80 }, () => 'x'.repeat(4096)), '"}']);
    expect(await rawStatus(endpoint, 'Transfer-Encoding: chunked', chunks)).toBe(413);
  });

  test('chunks of any size are one body (DS-17)', async () => {
    for (const pieces of [[good], [...good], [good.slice(0, 1), good.slice(1)]]) {
      const status = await rawStatus(endpoint, 'Transfer-Encoding: chunked', chunked(pieces));
      expect(status).toBe(goodStatus);
    }
  });
});

function chunked(pieces: readonly string[]): string {
  return [
    ...pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`),
    '0\r\n\r\n',
  ].join('');
}

async function rawStatus(
  { method, path }: Endpoint,
  header: string,
  body: string,
): Promise<number> {
  const { url } = shared.service;
  using socket = await RawSocket.open(url);
  const lines = [
    `Host: ${new URL(url).host}`,
    `X-API-Key: ${key}`,
    `X-Forwarded-For: ${nextAddress()}`,
  ];
  const head = [...lines, header, ''].join('\r\n');
  socket.send(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`);
  return (await socket.head())?.status ?? 0;
}

describe('a body that breaks off', () => {
  test.each([
    ['shorter than announced', 'Content-Length: 50', '{"action":"create","data":[{"n":7}]}'],
    [
      'chunks without an end',
      'Transfer-Encoding: chunked',
      chunked(['{"action":"create","data":[{"n":7}]}']).slice(0, -5),
    ],
    ['cut in a chunk', 'Transfer-Encoding: chunked', '24\r\n{"action":"create"'],
  ])('%s changes nothing', async (_, header, body) => {
    const { service } = shared;
    const before = (await list(shared.writer, 'a')).total;
    {
      using socket = await RawSocket.open(service.url);
      const head = `Host: ${new URL(service.url).host}\r\nX-API-Key: ${key}\r\n${header}\r\n`;
      socket.send(`POST /api/a/ HTTP/1.1\r\n${head}\r\n${body}`);
      socket.finish();
      const answer = await socket.head();
      expect(answer === null || answer.status >= 400).toBe(true);
    }
    expect((await list(shared.writer, 'a')).total).toBe(before);
  });

  test('one longer than announced is cut where it was announced', async () => {
    const body = '{"action":"create","data":[]}';
    const { url } = shared.service;
    using socket = await RawSocket.open(url);
    const head = `Host: ${new URL(url).host}\r\nX-API-Key: ${key}\r\nContent-Length: ${body.length}\r\n`;
    socket.send(`POST /api/a/ HTTP/1.1\r\n${head}\r\n${body}{"more":1}\r\n\r\n`);
    expect((await socket.head())?.status).toBe(200);
  });
});

describe('values of the wrong type in bodies of accounts are 422 at their member (DS-10)', () => {
  const login = ENDPOINTS[5]!;
  const password = ENDPOINTS[4]!;
  const apiKey = ENDPOINTS[3]!;

  test.each([
    [login, '{"password":"x"}', 'missing', ['body', 'username']],
    [login, '{"username":"x"}', 'missing', ['body', 'password']],
    [login, '{"username":1,"password":"x"}', 'string_type', ['body', 'username']],
    [login, '{"username":"x","password":null}', 'string_type', ['body', 'password']],
    [login, '{"username":"x","password":["x"]}', 'string_type', ['body', 'password']],
    [login, '{"username":{"$ne":""},"password":"x"}', 'string_type', ['body', 'username']],
    [password, '{"new_password":"x"}', 'missing', ['body', 'current_password']],
    [password, '{"current_password":"x"}', 'missing', ['body', 'new_password']],
    [
      password,
      '{"current_password":"x","new_password":5}',
      'string_type',
      ['body', 'new_password'],
    ],
    [apiKey, '{"description":5}', 'string_type', ['body', 'description']],
    [apiKey, '{"expires_in_days":0}', 'greater_than_equal', ['body', 'expires_in_days']],
    [apiKey, '{"expires_in_days":"7"}', 'int_type', ['body', 'expires_in_days']],
    [apiKey, '{"expires_in_days":1.5}', 'int_type', ['body', 'expires_in_days']],
    [apiKey, '{"expires_in_days":true}', 'int_type', ['body', 'expires_in_days']],
    [apiKey, '{"scopes":"read"}', 'list_type', ['body', 'scopes']],
    [apiKey, '{"scopes":[1]}', 'string_type', ['body', 'scopes', 0]],
    [apiKey, '{"scopes":["read","admin"]}', 'value_error', ['body', 'scopes', 1]],
  ] as const)('%j %s: %s', async (endpoint, body, type, loc) => {
    const sent = await send(endpoint, body);
    expect(sent).toMatchObject({ status: 422, type, loc: [...loc] });
    // Nothing secret comes back in `input`.
    expect(sent.text).not.toContain('"input":{');
  });

  test('all wrong members are named at once', async () => {
    const { text } = await send(login, '{}');
    const { detail } = JSON.parse(text) as { detail: { loc: unknown }[] };
    expect(detail.map(({ loc }) => loc)).toEqual([
      ['body', 'username'],
      ['body', 'password'],
    ]);
  });

  test('unknown members are ignored: none of them makes anybody a superuser (DS-3, S-Z8)', async () => {
    const body = '{"is_superuser":true,"user_id":1,"id":1,"is_active":true,"scopes":null}';
    expect((await send(apiKey, body)).status).toBe(201);
    expect(await (await shared.writer.fetch('/auth/me')).json()).toMatchObject({
      username: 'writer',
      is_superuser: false,
    });
  });
});

test('numbers and texts at the edge are stored exactly or refused, never rounded (DS-1)', async () => {
  const stored = await create(shared.writer, 'a', [
    { n: Number.MAX_SAFE_INTEGER, t: '9007199254740993' },
    { n: -0, t: '\u2028\u{1f600}\u00e9' },
  ]);
  expect(stored.status).toBe(200);
  await eventually(async () => {
    const { rows } = await list(shared.writer, 'a', {
      filter: { _row_id: { $in: [...stored.rowIds] } },
    });
    expect(rows.map(({ n, t }) => ({ n, t }))).toEqual([
      { n: Number.MAX_SAFE_INTEGER, t: '9007199254740993' },
      { n: 0, t: '\u2028\u{1f600}\u00e9' },
    ]);
  });
});

test('of equal member names the last one counts', async () => {
  const body = '{"action":"delete","action":"create","data":[{"n":1}],"data":[]}';
  const { status, text } = await send(ENDPOINTS[0]!, body);
  expect({ status, text }).toEqual({
    status: 200,
    text: '{"success":true,"count":0,"row_ids":[]}',
  });
});

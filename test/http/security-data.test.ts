/**
 * Who gets at which data, by which way: paths, foreign files, administration, queries, content, protocols for programs (S-P,
 * S-Z, S-Q, S-X, S-M, S-W) as a table, and a stream whose right ends.
 */
import { expect, test } from 'bun:test';
import { eventually } from './eventually.ts';
import type { SecurityActor, SecurityCase } from './security-cases.ts';
import { securityCases } from './security-cases.ts';

const EVIL = 'evil.example';
const SECRETS = [/of-alice/, /of-bob/, /root:.*:0:0/, /private key/];
const JSON_BODY = { 'Content-Type': 'application/json' };

const get = (
  id: string,
  actor: SecurityActor,
  path: string,
  status: number,
  more: Partial<SecurityCase> = {},
): SecurityCase => ({ id, what: path, actor, request: { path }, status, ...more });

const post = (
  id: string,
  what: string,
  actor: SecurityActor,
  [method, path, body]: readonly [method: string, path: string, body: unknown],
  status: number,
  more: Partial<SecurityCase> = {},
): SecurityCase => ({
  id,
  what: `${method} ${path}, ${what}`,
  actor,
  request: { method, path, body, headers: JSON_BODY },
  status,
  ...more,
});

const absent: Partial<SecurityCase> = { mustNot: SECRETS };

const pathCases: readonly SecurityCase[] = [
  ...[
    '/%2e%2e%2f%2e%2e%2fetc/passwd',
    '/..%5c..%5cetc%5cpasswd',
    '/_svc/%2e%2e/%2e%2e/etc/passwd',
    '/media/..%2f..%2fetc/passwd',
    '/api/..%2f..%2fetc%2fpasswd/',
    '/a%00.csv',
    '/%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd',
    '/%252e%252e%252fetc/passwd',
    '/etc/passwd',
    '//etc/passwd',
    '/C:/windows/win.ini',
    '/%5c%5chost%5cshare',
    '/proc/self/environ',
  ].map((path) => get('S-P1', 'adm', path, 404, absent)),
  ...[
    '/.svc/svc.db',
    '/.svc/secret.key',
    '/api/.svc/secret.key/',
    '/.git/config',
    '/.env',
    '/bunfig.toml',
    '/handler.ts',
    '/handler',
    '/.a.csv.0123456789abcdef.tmp',
  ].map((path) => get('S-P4', 'adm', path, 404, absent)),
  ...['/api/A/', '/api/B/', '/api/b/;x=1', '/api//b/', '/api/./b/', '/api/b%2f', '/api/b.CSV/'].map(
    (path) => get('S-P10', 'alice', path, 403, absent),
  ),
];

const ways = [
  '/api/b/',
  '/api/b.csv/',
  '/schema/b/',
  '/schema/b.csv/',
  '/ui/b/',
  '/api/b/?format=csv',
  '/api/b/?format=xlsx',
  '/api/b/?format=parquet',
  '/api/b/?q=of-bob',
  '/api/b/?cursor=x',
  '/api/b/?columns=secret',
  '/b.csv',
  '/b',
];

const foreignCases: readonly SecurityCase[] = [
  ...ways.map((path) => get('S-Z2', 'alice', path, 403, absent)),
  ...ways.map((path) => get('S-Z2', 'anon', path, 401, absent)),
  ...(['HEAD', 'OPTIONS', 'PATCH', 'POST', 'DELETE', 'PUT'] as const).map((method) => ({
    ...post('S-Z4', 'a foreign file', 'alice', [method, '/api/b/', {}], 403, absent),
    ...(method === 'HEAD' && {
      request: { method, path: '/api/b/' },
    }),
  })),
  get('S-Z2', 'alice', '/search?q=of-bob', 200, { must: ['"count":0'] }),
  get('S-Z2', 'alice', '/search?q=secret&type=rows', 200, { mustNot: [/of-bob/] }),
  get('S-Z7', 'alice', '/', 200, { must: ['a.csv'], mustNot: [/b\.csv/] }),
  get('S-Z2', 'alice', '/openapi.json', 200, { mustNot: [/of-bob/, /\/api\/b\//] }),
  post(
    'S-Z2',
    'a foreign file in a query',
    'alice',
    ['POST', '/search2/api/run/', { query: '| inputlookup b' }],
    200,
    { must: ['"rows":[]'] },
  ),
  post(
    'S-Z3',
    'a row that is not there',
    'alice',
    ['PATCH', '/api/a/', { action: 'update', data: { _row_id: 99, secret: 'x' } }],
    404,
  ),
  ...['_version', 'owner', '__proto__', 'constructor', 'isAdmin'].map((name) =>
    post(
      'S-Z8',
      `a column ${name} that is not there`,
      'alice',
      ['PATCH', '/api/a/', `{"action":"update","data":{"_row_id":1,"${name}":"x"}}`],
      422,
    ),
  ),
  ...(
    [
      ['GET', '/admin/users'],
      ['POST', '/admin/users'],
      ['DELETE', '/admin/users/1'],
      ['PUT', '/admin/users/1/password'],
      ['GET', '/admin/groups'],
      ['POST', '/admin/groups'],
      ['POST', '/admin/groups/1/users/2'],
      ['GET', '/admin/permissions'],
      ['POST', '/admin/permissions'],
      ['GET', '/admin/api-keys'],
      ['DELETE', '/admin/api-keys/1'],
      ['GET', '/admin/sessions'],
      ['GET', '/admin/audit-logs'],
      ['GET', '/admin/locks'],
      ['GET', '/admin/cache'],
      ['GET', '/admin/explain'],
      ['GET', '/admin/ingest'],
      ['GET', '/admin/tokens'],
      ['GET', '/admin/events/indexes'],
    ] as const
  ).flatMap(([method, path]) =>
    (['alice', 'anon'] as const).map((actor) =>
      method === 'GET'
        ? get('S-Z1', actor, path, actor === 'anon' ? 401 : 403, { mustNot: [/adm/, ...SECRETS] })
        : post(
            'S-Z1',
            'by nobody who may',
            actor,
            [method, path, {}],
            actor === 'anon' ? 401 : 403,
          ),
    ),
  ),
  ...['/admin/users', '/admin/sessions', '/api/apikeys', '/auth/me'].map((path) =>
    get('S-Z6', 'adm', path, 200, { mustNot: [/argon2|password_hash|token_hash|key_hash/] }),
  ),
];

const queryCases: readonly SecurityCase[] = [
  ...[
    '/api/a/?sort=(select 1)',
    '/api/a/?sort=__proto__',
    '/api/a/?sort=rowid',
    '/api/a/?columns=secret"--',
    '/api/a/?filter={"$where":"1"}',
    '/api/a/?filter={"__proto__":{"$eq":1}}',
    '/api/a/?filter={"a\'b":1}',
    '/api/a/?filter={"n":{"$ne":{}}}',
    '/api/a/?limit=1;drop',
    '/api/a/?limit=-1',
    '/api/a/?cursor=eyJ9',
  ].map((path) =>
    get('S-Q1', 'alice', encodeURI(path), 422, { mustNot: [...SECRETS, /sqlite|syntax error/i] }),
  ),
  get('S-Q4', 'alice', '/api/a/?__proto__[x]=1&limit=1', 200, { mustNot: [/"x"/] }),
  ...["' UNION ALL --", ';ATTACH x', 'load_extension(x)', '"', 'NEAR(', 'a OR', '*', '^'].map((q) =>
    get('S-Q1', 'alice', `/search?q=${encodeURIComponent(q)}`, 200, { mustNot: [/of-bob/] }),
  ),
  ...['ATTACH x', 'PRAGMA user_version', 'load_extension(x)', 'script x', 'delete'].map((command) =>
    post(
      'S-Q9',
      command,
      'alice',
      ['POST', '/search2/api/run/', { query: `makeresults | ${command}` }],
      400,
      absent,
    ),
  ),
];

const contentCases: readonly SecurityCase[] = [
  get('S-X7', 'alice', '/api/a/?callback=steal', 200, { mustNot: [/steal/] }),
  get('S-X7', 'alice', '/api/a/?format=jsonp', 422),
  get('S-X9', 'alice', '/api/%3Cimg%20src=x%20onerror=1%3E/', 403, { mustNot: [/text\/html/] }),
  {
    ...get('S-X9', 'adm', '/%3Cimg%20src=x%20onerror=1%3E', 404, { mustNot: [/<img src=x/] }),
    request: { path: '/%3Cimg%20src=x%20onerror=1%3E', headers: { Accept: 'text/html' } },
  },
  {
    ...get('S-X10', 'anon', '/ui/a%0d%0aSet-Cookie:%20x=1/', 302, { mustNot: [/\nset-cookie: x/] }),
    request: {
      path: '/ui/a%0d%0aSet-Cookie:%20x=1/',
      headers: { Accept: 'text/html' },
    },
  },
];

const call = (
  headers: Record<string, string>,
  actor: SecurityActor,
  status: number,
  message: object = { method: 'tools/list' },
) => ({
  actor,
  request: {
    method: 'POST',
    path: '/mcp',
    headers: {
      ...JSON_BODY,
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: { jsonrpc: '2.0', id: 1, ...message },
  },
  status,
});

const protocolCases: readonly SecurityCase[] = [
  { id: 'S-M1', what: 'a call from a site', ...call({ Origin: `https://${EVIL}` }, 'alice', 403) },
  { id: 'S-M2', what: 'a call to another host', ...call({ Host: EVIL }, 'anon', 421) },
  {
    id: 'S-M3',
    what: 'a tool called without a credential (DS-177)',
    ...call({}, 'anon', 200, { method: 'tools/call', params: { name: 'list_resources' } }),
    must: [/error|isError/],
    mustNot: [/a\.csv/],
  },
  get('S-W2', 'anon', '/api/events/tail', 401),
  get('S-W3', 'alice', '/api/events/tail?index=other', 403),
];

const fixture = securityCases(
  {
    files: {
      'a.csv': 'n,secret\n1,of-alice\n',
      'b.csv': 'n,secret\n1,of-bob\n',
      'handler.ts': "import { Elysia } from 'elysia';\nexport const router = new Elysia();\n",
      'bunfig.toml': 'private key',
      '.env': 'private key',
      '.git/config': 'private key',
      '.a.csv.0123456789abcdef.tmp': 'private key',
    },
  },
  [...pathCases, ...foreignCases, ...queryCases, ...contentCases, ...protocolCases],
);

test('a stream of events ends when its reader signs out everywhere or loses the right (S-W5)', async () => {
  const { service } = fixture;
  await service.accounts.grant('follower', '@events/tail', 'read');
  const follower = await service.inBrowserAs('follower');
  const response = await follower.fetch('/api/events/tail?index=tail');
  expect(response.status).toBe(200);
  let isOver = false;
  void response.text().finally(() => (isOver = true));
  await service.accounts.db.run("UPDATE users SET is_active = 0 WHERE username = 'follower'");
  await eventually(() => expect(isOver).toBe(true), 8_000);
});

/**
 * The folder as a drive (DS-283): what clients of WebDAV do, by whom it may be done, and what hostile ones get.
 */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService(
  {
    files: {
      'sales/x.csv': 'a,b\n1,2\n3,4\n',
      'secret/s.csv': 'a\n1\n',
      'notes/plan.md': '# Plan\n',
      'tool.ts': "import { Elysia } from 'elysia';\nexport const router = new Elysia();\n",
      'strange.xyz': 'x',
    },
    config: {
      upload: { enabled: true, max_size_bytes: 100_000 },
      webdav: { enabled: true },
      locks: { timeout_seconds: 1 },
    },
    // A destination on another server.
  },
  /"method":"MOVE".*"status":502/,
);

const keys = new Map<string, string>();
beforeAll(async () => {
  const { accounts } = shared.service;
  for (const name of ['owner', 'other']) {
    for (const right of ['read', 'write'] as const) {
      await accounts.grant(name, 'sales/*', right);
      await accounts.grant(name, 'notes/*', right);
    }
    keys.set(name, await accounts.apiKey(name));
  }
  await accounts.user('ada', { superuser: true });
  keys.set('ada', await accounts.apiKey('ada'));
  await accounts.user('stranger');
  keys.set('stranger', await accounts.apiKey('stranger'));
});

interface Wish {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(user: string | null, method: string, path: string, wish: Wish = {}) {
  const authorization: Record<string, string> =
    user === null ? {} : { Authorization: `Basic ${btoa(`${user}:${keys.get(user)}`)}` };
  const response = await shared.service.fetch(path, {
    method,
    headers: { ...authorization, ...wish.headers },
    ...(wish.body !== undefined && { body: wish.body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const list = (user: string, path: string) =>
  ask(user, 'PROPFIND', path, { headers: { Depth: '1' } });
const hrefs = (text: string) =>
  [...text.matchAll(/<D:href>([^<]*)<\/D:href>/g)].map(([, href]) => href);
const at = (rel: string) => join(shared.service.docroot, rel);

const LOCK_BODY = (scope: string) =>
  `<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><${scope}/></lockscope><locktype><write/></locktype><owner><href>mailto:o@x</href></owner></lockinfo>`;

async function lock(user: string, path: string, scope = 'exclusive', headers = {}) {
  const answer = await ask(user, 'LOCK', path, {
    body: LOCK_BODY(scope),
    headers: { Timeout: 'Second-300', ...headers },
  });
  return { ...answer, token: answer.headers.get('lock-token') ?? '' };
}

describe('who gets in', () => {
  test('by Basic with an API key; a cookie is nobody’s', async () => {
    const anonymous = await ask(null, 'OPTIONS', '/dav/');
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get('www-authenticate')).toStartWith('Basic ');
    const options = await ask('owner', 'OPTIONS', '/dav/sales/');
    expect([options.status, options.headers.get('dav')]).toEqual([200, '1, 2']);
    const browser = await shared.service.inBrowserAs('ada');
    expect((await browser.fetch('/dav/sales/x.csv')).status).toBe(401);
    const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    const forged = await ask('owner', 'DELETE', '/dav/sales/x.csv', { headers: foreign });
    expect(forged.status).toBe(403);
    expect(existsSync(at('sales/x.csv'))).toBe(true);
  });

  test('a list holds what may be read and nothing else', async () => {
    expect(hrefs((await list('owner', '/dav/')).text)).toEqual([
      '/dav/',
      '/dav/notes/',
      '/dav/sales/',
    ]);
    expect(hrefs((await list('stranger', '/dav/')).text)).toEqual(['/dav/']);
    const all = hrefs((await list('ada', '/dav/')).text);
    expect(all).toEqual(['/dav/', '/dav/notes/', '/dav/sales/', '/dav/secret/']);
    // Known and unknown look alike.
    for (const path of ['/dav/secret/', '/dav/secret/s.csv', '/dav/none/', '/dav/none.csv']) {
      expect((await list('owner', path)).status).toBe(403);
      expect((await ask('owner', 'PUT', path, { body: 'x' })).status).toBe(403);
    }
    for (const path of ['/dav/tool.ts', '/dav/strange.xyz', '/dav/.svc/svc.db', '/dav/.svc/']) {
      expect((await ask('ada', 'GET', path)).status).toBe(404);
    }
    expect((await ask('owner', 'COPY', '/dav/secret/s.csv', to('/dav/sales/s.csv'))).status).toBe(
      403,
    );
  });

  test('while it is off, its address is that of a folder called dav', async () => {
    await using svc = await startService({ files: { 'dav/page.html': '<p>hi' } });
    await svc.accounts.grant('reader', 'dav/*', 'read');
    const reader = await svc.as('reader');
    expect((await reader.fetch('/dav/page')).status).toBe(200);
    expect((await reader.fetch('/dav/', { method: 'PROPFIND' })).status).toBeOneOf([403, 404, 405]);
  });
});

const to = (path: string, headers = {}) => ({
  headers: { Destination: `${shared.service.url}${path}`, ...headers },
});

describe('a file', () => {
  test('is read in parts, replaced in the version that was read, deleted into the trash', async () => {
    expect((await ask('owner', 'PUT', '/dav/notes/new.txt', { body: 'one two' })).status).toBe(201);
    const part = await ask('owner', 'GET', '/dav/notes/new.txt', {
      headers: { Range: 'bytes=4-6' },
    });
    expect([part.status, part.text]).toEqual([206, 'two']);
    const etag = part.headers.get('etag')!;
    const put = (headers: Record<string, string>) =>
      ask('owner', 'PUT', '/dav/notes/new.txt', { body: 'three', headers });
    expect((await put({ 'If-Match': '"other"' })).status).toBe(412);
    expect((await put({ 'If-None-Match': '*' })).status).toBe(412);
    const done = await put({ 'If-Match': etag });
    expect(done.status).toBe(204);
    expect(done.headers.get('etag')).not.toBe(etag);
    expect((await put({ 'Content-Range': 'bytes 0-4/5' })).status).toBe(400);
    expect((await ask('owner', 'DELETE', '/dav/notes/new.txt')).status).toBe(204);
    const trash = await (await shared.superuser.fetch('/_svc/trash')).json();
    expect(trash).toMatchObject([{ path: 'notes/new.txt' }]);
  });

  test('of a kind that is not published, with a hidden name, or too large is not taken', async () => {
    const put = async (path: string, body = 'x') =>
      (await ask('ada', 'PUT', path, { body })).status;
    expect(await put('/dav/sales/a.xyz')).toBe(415);
    expect(await put('/dav/sales/._x.csv')).toBe(400);
    expect(await put('/dav/sales/run.py')).toBe(400);
    expect(await put('/dav/sales/big.txt', 'x'.repeat(100_001))).toBe(413);
    expect(await put('/dav/none/a.txt')).toBe(409);
    expect(await put('/dav/sales')).toBe(405);
    symlinkSync('/etc', at('sales/etc'));
    expect(await put('/dav/sales/etc/a.txt')).toBe(409);
    expect((await ask('ada', 'GET', '/dav/sales/etc/passwd')).status).toBe(404);
  });

  test('is copied and moved with what belongs to it, over another one only if wished', async () => {
    const copy = (headers = {}) =>
      ask('owner', 'COPY', '/dav/sales/x.csv', to('/dav/notes/c.csv', headers));
    expect((await copy()).status).toBe(201);
    expect((await copy({ Overwrite: 'F' })).status).toBe(412);
    expect((await copy()).status).toBe(204);
    const move = (path: string, target: string) => ask('owner', 'MOVE', path, to(target));
    expect((await move('/dav/notes/c.csv', '/dav/notes/d.csv')).status).toBe(201);
    expect(readFileSync(at('notes/d.csv'), 'utf8')).toBe('a,b\n1,2\n3,4\n');
    expect((await move('/dav/notes/d.csv', '/dav/notes/none/d.csv')).status).toBe(409);
    expect((await move('/dav/notes/d.csv', '/dav/notes/d.csv')).status).toBe(403);
    for (const target of ['https://elsewhere.example/dav/a.csv', '/other/a.csv', '/dav/../a.csv']) {
      const answer = await ask('owner', 'MOVE', '/dav/notes/d.csv', {
        headers: { Destination: target },
      });
      expect(answer.status).toBe(502);
    }
    expect((await move('/dav/notes/d.csv', '/dav/secret/d.csv')).status).toBe(403);
    expect((await ask('owner', 'DELETE', '/dav/notes/d.csv')).status).toBe(204);
  });

  test('folders are made, copied, moved and deleted with all in them', async () => {
    expect((await ask('owner', 'MKCOL', '/dav/notes/f')).status).toBe(201);
    expect((await ask('owner', 'MKCOL', '/dav/notes/f')).status).toBe(405);
    expect((await ask('owner', 'MKCOL', '/dav/notes/g/h')).status).toBe(409);
    expect((await ask('owner', 'MKCOL', '/dav/notes/i', { body: 'x' })).status).toBe(415);
    expect((await ask('owner', 'PUT', '/dav/notes/f/a.md', { body: '# a' })).status).toBe(201);
    expect((await ask('owner', 'COPY', '/dav/notes/f/', to('/dav/notes/g/'))).status).toBe(201);
    expect((await ask('owner', 'MOVE', '/dav/notes/f/', to('/dav/sales/f/'))).status).toBe(201);
    expect(hrefs((await list('owner', '/dav/notes/g/')).text)).toEqual([
      '/dav/notes/g/',
      '/dav/notes/g/a.md',
    ]);
    expect((await ask('owner', 'DELETE', '/dav/sales/f/')).status).toBe(204);
    expect((await ask('owner', 'DELETE', '/dav/notes/g/')).status).toBe(204);
    expect(existsSync(at('sales/f'))).toBe(false);
  });
});

describe('a lock', () => {
  test('keeps everybody else out, here and at the other doors, until it is given back', async () => {
    const held = await lock('owner', '/dav/sales/x.csv');
    expect(held.status).toBe(200);
    expect(held.text).toContain('<D:owner><D:href>mailto:o@x</D:href></D:owner>');
    const put = (user: string, headers = {}) =>
      ask(user, 'PUT', '/dav/sales/x.csv', { body: 'a,b\n5,6\n', headers });
    expect((await put('other')).status).toBe(423);
    expect((await put('owner')).status).toBe(423);
    // The token of somebody else opens nothing.
    expect((await put('other', { If: `(${held.token})` })).status).toBe(412);
    expect((await ask('other', 'DELETE', '/dav/sales/')).status).toBe(423);
    const edit = await (
      await shared.service.as('other')
    ).fetch('/api/sales/x/', {
      method: 'PATCH',
      body: '{"action":"update","data":{"_row_id":1,"a":9}}',
    });
    expect(edit.status).toBe(409);
    expect((await edit.json()) as object).toEqual({
      detail: "Resource 'sales/x.csv' is locked by owner",
    });
    expect((await put('owner', { If: `(${held.token})` })).status).toBe(204);
    expect((await lock('other', '/dav/sales/x.csv')).status).toBe(423);
    const refresh = await ask('owner', 'LOCK', '/dav/sales/x.csv', {
      headers: { If: `(${held.token})`, Timeout: 'Second-100000' },
    });
    expect(refresh.text).toContain('<D:timeout>Second-3600</D:timeout>');
    const unlock = (user: string) =>
      ask(user, 'UNLOCK', '/dav/sales/x.csv', { headers: { 'Lock-Token': held.token } });
    expect((await unlock('other')).status).toBe(403);
    expect((await unlock('owner')).status).toBe(204);
    expect((await put('other')).status).toBe(204);
  });

  test('on a folder covers what is in it, for edits of rows too', async () => {
    const held = await lock('owner', '/dav/sales/', 'exclusive', { Depth: 'infinity' });
    expect(held.status).toBe(200);
    expect((await ask('other', 'PUT', '/dav/sales/n.txt', { body: 'x' })).status).toBe(423);
    const edit = await (
      await shared.service.as('other')
    ).fetch('/api/sales/x/', {
      method: 'PATCH',
      body: '{"action":"update","data":{"_row_id":1,"a":9}}',
    });
    expect(edit.status).toBe(409);
    const tagged = { If: `<${shared.service.url}/dav/sales/> (${held.token})` };
    const put = await ask('owner', 'PUT', '/dav/sales/n.txt', { body: 'x', headers: tagged });
    expect(put.status).toBe(201);
    const release = { headers: { 'Lock-Token': held.token } };
    expect((await ask('owner', 'UNLOCK', '/dav/sales/n.txt', release)).status).toBe(204);
    expect((await ask('other', 'DELETE', '/dav/sales/n.txt')).status).toBe(204);
  });

  test('may be shared, ends with its time, and may be on a name that is free', async () => {
    const [one, two] = [
      await lock('owner', '/dav/notes/plan.md', 'shared'),
      await lock('other', '/dav/notes/plan.md', 'shared'),
    ];
    expect([one.status, two.status]).toEqual([200, 200]);
    expect((await lock('other', '/dav/notes/plan.md')).status).toBe(423);
    const put = (headers = {}) =>
      ask('other', 'PUT', '/dav/notes/plan.md', { body: '# B', headers });
    expect((await put()).status).toBe(423);
    expect((await put({ If: `(${two.token})` })).status).toBe(204);
    for (const [user, { token }] of [
      ['owner', one],
      ['other', two],
    ] as const) {
      const headers = { 'Lock-Token': token };
      expect((await ask(user, 'UNLOCK', '/dav/notes/plan.md', { headers })).status).toBe(204);
    }
    const fresh = await lock('owner', '/dav/notes/fresh.txt');
    expect([fresh.status, existsSync(at('notes/fresh.txt'))]).toEqual([201, true]);
    const headers = { If: `(${fresh.token})` };
    expect((await ask('owner', 'DELETE', '/dav/notes/fresh.txt', { headers })).status).toBe(204);
    expect((await ask('other', 'PUT', '/dav/notes/fresh.txt', { body: 'x' })).status).toBe(201);
    expect((await lock('stranger', '/dav/notes/plan.md')).status).toBe(403);
  });

  test('is asked for by conditions in every form', async () => {
    const held = await lock('owner', '/dav/notes/plan.md');
    const got = await ask('owner', 'GET', '/dav/notes/plan.md');
    const etag = got.headers.get('etag');
    const put = async (condition: string) =>
      (
        await ask('owner', 'PUT', '/dav/notes/plan.md', {
          body: `# ${condition.length}`,
          headers: { If: condition },
        })
      ).status;
    expect(await put(`(${held.token} ["wrong"])`)).toBe(412);
    expect(await put(`(Not ${held.token})`)).toBe(412);
    expect(await put(`(<urn:uuid:none>) (Not <DAV:no-lock> ["wrong"])`)).toBe(412);
    expect(await put('(<DAV:no-lock>) nonsense')).toBe(400);
    expect(await put('()')).toBe(400);
    expect(await put(`(${held.token} [${etag}])`)).toBe(204);
    const headers = { 'Lock-Token': held.token };
    expect((await ask('owner', 'UNLOCK', '/dav/notes/plan.md', { headers })).status).toBe(204);
    expect((await ask('owner', 'UNLOCK', '/dav/notes/plan.md', { headers })).status).toBe(409);
  });
});

describe('bodies', () => {
  const propfind = (body: string, headers = {}) =>
    ask('owner', 'PROPFIND', '/dav/sales/', { body, headers: { Depth: '0', ...headers } });
  const wrap = (inner: string) => `<propfind xmlns="DAV:"><prop>${inner}</prop></propfind>`;

  test.each([
    ['no XML', 'x'],
    ['half of it', '<propfind xmlns="DAV:"><prop>'],
    ['another element', '<other xmlns="DAV:"/>'],
    ['a prefix without a namespace', wrap('<x:a/>')],
    ['an empty namespace', wrap('<x:a xmlns:x=""/>')],
    [
      'entities of entities',
      `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${wrap('<b>&b;</b>')}`,
    ],
    [
      'an entity of a file',
      `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>${wrap('<b>&f;</b>')}`,
    ],
    ['an unknown entity', wrap('<b>&f;</b>')],
    ['deep elements', wrap('<a>'.repeat(3_000) + '</a>'.repeat(3_000))],
  ])('%s: 400', async (_, body) => {
    const answer = await propfind(body);
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('root:');
  });

  test('have a limit, and a whole tree is not listed at once', async () => {
    expect((await propfind(`${' '.repeat(70_000)}${wrap('')}`)).status).toBe(413);
    expect((await propfind('', { Depth: 'infinity' })).status).toBe(403);
    expect((await propfind('', { Depth: '7' })).status).toBe(400);
  });

  test('ask for properties by name; what is not known is missing, what clients set is taken or refused by name', async () => {
    const some = await propfind(wrap('<resourcetype/><x:color xmlns:x="urn:x"/>'));
    expect(some.status).toBe(207);
    expect(some.text).toContain('<D:resourcetype><D:collection/></D:resourcetype>');
    expect(some.text).toContain('<x:color xmlns:x="urn:x"/></D:prop><D:status>HTTP/1.1 404');
    const set = (name: string) =>
      ask('owner', 'PROPPATCH', '/dav/sales/x.csv', {
        body: `<propertyupdate xmlns="DAV:"><set><prop>${name}</prop></set></propertyupdate>`,
      });
    const windows = await set(
      '<Z:Win32LastModifiedTime xmlns:Z="urn:schemas-microsoft-com:">x</Z:Win32LastModifiedTime>',
    );
    expect(windows.text).toContain('HTTP/1.1 200');
    expect((await set('<getetag>x</getetag>')).text).toContain('HTTP/1.1 403');
  });
});

test('read-only mode lets clients look and nothing else (DS-22)', async () => {
  await using svc = await startService({
    files: { 'a.csv': 'a\n1\n' },
    config: { webdav: { enabled: true }, upload: { enabled: true }, readonly: true },
  });
  await svc.accounts.user('ada', { superuser: true });
  const client = await svc.as('ada');
  const status = async (method: string, path = '/dav/a.csv', init: RequestInit = {}) =>
    (await client.fetch(path, { method, ...init })).status;
  expect(await status('PROPFIND', '/dav/a.csv', { headers: { Depth: '0' } })).toBe(207);
  expect(await status('GET')).toBe(200);
  expect(await status('PUT', '/dav/a.csv', { body: 'x' })).toBe(405);
  expect(await status('DELETE')).toBe(405);
  expect(await status('MKCOL', '/dav/f')).toBe(405);
  expect(await status('LOCK', '/dav/a.csv', { body: LOCK_BODY('exclusive') })).toBe(405);
  expect(await status('MOVE', '/dav/a.csv', { headers: { Destination: '/dav/b.csv' } })).toBe(405);
});

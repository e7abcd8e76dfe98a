/**
 * Folders and files as a whole: made, written, renamed, moved, deleted and restored by those who may (DS-280 to DS-282).
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Client } from '../support/service.ts';
import { auditAfter, lastAuditId } from './changes.ts';
import { sharedService } from './shared-service.ts';
import { upload } from './upload-form.ts';

const shared = sharedService({
  files: {
    'sales/x.csv': 'a,b\n1,2\n3,4\n5,6\n',
    'sales/.keep': '',
    'secret/s.csv': 'a\n1\n',
    'notes/plan.md': '# Plan\n',
    'code/run.ts': 'export const x = 1;\n',
  },
  config: { upload: { enabled: true, max_size_bytes: 100_000 } },
});

let owner: Client;
let half: Client;
beforeAll(async () => {
  const { accounts } = shared.service;
  for (const right of ['read', 'write'] as const) {
    for (const folder of ['sales/*', 'notes/*', 'made/*', 'code/*']) {
      await accounts.grant('owner', folder, right);
    }
  }
  await accounts.grant('half', 'sales/*', 'write');
  await accounts.grant('half', 'mine/*', 'read');
  await accounts.grant('half', 'mine/*', 'write');
  owner = await shared.service.as('owner');
  half = await shared.service.as('half');
});

const at = (rel: string) => join(shared.service.docroot, rel);

async function ask(client: Client, method: string, path: string, body?: unknown, headers = {}) {
  const response = await client.fetch(path, {
    method,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    body: (text === '' ? null : JSON.parse(text)) as any,
  };
}

const move = (client: Client, from: string, to: string) =>
  ask(client, 'POST', `/_svc/files/${from}`, { action: 'move', to });

describe('a move', () => {
  test('takes rows with their ids, companions and history along, and the old address is gone', async () => {
    shared.service.write('sales/ids.csv', 'a;b\n1;2\n3;4\n5;6\n');
    shared.service.write('.svc/sales/ids.options.json', '{"delimiter":";"}');
    await ask(owner, 'GET', '/_svc/files/sales/ids.csv');
    await expectRows('/api/sales/ids/', [1, 2, 3]);
    expect((await ask(owner, 'DELETE', '/api/sales/ids/1/')).status).toBe(200);
    const before = await lastAuditId(shared.service);
    const answer = await move(owner, 'sales/ids.csv', 'notes/renamed.csv');
    expect(answer).toMatchObject({
      status: 201,
      body: { path: 'notes/renamed.csv', address: '/ui/notes/renamed/', may_move: true },
    });
    await expectRows('/api/notes/renamed/', [2, 3]);
    expect((await ask(owner, 'GET', '/api/sales/ids/')).status).toBe(404);
    expect(existsSync(at('.svc/sales/ids.options.json'))).toBe(false);
    expect(readFileSync(at('.svc/notes/renamed.csv.options.json'), 'utf8')).toContain('";"');
    const history = await ask(owner, 'GET', '/_svc/history/notes/renamed');
    expect(history.body).toMatchObject([{ action: 'delete', renumbered: false }]);
    expect(await auditAfter(shared.service, before)).toMatchObject([
      {
        action: 'move_file',
        resource: 'sales/ids.csv',
        details: 'Moved sales/ids.csv to notes/renamed.csv',
      },
    ]);
  });

  async function expectRows(path: string, ids: number[]): Promise<void> {
    const { body } = await ask(owner, 'GET', path);
    expect(body.map((row: { _row_id: number }) => row._row_id)).toEqual(ids);
  }

  test('never goes over something that is there, and an address keeps its file', async () => {
    shared.service.write('sales/one.csv', 'a\n1\n');
    shared.service.write('sales/two.tsv', 'a\n2\n');
    for (const name of ['one.csv', 'two.tsv']) await ask(owner, 'GET', `/_svc/files/sales/${name}`);
    expect(await move(owner, 'sales/one.csv', 'sales/x.csv')).toMatchObject({
      status: 409,
      body: { detail: "There is a 'sales/x.csv' already" },
    });
    expect(readFileSync(at('sales/one.csv'), 'utf8')).toBe('a\n1\n');
    // `sales/one` stays the file that had the address before.
    expect((await move(owner, 'sales/two.tsv', 'sales/one.tsv')).status).toBe(201);
    expect((await ask(owner, 'GET', '/api/sales/one/')).body).toMatchObject([{ a: 1 }]);
  });

  test.each([
    ['sales/x.csv', '../out.csv'],
    ['sales/x.csv', 'sales/.hidden.csv'],
    ['sales/x.csv', 'sales/x.ts'],
    ['sales/x.csv', 'sales/con.csv'],
    ['sales/x.csv', '_svc/x.csv'],
    ['sales', 'sales/below'],
    ['code', 'sales/code'],
    ['code/run.ts', 'sales/run.txt'],
  ])('of %s to %s is refused', async (from, to) => {
    const root = await shared.superuser;
    const { status } = await move(root, from, to);
    expect([400, 404, 409]).toContain(status);
    expect(existsSync(at(from))).toBe(true);
  });

  test('does not follow links, into or out of the folder', async () => {
    mkdirSync(at('../elsewhere'), { recursive: true });
    writeFileSync(at('../elsewhere/out.csv'), 'a\n1\n');
    symlinkSync(at('../elsewhere'), at('sales/link'));
    symlinkSync(at('../elsewhere/out.csv'), at('sales/link.csv'));
    expect((await move(owner, 'sales/link/out.csv', 'sales/in.csv')).status).toBe(404);
    expect((await move(owner, 'sales/x.csv', 'sales/link/x.csv')).status).toBe(404);
    expect((await move(owner, 'sales/link.csv', 'notes/link.csv')).status).toBe(404);
    expect(existsSync(at('sales/x.csv'))).toBe(true);
  });

  test('needs reading and writing, so that nobody reads by moving; what is not known looks as what is forbidden', async () => {
    expect((await move(half, 'sales/x.csv', 'mine/x.csv')).status).toBe(403);
    const hidden = await move(owner, 'secret/s.csv', 'sales/s.csv');
    const absent = await move(owner, 'secret/none.csv', 'sales/s.csv');
    expect([hidden.status, absent.status]).toEqual([403, 403]);
    expect(hidden.body.detail).toBe('Permission denied: write on secret/s.csv');
    // The top is for those who may upload there.
    expect((await move(owner, 'sales/x.csv', 'x.csv')).status).toBe(403);
    expect((await move(owner, 'sales/x.csv', 'secret/x.csv')).status).toBe(403);
  });
});

describe('the trash', () => {
  test('keeps a folder with all in it, and gives it back', async () => {
    expect((await ask(owner, 'POST', '/_svc/files/made', { action: 'create_folder' })).status).toBe(
      403,
    );
    const root = shared.superuser;
    expect((await ask(root, 'POST', '/_svc/files/made', { action: 'create_folder' })).status).toBe(
      201,
    );
    expect((await ask(root, 'POST', '/_svc/files/made', { action: 'create_folder' })).status).toBe(
      409,
    );
    expect((await ask(owner, 'PUT', '/_svc/files/made/t.csv', 'a;b\n1;2\n')).status).toBe(201);
    shared.service.write('.svc/made/t.csv.options.json', '{"delimiter":";"}');
    const gone = await ask(owner, 'DELETE', '/_svc/files/made');
    expect(gone).toMatchObject({
      status: 200,
      body: { path: 'made', is_folder: true, files: 1, deleted_by: 'owner' },
    });
    expect(existsSync(at('made'))).toBe(false);
    expect(existsSync(at('.svc/made/t.csv.options.json'))).toBe(false);
    expect((await ask(half, 'GET', '/_svc/trash')).body).toEqual([]);
    expect((await ask(half, 'POST', `/_svc/trash/${gone.body.id}`)).status).toBe(404);
    expect((await ask(owner, 'DELETE', `/_svc/trash/${gone.body.id}`)).status).toBe(403);
    // Its place is taken meanwhile, so it needs another.
    mkdirSync(at('made'));
    const back = `/_svc/trash/${gone.body.id}`;
    expect((await ask(root, 'POST', back)).status).toBe(409);
    expect((await ask(root, 'POST', back, { to: 'sales/made' })).body.path).toBe('sales/made');
    expect((await ask(owner, 'GET', '/api/sales/made/t/')).body).toMatchObject([{ a: 1, b: 2 }]);
    expect((await ask(root, 'GET', '/_svc/trash')).body).toEqual([]);
  });

  test('is emptied for good by superusers only', async () => {
    shared.service.write('sales/junk.csv', 'a\n1\n');
    const { body } = await ask(owner, 'DELETE', '/_svc/files/sales/junk.csv');
    expect((await ask(shared.superuser, 'DELETE', `/_svc/trash/${body.id}`)).status).toBe(204);
    expect(existsSync(at(`.svc/.trash/${body.id}`))).toBe(false);
    expect((await ask(shared.superuser, 'POST', `/_svc/trash/${body.id}`)).status).toBe(404);
  });
});

describe('the text of a file', () => {
  test('is written as a whole, in the version that was read or not at all', async () => {
    const read = await ask(owner, 'GET', '/_svc/files/notes/plan.md?text=true');
    expect(read.body).toMatchObject({ text: '# Plan\n', may_write: true });
    const put = (text: string, headers: Record<string, string>) =>
      ask(owner, 'PUT', '/_svc/files/notes/plan.md', text, headers);
    const stored = await put('# Plan B\n', { 'If-Match': `"${read.body.version}"` });
    expect(stored.status).toBe(200);
    const late = await put('# Mine\n', { 'If-Match': `"${read.body.version}"` });
    expect(late).toMatchObject({ status: 412, etag: `"${stored.body.version}"` });
    expect((await put('# New\n', { 'If-None-Match': '*' })).status).toBe(412);
    expect(readFileSync(at('notes/plan.md'), 'utf8')).toBe('# Plan B\n');
  });

  test('is nobody’s who may not read it, and code stays what it is', async () => {
    expect((await ask(half, 'GET', '/_svc/files/sales/x.csv?text=true')).status).toBe(403);
    expect((await ask(owner, 'PUT', '/_svc/files/secret/new.csv', 'a\n')).status).toBe(403);
    expect((await ask(owner, 'PUT', '/_svc/files/sales/run.ts', 'x')).status).toBe(400);
    expect((await ask(owner, 'PUT', '/_svc/files/sales/big.txt', 'x'.repeat(100_001))).status).toBe(
      413,
    );
  });

  test('is written once under an Idempotency-Key (DS-242)', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await ask(owner, 'PUT', '/_svc/files/notes/once.txt', 'one', headers);
    await ask(owner, 'PUT', '/_svc/files/notes/once.txt', 'two');
    const again = await ask(owner, 'PUT', '/_svc/files/notes/once.txt', 'one', headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(readFileSync(at('notes/once.txt'), 'utf8')).toBe('two');
  });
});

test('an upload goes into the folder it names (DS-153)', async () => {
  const answer = await upload(owner, 'put.csv', 'a\n1\n', 'text/csv', 'sales');
  expect(answer).toMatchObject({ status: 201, body: { path: 'sales/put.csv' } });
  expect(readFileSync(at('sales/put.csv'), 'utf8')).toBe('a\n1\n');
  expect((await upload(owner, 'put.csv', 'a\n1\n', 'text/csv', 'secret')).status).toBe(403);
  expect((await upload(shared.superuser, 'p.csv', 'a\n', 'text/csv', '../x')).status).toBe(400);
  expect((await upload(shared.superuser, 'p.csv', 'a\n', 'text/csv', 'none')).status).toBe(404);
});

test('a folder shows what one may read in it, and nothing else', async () => {
  expect((await ask(half, 'GET', '/_svc/files/secret')).status).toBe(403);
  const top = await ask(owner, 'GET', '/_svc/files');
  const names = top.body.entries.map(({ name }: { name: string }) => name);
  expect(names).toContain('sales');
  expect(names).not.toContain('secret');
  const code = await ask(owner, 'GET', '/_svc/files/code');
  expect(code.body.entries).toEqual([]);
});

describe('the editor of texts, without script', () => {
  const open = async (client: Client, path: string) => {
    const response = await client.fetch(path, { headers: { Accept: 'text/html' } });
    const page = await response.text();
    return {
      status: response.status,
      page,
      version: /name="version" value="([^"]*)"/.exec(page)?.[1],
    };
  };
  const send = async (path: string, fields: Record<string, string>) => {
    const browser = await shared.service.inBrowserAs('owner');
    const response = await browser.fetch(path, {
      method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams(fields),
    });
    return {
      status: response.status,
      page: await response.text(),
      to: response.headers.get('location'),
    };
  };

  test('previews, saves with the line ends of the file, and shows both texts of a conflict', async () => {
    shared.service.write('notes/win.md', '# One\r\n\r\ntext\r\n');
    await ask(owner, 'GET', '/_svc/files/notes/win.md');
    const path = '/ui/notes/win.md?edit=1';
    const { page, version } = await open(owner, path);
    expect(page).toContain('# One');
    const preview = await send(path, { text: '# Two <script>', version: version!, do: 'preview' });
    expect(preview.page).toContain('>Two');
    expect(preview.page).not.toContain('<script>');
    expect(readFileSync(at('notes/win.md'), 'utf8')).toStartWith('# One');
    const saved = await send(path, { text: '# Two\r\nmore\r\n', version: version!, do: 'save' });
    expect([saved.status, saved.to]).toEqual([303, '/notes/win']);
    expect(readFileSync(at('notes/win.md'), 'utf8')).toBe('# Two\r\nmore\r\n');
    const late = await send(path, { text: '# Mine\n', version: version!, do: 'save' });
    expect(late.status).toBe(412);
    expect(late.page).toContain('# Two');
    expect(late.page).toContain('# Mine');
    expect(readFileSync(at('notes/win.md'), 'utf8')).toStartWith('# Two');
  });

  test('shows the rows of a CSV, and what is wrong with a text', async () => {
    const path = '/ui/sales/x.csv?edit=1';
    const { version } = await open(owner, path);
    const { page } = await send(path, { text: 'p,q\n7,8\n', version: version!, do: 'preview' });
    expect(page).toMatch(/<th scope="col">p<\/th>[^]*<td>7<\/td>/);
  });

  test('is for who may read and write', async () => {
    expect((await open(half, '/ui/sales/x.csv?edit=1')).status).toBe(403);
    expect((await open(owner, '/ui/secret/s.csv?edit=1')).status).toBe(403);
  });
});

test('the trash has a page that puts back', async () => {
  shared.service.write('sales/gone.csv', 'a\n1\n');
  const { body } = await ask(owner, 'DELETE', '/_svc/files/sales/gone.csv');
  const browser = await shared.service.inBrowserAs('owner');
  const page = await (
    await browser.fetch('/_svc/trash', { headers: { Accept: 'text/html' } })
  ).text();
  expect(page).toContain('sales/gone.csv');
  const back = await browser.fetch(`/_svc/trash/${body.id}`, {
    method: 'POST',
    body: new URLSearchParams(),
  });
  expect([back.status, existsSync(at('sales/gone.csv'))]).toEqual([303, true]);
});

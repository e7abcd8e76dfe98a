/**
 * Uploads by people and programs who may and who may not: what is stored, who owns it, what is refused, what is audited
 * (DS-153 to DS-156, S-U).
 */
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'bun:test';
import { startService } from '../support/service.ts';
import type { Client } from '../support/service.ts';
import { auditAfter, lastAuditId, locksOn } from './changes.ts';
import { eventually } from './eventually.ts';
import { listNoticed } from './listing.ts';
import { sharedService } from './shared-service.ts';
import { BOUNDARY, field, file, formOf, namesIn, send, upload } from './upload-form.ts';

const shared = sharedService({
  files: { 'old.csv': 'n\n1\n', 'run.ts': 'export const x = 1;\n', 'folder/deep.csv': 'n\n1\n' },
  config: { upload: { enabled: true, max_size_bytes: 100_000 } },
});

let uploader: Client;
beforeAll(async () => {
  await shared.service.accounts.grant('uploader', '', 'write');
  uploader = await shared.service.as('uploader');
});

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
const onDisk = (name: string) => readFileSync(join(shared.service.docroot, name), 'utf8');

async function groupsOf(username: string): Promise<string[]> {
  const { db } = shared.service.accounts;
  const rows = await db.all<{ name: string }>(
    `SELECT groups.name FROM groups JOIN group_members ON group_id = groups.id
     JOIN users ON users.id = user_id WHERE username = ? AND groups.name LIKE 'upload%' ORDER BY 1`,
    [username],
  );
  return rows.map(({ name }) => name);
}

async function rightsOfGroup(name: string): Promise<string[]> {
  const rows = await shared.service.accounts.db.all<{ text: string }>(
    `SELECT action || ' ' || resource AS text FROM permissions
     JOIN group_permissions ON permission_id = permissions.id
     JOIN groups ON groups.id = group_id WHERE name = ? ORDER BY 1`,
    [name],
  );
  return rows.map(({ text }) => text);
}

describe('a stored file', () => {
  test('is described, on disk, served, listed and its uploader’s with the answer (DS-153, DS-155, DS-156)', async () => {
    const content = 'city,people\nBern,134\nChur,38\n';
    const before = await lastAuditId(shared.service);
    const answer = await upload(uploader, 'cities.csv', content, 'text/csv');
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      path: 'cities.csv',
      size: content.length,
      mime_type: 'text/plain',
      checksum: sha256(content),
      operation: 'created',
    });
    const rows = await (await uploader.fetch('/api/cities/')).json();
    expect(rows).toMatchObject([{ city: 'Bern' }, { city: 'Chur' }]);
    const listed = (await (await uploader.fetch('/')).json()) as { resources: string[] };
    expect(listed.resources).toEqual(['cities.csv']);
    expect(onDisk('cities.csv')).toBe(content);
    expect(lstatSync(join(shared.service.docroot, 'cities.csv')).mode & 0o777).toBe(
      0o666 & ~process.umask(),
    );
    const audit = await auditAfter(shared.service, before);
    expect(audit).toMatchObject([
      { action: 'upload_success', resource: 'cities.csv', details: 'created cities.csv' },
    ]);
    expect(await groupsOf('uploader')).toContain('upload_owner_cities.csv');
    expect(await rightsOfGroup('upload_owner_cities.csv')).toEqual([
      'read cities.csv',
      'write cities.csv',
    ]);
    expect(await locksOn(shared.service, 'cities.csv')).toEqual([]);
  });

  test('may be replaced, which gives no rights and keeps the mode (DS-155, DS-156)', async () => {
    const path = join(shared.service.docroot, 'private.csv');
    writeFileSync(path, 'n\n1\n', { mode: 0o640 });
    const answer = await upload(uploader, 'private.csv', 'n\n2\n');
    expect(answer).toMatchObject({ status: 201, body: { operation: 'overwritten' } });
    expect(onDisk('private.csv')).toBe('n\n2\n');
    expect(lstatSync(path).mode & 0o777).toBe(0o640);
    expect(await groupsOf('uploader')).not.toContain('upload_owner_private.csv');
    expect((await uploader.fetch('/api/private/')).status).toBe(403);
    expect(await (await shared.reader.fetch('/api/private/')).json()).toMatchObject([{ n: 2 }]);
  });

  test('may be a workbook, whose sheets are there and its uploader’s (DS-156)', async () => {
    const { default: ExcelJS } = await import('exceljs');
    const book = new ExcelJS.Workbook();
    book.addWorksheet('One').addRows([['a'], [1]]);
    book.addWorksheet('Two').addRows([['b'], [2]]);
    const content = new Uint8Array(await book.xlsx.writeBuffer());
    const answer = await upload(uploader, 'book.xlsx', content);
    expect(answer.body).toMatchObject({
      operation: 'created',
      mime_type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    });
    expect(await (await uploader.fetch('/api/book/Two/')).json()).toMatchObject([{ b: 2 }]);
    expect(await rightsOfGroup('upload_owner_book.xlsx')).toEqual([
      'read book.xlsx/*',
      'write book.xlsx/*',
    ]);
  });

  test('that cannot be read is listed as broken (DS-155)', async () => {
    const answer = await upload(uploader, 'broken.xlsx', 'PK\x03\x04 not an archive');
    expect(answer.status).toBe(201);
    const listed = (await (await shared.reader.fetch('/')).json()) as {
      problems: { resource: string }[];
    };
    expect(listed.problems.map(({ resource }) => resource)).toContain('broken.xlsx');
  });

  test('may be empty, and one of no kind is stored, not served, and opens nothing (DS-155, DS-156)', async () => {
    expect(await upload(uploader, 'none.csv', '')).toMatchObject({
      status: 201,
      body: { size: 0, checksum: sha256(''), mime_type: 'text/plain' },
    });
    for (const name of ['data.bin', '*', '@events', 'old']) {
      expect(await upload(uploader, name, 'x\0y')).toMatchObject({
        status: 201,
        body: { path: name, mime_type: 'application/octet-stream' },
      });
      expect(await groupsOf('uploader')).toContain(`upload_owner_${name}`);
      expect(await rightsOfGroup(`upload_owner_${name}`)).toEqual([]);
    }
    expect((await shared.reader.fetch('/data.bin')).status).toBe(404);
    expect((await uploader.fetch('/api/old/')).status).toBe(403);
  });

  test('never takes over the name of another workbook (DS-156)', async () => {
    shared.service.write('twin.xlsx.xlsx', readFileSync(join(shared.service.docroot, 'book.xlsx')));
    const content = readFileSync(join(shared.service.docroot, 'book.xlsx'));
    await listNoticed(shared.reader, 'twin.xlsx.xlsx/Two');
    expect(await upload(await shared.service.as('root'), 'other.xlsx', content)).toMatchObject({
      status: 201,
    });
    expect(await upload(uploader, 'twin.xlsx', 'PK nothing')).toMatchObject({ status: 201 });
    expect(await rightsOfGroup('upload_owner_twin.xlsx')).toEqual([]);
  });

  test('belongs to whoever uploaded it last, after it was deleted (DS-156)', async () => {
    const { service } = shared;
    await service.accounts.grant('second', '', 'write');
    await upload(uploader, 'again.csv', 'n\n1\n');
    await Bun.file(join(service.docroot, 'again.csv')).delete();
    const second = await service.as('second');
    expect(await upload(second, 'again.csv', 'n\n2\n')).toMatchObject({
      body: { operation: 'created' },
    });
    expect((await second.fetch('/api/again/')).status).toBe(200);
    expect((await uploader.fetch('/api/again/')).status).toBe(403);
    expect(await groupsOf('uploader')).not.toContain('upload_owner_again.csv');
  });

  test('is one intact payload after many uploads of the same name at once (DS-155)', async () => {
    const contents = Array.from({ length: 12 }, (_, index) => `n\n${`${index}\n`.repeat(5_000)}`);
    const answers = await Promise.all(contents.map((one) => upload(uploader, 'race.csv', one)));
    expect(answers.map(({ status }) => status)).toEqual(contents.map(() => 201));
    expect(answers.filter(({ body }) => body?.['operation'] === 'created')).toHaveLength(1);
    expect(contents).toContain(onDisk('race.csv'));
    expect(namesIn(shared.service).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('shows what a page needs when a browser without script sends the form', async () => {
    const browser = await shared.service.inBrowserAs('uploader');
    const page = await (await browser.fetch('/', { headers: { Accept: 'text/html' } })).text();
    const token = /name="csrf_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
    expect(page).toContain('action="/api/uploads"');
    const { cookie } = await shared.service.accounts.session('uploader');
    const own = cookie.replace(/.*svc_csrf=/, '');
    expect(token).not.toBe('');
    const response = await shared.service.fetch('/api/uploads', {
      method: 'POST',
      headers: {
        Cookie: cookie,
        Accept: 'text/html',
        'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
      },
      body: formOf([field('csrf_token', own), field('filename', 'plain.csv'), file('n\n1\n')]),
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(await response.text()).toContain('href="/ui/plain/"');
  });
});

describe('the name', () => {
  const BASENAME = 'Filename must be a basename without path separators';
  const NAME = 'Filename is not allowed';

  test.each([
    ...['', '  ', '.', '..', 'a/b.csv', '../x.csv', '/etc/passwd', '..\\x.csv', 'C:\\x.csv'],
    ...['x\0.csv', 'x\n.csv', 'x\u0085.csv', `${'é'.repeat(126)}.csv`, 'a'.repeat(5_000)],
  ])('%p is no base name (row 5)', async (name) => {
    expect(await upload(uploader, name, 'n\n1\n')).toMatchObject({ status: 400, detail: BASENAME });
  });

  test.each([
    ...['folder', '.env', '.htaccess', '.svc', '~$book.xlsx', '_svc', 'node_modules', 'venv'],
    ...[
      '__pycache__',
      'bunfig.toml',
      'BunFig.toml',
      'package.json',
      'tsconfig.json',
      'package.json.',
    ],
    ...[
      'CON.csv',
      'aux',
      'lpt1.txt',
      'x.csv.',
      'nice\u202evsc.exe',
      'bunfig\u200b.toml',
      'x.csv\ufeff.csv',
    ],
  ])('%p is not to be had (row 8)', async (name) => {
    expect(await upload(uploader, name, 'n\n1\n')).toMatchObject({ status: 400, detail: NAME });
  });

  test.each([
    ...[
      'x.ts',
      'x.TS',
      'x.js',
      'x.mjs',
      'x.cjs',
      'x.py',
      'x.tsx',
      'x.jsx',
      'x.so',
      'x.wasm',
      'x.node',
    ],
    ...[
      'x.csv.ts',
      'x.ts::$DATA',
      'x.ts:a.csv',
      'run.ts',
      'x.\uff54\uff53',
      'x.t\u200bs',
      '  x.ts  ',
    ],
  ])('%p is code (row 9)', async (name) => {
    const answer = await upload(uploader, name, 'export const router = 1;');
    expect(answer.status).toBe(400);
    expect(answer.detail).toMatch(/^File extension '\..+' is not allowed$/);
    expect(onDisk('run.ts')).toBe('export const x = 1;\n');
  });

  test.each(['a:b.csv', 'a b.csv', '{x}*?.csv', '%2e%2e.csv', 'x.ts.csv', 'x.ts%00.csv', 'ü.csv'])(
    '%p is taken literally (DS-31)',
    async (name) => {
      const answer = await upload(uploader, `  ${name} `, 'n\n1\n');
      expect(answer).toMatchObject({ status: 201, body: { path: name } });
      expect((await uploader.fetch(`/api/${encodeURIComponent(name)}/`)).status).toBe(200);
    },
  );

  test('is the same in another Unicode form: the file there is replaced (DS-5)', async () => {
    shared.service.write('e\u0301t\u00e9.csv', 'n\n1\n');
    const answer = await upload(uploader, '\u00e9te\u0301.csv', 'n\n2\n');
    expect(answer).toMatchObject({ status: 201, body: { operation: 'overwritten' } });
    expect(onDisk('e\u0301t\u00e9.csv')).toBe('n\n2\n');
    expect(
      namesIn(shared.service).filter((name) => name.normalize('NFC') === 'été.csv'),
    ).toHaveLength(1);
  });

  test('of a link leads to what the link leads to, inside and to data only (rows 7 to 9)', async () => {
    const { docroot } = shared.service;
    const link = (name: string, target: string) => symlinkSync(target, join(docroot, name));
    writeFileSync(join(docroot, '..', 'outside.csv'), 'secret\n');
    link('outside.csv', '../outside.csv');
    link('nowhere.csv', 'not-there.csv');
    link('state.csv', '.svc/svc.db');
    link('code.csv', 'run.ts');
    link('inside.csv', 'folder/deep.csv');
    link('dir.csv', 'folder');
    const STAY = 'Filename must stay at the document root';
    for (const name of ['outside.csv', 'nowhere.csv', 'state.csv']) {
      expect(await upload(uploader, name, 'x')).toMatchObject({ status: 400, detail: STAY });
    }
    expect(await upload(uploader, 'dir.csv', 'x')).toMatchObject({ status: 400, detail: NAME });
    expect(await upload(uploader, 'code.csv', 'x')).toMatchObject({
      status: 400,
      detail: "File extension '.ts' is not allowed",
    });
    expect(await upload(uploader, 'inside.csv', 'n\n7\n')).toMatchObject({ status: 201 });
    expect(onDisk('folder/deep.csv')).toBe('n\n7\n');
    expect(lstatSync(join(docroot, 'inside.csv')).isSymbolicLink()).toBe(true);
    expect(realpathSync(join(docroot, 'inside.csv'))).toBe(join(docroot, 'folder/deep.csv'));
    expect(readFileSync(join(docroot, '..', 'outside.csv'), 'utf8')).toBe('secret\n');
  });

  test('of a pipe is not allowed and never waits', async () => {
    Bun.spawnSync(['mkfifo', join(shared.service.docroot, 'pipe.csv')]);
    expect(await upload(uploader, 'pipe.csv', 'x')).toMatchObject({ status: 400, detail: NAME });
  });
});

describe('who may not', () => {
  test('is refused before the form is looked at, and audited (rows 1 to 2)', async () => {
    const { service } = shared;
    const before = await lastAuditId(service);
    const body = formOf([field('filename', 'denied.csv'), file('n\n1\n')]);
    expect(await send(service, body)).toMatchObject({ status: 401, detail: 'Not authenticated' });
    // One row a minute for the same anonymous doing (DS-141).
    expect(await send(service, body)).toMatchObject({ status: 401 });
    const stranger = await service.as('stranger');
    const denied = 'Permission denied: write on document root';
    expect(await send(stranger, body)).toMatchObject({ status: 403, detail: denied });
    // `*` does not open the boundary (DS-129).
    expect(await send(shared.writer, body)).toMatchObject({ status: 403, detail: denied });
    const { cookie } = await service.accounts.session('uploader');
    expect(await send(service, body, { Cookie: cookie })).toMatchObject({
      status: 403,
      detail: 'Missing CSRF token',
    });
    const scoped = service.withHeaders({
      'X-API-Key': await service.accounts.apiKey('uploader', ['read']),
    });
    expect(await send(scoped, body)).toMatchObject({ status: 403, detail: denied });
    expect(namesIn(service)).not.toContain('denied.csv');
    const audit = await auditAfter(service, before);
    expect(audit.map(({ action, resource, details }) => ({ action, resource, details }))).toEqual(
      ['Not authenticated', denied, denied, 'Missing CSRF token', denied].map((details) => ({
        action: 'upload_denied',
        resource: '<missing>',
        details,
      })),
    );
  });

  test('sees no form (DS-183)', async () => {
    const reader = await shared.service.inBrowserAs('reader');
    const page = await (await reader.fetch('/', { headers: { Accept: 'text/html' } })).text();
    expect(page).not.toContain('/api/uploads');
  });

  test('does not find it in the API description (DS-190)', async () => {
    const paths = async (client: Client) =>
      Object.keys(
        ((await (await client.fetch('/openapi.json')).json()) as { paths: object }).paths,
      );
    expect(await paths(uploader)).toContain('/api/uploads');
    expect(await paths(shared.writer)).not.toContain('/api/uploads');
  });

  test('learns nothing but that from the switch and the mode (rows 3, 4)', async () => {
    await using off = await startService({ files: { 'a.csv': 'n\n1\n' } });
    await using readOnly = await startService({
      config: { readonly: true, upload: { enabled: true } },
    });
    const body = formOf([field('filename', 'x.csv'), file('n\n1\n')]);
    for (const [service, status, detail] of [
      [off, 403, 'Uploads are disabled'],
      [readOnly, 405, 'Server is in read-only mode'],
    ] as const) {
      await service.accounts.user('root', { superuser: true });
      const before = await lastAuditId(service);
      expect(await send(await service.as('root'), body)).toMatchObject({ status, detail });
      expect(await send(await service.as('nobody'), body)).toMatchObject({
        status: 403,
        detail: 'Permission denied: write on document root',
      });
      const audit = await auditAfter(service, before);
      expect(audit.map(({ action }) => action)).toEqual(['upload_denied', 'upload_denied']);
      const browser = await service.inBrowserAs('root');
      const page = await (await browser.fetch('/', { headers: { Accept: 'text/html' } })).text();
      expect(page).not.toContain('/api/uploads');
      expect(namesIn(service)).not.toContain('x.csv');
    }
  });
});

describe('strict rules', () => {
  const strict = sharedService({
    files: { 'there.csv': 'n\n1\n' },
    config: {
      upload: {
        enabled: true,
        strict_mime_sniffing: true,
        collision_policy: 'reject',
        allowed_extensions: ['csv', 'png', '.svg', 'txt', 'html', 'md', 'ts', 'mp3', 'webp'],
        denied_extensions: ['txt'],
        allowed_mime_types: [
          ...['text/plain', 'text/html', 'image/png', 'image/svg+xml', 'application/octet-stream'],
        ],
      },
    },
  });
  const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1');
  const upStrict = async (name: string, content: string | Uint8Array, type?: string) => {
    const { status, detail } = await upload(await strict.service.as('root'), name, content, type);
    return status === 201 ? 201 : detail;
  };

  test('refuse what exists and what the lists leave out (rows 9, 11)', async () => {
    const before = await lastAuditId(strict.service);
    const exists = 'Target file already exists and overwrite is disabled';
    expect(await upStrict('there.csv', 'n\n2\n')).toBe(exists);
    expect(readFileSync(join(strict.service.docroot, 'there.csv'), 'utf8')).toBe('n\n1\n');
    expect(await auditAfter(strict.service, before)).toMatchObject([
      { action: 'upload_failed', resource: 'there.csv', details: exists },
    ]);
    expect(await upStrict('x.TXT', 'a')).toBe("File extension '.txt' is not allowed");
    expect(await upStrict('x.json', '{}')).toBe("File extension '.json' is not allowed");
    expect(await upStrict('noextension', 'a')).toBe("File extension '' is not allowed");
    expect(await upStrict('x.ts', 'a')).toBe("File extension '.ts' is not allowed");
  });

  test('let one of many at once create a file, and tell the others that it exists (row 11)', async () => {
    const root = await strict.service.as('root');
    const contents = Array.from({ length: 8 }, (_, index) => `n\n${index}\n`);
    const answers = await Promise.all(contents.map((one) => upload(root, 'first.csv', one)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array<number>(7).fill(409),
    ]);
  });

  test('refuse content that is not what name and sender say (row 13, DS-154)', async () => {
    const type = (detected: string, reason: string) => `Detected MIME type '${detected}' ${reason}`;
    expect(await upStrict('a.png', PNG, 'image/png')).toBe(201);
    expect(await upStrict('b.csv', PNG)).toBe(type('image/png', "does not match extension '.csv'"));
    expect(await upStrict('c.png', 'text')).toBe(
      type('text/plain', "does not match extension '.png'"),
    );
    expect(await upStrict('d.png', PNG, 'image/gif')).toBe(
      type('image/png', "does not match declared type 'image/gif'"),
    );
    expect(await upStrict('e.csv', '{"a":1}')).toBe(type('application/json', 'is not allowed'));
    expect(await upStrict('f.csv', 'a\n1\n', 'text/csv; charset=utf-8')).toBe(201);
    expect(await upStrict('g.html', ' <!DOCTYPE html>', 'text/html')).toBe(201);
    expect(await upStrict('h.md', '<h1>x</h1>')).toBe(201);
    expect(await upStrict('i.svg', '<?xml version="1.0"?>\n<!-- x --><svg xmlns="x"/>')).toBe(201);
    expect(await upStrict('j.mp3', 'ID3\0\0', 'audio/mpeg')).toBe(201);
    expect(await upStrict('k.mp3', '<html>', 'audio/mpeg')).toBe(
      type('text/html', "does not match extension '.mp3'"),
    );
    expect(namesIn(strict.service).filter((name) => /^[bcdek]\./.test(name))).toEqual([]);
  });
});

test('handlers may be uploaded where the configuration says so (row 9)', async () => {
  await using service = await startService({
    config: { upload: { enabled: true, allow_handlers: true } },
  });
  await service.accounts.user('root', { superuser: true });
  const root = await service.as('root');
  expect(await upload(root, 'x.mjs', 'export const y = 1;')).toMatchObject({ status: 201 });
  expect(await upload(root, 'bunfig.toml', 'preload = ["./x.mjs"]')).toMatchObject({ status: 400 });
  mkdirSync(join(service.docroot, 'sub'));
  expect(await upload(root, 'sub', 'x')).toMatchObject({ status: 400 });
});

test.each([true, false])(
  'an upload gets no name when the right to it went while it came (DS-216), new: %p',
  async (isNew) => {
    const { accounts } = shared.service;
    const name = `left-${isNew}.txt`;
    if (!isNew) shared.service.write(name, 'kept');
    await accounts.grant('leaver', '', 'write');
    const leaver = await shared.service.as('leaver');
    const body = formOf([field('filename', name), file('x'.repeat(50_000))]);
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const before = await lastAuditId(shared.service);
    const answer = leaver.fetch('/api/uploads', {
      method: 'POST',
      headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: readable,
    });
    await writer.write(body.subarray(0, -20));
    const temporary = () => namesIn(shared.service).filter((one) => one.includes('left-'));
    await eventually(() => expect(temporary()).toHaveLength(isNew ? 1 : 2));
    await accounts.db.run("DELETE FROM groups WHERE name = 'only leaver'");
    await writer.write(body.subarray(-20));
    await writer.close();
    const refused = await answer;
    expect(await refused.json()).toEqual({ detail: 'Permission denied: write on document root' });
    expect(refused.status).toBe(403);
    expect(temporary()).toEqual(isNew ? [] : [name]);
    if (!isNew) expect(onDisk(name)).toBe('kept');
    expect(await groupsOf('leaver')).toEqual([]);
    const audit = await auditAfter(shared.service, before);
    expect(audit.map(({ action }) => action)).toEqual(['upload_failed']);
  },
);

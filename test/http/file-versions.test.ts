/** What files held before they were replaced, and having it back (DS-253). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type Service, startService } from '../support/service.ts';
import { field, file, formOf, send } from './upload-form.ts';

let svc: Service;
let anna: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'notes.md': '# One\n\nfirst\n',
      'stock.csv': 'n,v\n1,a\n2,b\n',
      'page.txt': 'x',
      'gone.txt': 'precious',
    },
    config: { upload: { enabled: true }, history: { max_bytes_per_table: 200_000 } },
  });
  await svc.accounts.grant('anna', '*', 'read', 'write');
  await svc.accounts.grant('anna', '', 'write');
  await svc.accounts.grant('reader', '*', 'read');
  await svc.accounts.user('nobody');
  anna = await svc.as('anna');
});
afterAll(() => svc[Symbol.asyncDispose]());

const onDisk = (name: string): string => readFileSync(join(svc.docroot, name), 'utf8');
const put = async (name: string, content: string | Uint8Array): Promise<void> => {
  const answer = await send(anna, formOf([field('filename', name), file(content)]));
  expect({ name, ...answer }).toMatchObject({ status: 201 });
};
interface Listed {
  readonly id: number;
  readonly user: string | null;
  readonly action: string;
  readonly version: { readonly size: number } | null;
}
const listed = async (name: string): Promise<Listed[]> =>
  (await (await anna.fetch(`/_svc/history/${name}`)).json()) as Listed[];
const restore = (name: string, content: unknown, who = anna) =>
  who.fetch(`/api/${name}/history`, { method: 'POST', body: JSON.stringify({ content }) });
const bytesAt = async (name: string, at: number | string): Promise<[number, string]> => {
  const answer = await anna.fetch(`/_svc/history/${name}?content=${at}`);
  return [answer.status, await answer.text()];
};

test('an overwritten file is listed, compared, downloaded and put back, which can be undone too', async () => {
  const before = new Date().toISOString();
  await put('notes.md', '# One\n\nsecond\n');
  await put('notes.md', '# Two\n');
  const [second, first] = await listed('notes.md');
  expect([first, second]).toMatchObject([
    { user: 'anna', action: 'upload', version: { size: 13 } },
    { user: 'anna', action: 'upload', version: { size: 14 } },
  ]);
  expect(await bytesAt('notes.md', first!.id - 1)).toEqual([200, '# One\n\nfirst\n']);
  expect(await bytesAt('notes.md', before)).toEqual([200, '# One\n\nfirst\n']);
  expect(await bytesAt('notes.md', first!.id)).toEqual([200, '# One\n\nsecond\n']);
  expect(await bytesAt('notes.md', second!.id)).toEqual([200, '# Two\n']);
  const address = `/_svc/history/notes.md?content=${first!.id}`;
  const head = await anna.fetch(address, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-disposition')]).toEqual([
    200,
    expect.stringContaining('attachment'),
  ]);
  const again = { headers: { 'If-None-Match': head.headers.get('etag')! } };
  expect((await anna.fetch(address, again)).status).toBe(304);
  const diff = await anna.fetch(`/_svc/history/notes.md?diff=${first!.id}`);
  expect(await diff.text()).toContain('\n-first\n+second\n');
  expect(await (await restore('notes.md', first!.id - 1)).json()).toEqual({
    success: true,
    changed: true,
  });
  expect(onDisk('notes.md')).toBe('# One\n\nfirst\n');
  expect(await (await restore('notes.md', before)).json()).toMatchObject({ changed: false });
  const [restored] = await listed('notes.md');
  expect(restored).toMatchObject({ action: 'restore', user: 'anna', version: { size: 6 } });
  await restore('notes.md', second!.id);
  expect(onDisk('notes.md')).toBe('# Two\n');
  const actions = await svc.accounts.db.all<{ action: string }>(
    `SELECT action FROM audit WHERE resource = 'notes.md' ORDER BY id`,
  );
  expect(actions.map(({ action }) => action)).toEqual([
    'upload_success',
    'upload_success',
    'restore_version',
    'restore_version',
  ]);
});

test('the same content again is no change, and a file that is new has nothing before it', async () => {
  await put('new.txt', 'n');
  await put('new.txt', 'n');
  expect(await listed('new.txt')).toEqual([]);
});

test('who may not write it learns and restores nothing', async () => {
  await put('page.txt', 'y');
  const [entry] = await listed('page.txt');
  for (const [name, status] of [
    ['nobody', 403],
    ['reader', 403],
  ] as const) {
    const client = await svc.as(name);
    for (const query of ['', `?content=${entry!.id - 1}`, `?diff=${entry!.id}`]) {
      expect((await client.fetch(`/_svc/history/page.txt${query}`)).status).toBe(status);
    }
    expect((await restore('page.txt', entry!.id - 1, client)).status).toBe(status);
  }
  expect((await svc.fetch('/api/page.txt/history')).status).toBe(401);
  expect(onDisk('page.txt')).toBe('y');
});

test('a dataset that an upload made unreadable comes back', async () => {
  await put('stock.csv', new Uint8Array([0x6e, 0x2c, 0x76, 0x0a, 0xff, 0xfe, 0x00, 0x0a, 0xc3]));
  const [entry] = await listed('stock');
  expect(entry).toMatchObject({ action: 'upload', version: { size: 12 } });
  expect((await restore('stock', entry!.id - 1)).status).toBe(200);
  expect(await (await anna.fetch('/api/stock/')).json()).toMatchObject([{ n: 1 }, { n: 2 }]);
});

test('what cannot be had says why', async () => {
  const noise = crypto.getRandomValues(new Uint8Array(60_000));
  const large = Buffer.concat(
    Array.from({ length: 6 }, () => crypto.getRandomValues(new Uint8Array(60_000))),
  );
  await put('large.txt', large);
  await put('large.txt', noise);
  const [entry] = await listed('large.txt');
  expect(entry).toMatchObject({ action: 'upload', version: null });
  const [status, text] = await bytesAt('large.txt', entry!.id - 1);
  expect(status).toBe(410);
  expect(text).toContain('too large');
  expect((await bytesAt('large.txt', 'yesterday'))[0]).toBe(422);
  expect((await restore('large.txt', { id: 1 })).status).toBe(422);
  expect((await restore('large.txt', entry!.id - 1)).status).toBe(410);
  await put('large.txt', 'small');
  const [newest] = await listed('large.txt');
  expect((await anna.fetch(`/_svc/history/large.txt?diff=${newest!.id}`)).status).toBe(415);
});

test('damaged and lost versions are told, and stop neither listing nor uploads', async () => {
  await put('gone.txt', 'next');
  const folder = join(svc.stateDir, 'versions');
  const [entry] = await listed('gone.txt');
  const hash = new Bun.CryptoHasher('sha256').update('precious').digest('hex');
  const path = join(folder, `${hash}.zst`);
  const bytes = readFileSync(path);
  for (const damage of [bytes.subarray(0, bytes.length - 3), Buffer.from('none'), null]) {
    if (damage === null) rmSync(path);
    else writeFileSync(path, damage);
    expect((await restore('gone.txt', entry!.id - 1)).status).toBe(410);
    expect(onDisk('gone.txt')).toBe('next');
    expect(await listed('gone.txt')).toHaveLength(1);
  }
  expect(readdirSync(folder).filter((name) => !name.endsWith('.zst'))).toEqual([]);
  await put('gone.txt', 'another');
  expect(await bytesAt('gone.txt', entry!.id)).toEqual([200, 'next']);
});

test('the command line shows the history, and puts files back beside a server, rows without one', async () => {
  await put('notes.md', '# Command\n');
  await put('notes.md', '# Lines\n');
  const json = JSON.parse(
    (await svc.command(['history', svc.docroot, 'notes.md', '--json', '--limit', '1'])).stdout,
  );
  expect(json.changes).toMatchObject([{ user: 'anna', action: 'upload', version: { size: 10 } }]);
  const id = String(json.changes[0].id - 1);
  const restored = await svc.command(['restore-version', svc.docroot, 'notes.md', '--to', id]);
  expect(restored).toMatchObject({ exitCode: 0, stdout: 'notes.md is as it was\n' });
  expect(onDisk('notes.md')).toBe('# Command\n');
  expect((await listed('notes.md'))[0]).toMatchObject({ action: 'restore', user: 'operator' });

  await using own = await startService({ files: { 'a.csv': 'n,v\n1,a\n2,b\n' } });
  await own.accounts.grant('root', '*', 'read', 'write');
  const edit = (data: object) =>
    own.as('root').then((client) =>
      client.fetch('/api/a/', {
        method: 'PATCH',
        body: JSON.stringify({ action: 'update', data }),
      }),
    );
  await edit({ _row_id: 1, v: 'x' });
  await edit({ _row_id: 2, v: 'y' });
  const command = (...more: string[]) =>
    own.command(['restore-version', own.docroot, 'a', '--to', ...more]);
  const beside = await command('1');
  expect(beside.exitCode).toBe(1);
  expect(beside.stderr).toContain('POST /api/a/history {"after":1}');
  await own.kill();
  expect(await command('1')).toMatchObject({ exitCode: 0 });
  const content = () => readFileSync(join(own.docroot, 'a.csv'), 'utf8');
  expect(content()).toBe('n,v\n1,x\n2,b\n');
  const shown = await own.command(['history', own.docroot, 'a']);
  expect(shown.stdout).toContain('operator');
  expect((await own.command(['check', own.docroot])).exitCode).toBe(0);
  for (const wrong of [['yesterday']]) expect((await command(...wrong)).exitCode).toBe(2);
}, 60_000);

test('svc check names what is damaged in the history, and reading goes on', async () => {
  await using own = await startService({
    files: { 'a.csv': 'n,v\n1,a\n', 'b.txt': 'old' },
    config: { upload: { enabled: true } },
  });
  await own.accounts.grant('root', '*', 'read', 'write');
  await own.accounts.grant('root', '', 'write');
  const root = await own.as('root');
  const body = JSON.stringify({ action: 'update', data: { _row_id: 1, v: 'x' } });
  await root.fetch('/api/a/', { method: 'PATCH', body });
  await send(root, formOf([field('filename', 'b.txt'), file('new')]));
  expect((await own.command(['check', own.docroot])).exitCode).toBe(0);
  await own.accounts.db.run(
    `UPDATE change_rows SET rows = CAST('{"columns":["v"],"rows":[[1' AS BLOB)`,
  );
  for (const name of readdirSync(join(own.stateDir, 'versions'))) {
    writeFileSync(join(own.stateDir, 'versions', name), 'no');
  }
  const checked = await own.command(['check', own.docroot]);
  expect(checked.exitCode).toBe(1);
  expect(checked.stdout).toContain('history: change 1 of a.csv: its rows are damaged');
  expect(checked.stdout).toContain(
    'history: change 2 of b.txt: what the file held before: it is damaged',
  );
  const shown = await root.fetch('/api/a/history');
  expect(await shown.json()).toMatchObject([{ id: 1, damaged: true, rows: [] }]);
  expect((await root.fetch('/api/a/?at=0')).status).toBe(410);
  const undo = { method: 'POST', body: JSON.stringify({ change: 1 }) };
  expect((await root.fetch('/api/a/history', undo)).status).toBe(410);
  expect((await root.fetch('/ui/a/?history=1')).status).toBe(200);
  expect(
    (await root.fetch('/api/a/', { method: 'PATCH', body: body.replace('x', 'z') })).status,
  ).toBe(200);
}, 60_000);

test('of many versions the newest stay, and contents that nobody names go', async () => {
  await using own = await startService({
    files: { 'a.txt': 'version 0' },
    config: { upload: { enabled: true }, history: { max_changes_per_table: 2 } },
  });
  await own.accounts.grant('root', '*', 'read', 'write');
  await own.accounts.grant('root', '', 'write');
  const root = await own.as('root');
  for (let at = 1; at <= 5; at++) {
    await send(root, formOf([field('filename', 'a.txt'), file(`version ${at}`)]));
  }
  const entries = (await (await root.fetch('/api/a.txt/history')).json()) as Listed[];
  expect(entries.map(({ id }) => id)).toEqual([5, 4]);
  const at = (id: number) => root.fetch(`/api/a.txt/history?content=${id}`);
  expect(await (await at(3)).text()).toBe('version 3');
  const gone = await at(2);
  expect([gone.status, await gone.text()]).toMatchObject([
    410,
    expect.stringContaining('begins after'),
  ]);
  const folder = join(own.stateDir, 'versions');
  expect(readdirSync(folder)).toHaveLength(5);
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 1, 1);
  await own.restart();
  for (let wait = 0; wait < 200 && readdirSync(folder).length > 2; wait++) await Bun.sleep(50);
  expect(readdirSync(folder)).toHaveLength(2);
  expect(await (await at(4)).text()).toBe('version 4');
}, 60_000);

test.each([
  [true, 503, 'old'],
  [false, 201, 'new'],
])(
  'where versions cannot be kept, required %p: %i',
  async (required, status, content) => {
    await using own = await startService({
      files: { 'a.txt': 'old' },
      config: { upload: { enabled: true }, history: { required } },
    });
    await own.accounts.grant('root', '', 'write');
    expect(existsSync(join(own.stateDir, 'versions'))).toBe(false);
    writeFileSync(join(own.stateDir, 'versions'), 'in the way');
    const form = formOf([field('filename', 'a.txt'), file('new')]);
    expect((await send(await own.as('root'), form)).status).toBe(status);
    expect(readFileSync(join(own.docroot, 'a.txt'), 'utf8')).toBe(content);
  },
  60_000,
);

test('a backup takes the versions along, and another folder shows them', async () => {
  await put('page.txt', 'later');
  const entry = (await listed('page.txt'))[0]!;
  const before = await bytesAt('page.txt', entry.id - 1);
  expect(before[0]).toBe(200);
  const folder = mkdtempSync(join(tmpdir(), 'svc-versions-'));
  const archive = join(folder, 'all.tar.gz');
  const copy = join(folder, 'copy');
  const made = await svc.command(['backup', archive, svc.docroot, '--with-docroot']);
  expect([made.exitCode, made.stderr]).toEqual([0, '']);
  const restored = await svc.command(['restore', archive, copy]);
  expect([restored.exitCode, restored.stderr]).toEqual([0, '']);
  await using other = await startService({ docroot: copy });
  const client = await other.as('anna');
  const answer = await client.fetch(`/_svc/history/page.txt?content=${entry.id - 1}`);
  expect([answer.status, await answer.text()]).toEqual(before);
  rmSync(folder, { recursive: true });
});

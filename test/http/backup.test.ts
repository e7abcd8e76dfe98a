/**
 * `svc backup` and `svc restore`: what was backed up while the server worked answers the same in another folder, and nothing
 * but a whole backup is ever put in place.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from 'tar-stream';
import { type Service, startService } from '../support/service.ts';
import { create, remove, update } from './changes.ts';

let svc: Service;
let folder: string;
let archive: string;
let key: string;
let rowsBefore: string;

/** Starts the same executable on another folder. */
async function serveOther(docroot: string): Promise<Service> {
  return startService({ docroot });
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-backup-')));
  archive = join(folder, 'backup.tar.gz');
  svc = await startService({
    files: {
      'shop/products.csv': 'name,price\ncup,2\njug,9\npot,4\n',
      'shop/empty.csv': '',
      'pages/über uns.md': '# Hello\n',
      '.svc/shop/products.schema.json':
        '{"type":"object","columns":{"name":{"type":"string"},"price":{"type":"number"}}}',
    },
  });
  await svc.accounts.grant('clerk', 'shop/*', 'read', 'write');
  key = await svc.accounts.apiKey('clerk');
  const clerk = await svc.as('clerk');
  await remove(clerk, 'shop/products', 2);
  await create(clerk, 'shop/products', [{ name: 'pan', price: 7 }]);
  rowsBefore = await (await clerk.fetch('/api/shop/products/')).text();
  const made = await svc.command(['backup', archive, svc.docroot, '--with-docroot']);
  expect([made.exitCode, made.stderr]).toEqual([0, '']);
});

afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Entry = { readonly name: string; readonly text: string } | { name: string; link: string };

/** An archive as `svc backup` writes them, with these entries. */
async function writeArchive(path: string, entries: readonly Entry[]): Promise<void> {
  const archive = pack();
  const sums: string[] = [];
  const add = (name: string, text: string): void => {
    archive.entry({ name }, text);
    sums.push(`${new Bun.CryptoHasher('sha256').update(text).digest('hex')}  ${name}\n`);
  };
  const manifest = { format: 1, svc: '1', schema: 1, created_at: '', with_docroot: true };
  add('manifest.json', JSON.stringify(manifest));
  for (const entry of entries) {
    if ('text' in entry) add(entry.name, entry.text);
    else archive.entry({ name: entry.name, type: 'symlink', linkname: entry.link });
  }
  archive.entry({ name: 'SHA256SUMS' }, sums.join(''));
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive as AsyncIterable<Uint8Array>) chunks.push(chunk);
  writeFileSync(path, Bun.gzipSync(Buffer.concat(chunks)));
}

function emptyDocroot(): string {
  const docroot = realpathSync(mkdtempSync(join(folder, 'docroot-')));
  return docroot;
}

describe('a backup made while serving', () => {
  test('answers the same in another folder: rows with their ids, rights, keys, schema, audit', async () => {
    const docroot = emptyDocroot();
    const restored = await svc.command(['restore', archive, docroot]);
    expect([restored.exitCode, restored.stderr]).toEqual([0, '']);
    await using other = await serveOther(docroot);
    const headers = { 'X-API-Key': key };
    const answer = await other.fetch('/api/shop/products/', { headers });
    expect(await answer.text()).toBe(rowsBefore);
    expect(JSON.parse(rowsBefore)).toMatchObject([{ _row_id: 1 }, { _row_id: 3 }, { _row_id: 4 }]);
    expect(await (await other.fetch('/schema/shop/products/', { headers })).text()).toContain(
      '"price"',
    );
    expect((await other.fetch('/api/other/', { headers })).status).toBe(403);
    expect(readFileSync(join(docroot, 'pages/über uns.md'), 'utf8')).toBe('# Hello\n');
    const audited = await other.accounts.db.all<{ action: string; details: string }>(
      'SELECT action, details FROM audit ORDER BY id',
    );
    // The entry about the backup itself is written when the archive is complete, so it is not in it.
    expect(audited.map(({ action }) => action)).toEqual([
      'delete_dataset_row',
      'create_dataset_rows',
      'restore',
      expect.stringContaining('denied'),
    ]);
    expect(audited[2]!.details).toEndWith('(cli)');
    const checked = await other.command(['check', docroot]);
    expect(checked.exitCode).toBe(0);
  });

  test('is a tar that other programs read and check', () => {
    const unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    expect(Bun.spawnSync(['tar', 'xzf', archive, '-C', unpacked]).exitCode).toBe(0);
    const sums = Bun.spawnSync(['sha256sum', '--quiet', '-c', 'SHA256SUMS'], { cwd: unpacked });
    expect([sums.stdout.toString(), sums.exitCode]).toEqual(['', 0]);
    expect(JSON.parse(readFileSync(join(unpacked, 'manifest.json'), 'utf8'))).toMatchObject({
      format: 1,
      with_docroot: true,
    });
    expect(readdirSync(unpacked).sort()).toEqual([
      'SHA256SUMS',
      'companions',
      'docroot',
      'manifest.json',
      'state',
    ]);
  });

  test('is audited, leaves nothing behind, and holds every change answered before it began', async () => {
    const clerk = await svc.as('clerk');
    const busy = join(folder, 'busy.tar.gz');
    let isDone = false;
    const answered: number[] = [];
    const editing = (async () => {
      for (let price = 1; !isDone; price++) {
        const { status } = await update(clerk, 'shop/products', { _row_id: 1, price });
        if (status === 200) answered.push(price);
      }
    })();
    while (answered.length < 3) await Bun.sleep(5);
    const before = answered.at(-1)!;
    const made = await svc.command(['backup', busy, svc.docroot, '--with-docroot']);
    isDone = true;
    await editing;
    expect(made.exitCode).toBe(0);
    const docroot = emptyDocroot();
    expect((await svc.command(['restore', busy, docroot])).exitCode).toBe(0);
    const [, cup] = readFileSync(join(docroot, 'shop/products.csv'), 'utf8').split('\n');
    expect(Number(cup!.split(',')[1])).toBeGreaterThanOrEqual(before);
    expect(
      readdirSync(join(svc.stateDir, 'tmp')).filter((name) => name.startsWith('backup')),
    ).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
    const row = await svc.accounts.db.get<{ details: string }>(
      "SELECT details FROM audit WHERE action = 'backup' ORDER BY id DESC",
    );
    expect(row?.details).toBe('Backed up the state and the document root (cli)');
  });
});

test('links come back, whether their target stands before or behind them', async () => {
  const path = join(folder, 'kept-links.tar.gz');
  await writeArchive(path, [
    { name: 'docroot/a.csv', link: 'b.csv' },
    { name: 'docroot/b.csv', text: 'n\n1\n' },
    { name: 'docroot/c.csv', link: 'b.csv' },
  ]);
  const docroot = emptyDocroot();
  const { exitCode, stderr } = await svc.command(['restore', path, docroot]);
  expect([exitCode, stderr]).toEqual([0, '']);
  for (const name of ['a.csv', 'c.csv']) expect(readlinkSync(join(docroot, name))).toBe('b.csv');
  expect(readFileSync(join(docroot, 'c.csv'), 'utf8')).toBe('n\n1\n');
});

describe('a restore refuses, and changes nothing', () => {
  async function refused(args: readonly string[], reason: RegExp): Promise<void> {
    const { exitCode, stderr, stdout } = await svc.command(['restore', ...args]);
    expect(stdout).toBe('');
    expect(stderr).toMatch(reason);
    expect(exitCode).toBe(1);
  }

  test('while a server runs there', async () => {
    await refused([archive, svc.docroot, '--force'], /in use by process \d+/);
    expect((await svc.fetch('/health')).status).toBe(200);
  });

  test('over accounts or files that are there, unless told to move them aside', async () => {
    const docroot = emptyDocroot();
    mkdirSync(join(docroot, 'shop'));
    writeFileSync(join(docroot, 'shop/products.csv'), 'mine\n');
    await refused([archive, docroot], /'shop\/products\.csv' is there already and differs/);
    expect(readFileSync(join(docroot, 'shop/products.csv'), 'utf8')).toBe('mine\n');
    expect(existsSync(join(docroot, '.svc/svc.db'))).toBe(false);
    const forced = await svc.command(['restore', archive, docroot, '--force']);
    expect(forced.exitCode).toBe(0);
    const aside = readdirSync(join(docroot, '.svc')).find((name) => /^before-restore-/.test(name))!;
    expect(readFileSync(join(docroot, '.svc', aside, 'shop/products.csv'), 'utf8')).toBe('mine\n');
    await refused([archive, docroot], /already holds svc\.db/);
  });

  test('what is no backup, cut, or changed in one byte', async () => {
    const bytes = readFileSync(archive);
    const flipped = Buffer.from(Bun.gunzipSync(bytes));
    const at = flipped.indexOf('pan,7');
    flipped[at] = 'P'.charCodeAt(0);
    const files = {
      text: Buffer.from('hello'),
      empty: Buffer.alloc(0),
      cut: bytes.subarray(0, bytes.length - 2000),
      flipped: Buffer.from(Bun.gzipSync(flipped)),
    };
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, `${name}.tar.gz`);
      writeFileSync(path, content);
      const docroot = emptyDocroot();
      await refused([path, docroot], /no backup made by svc, or it is damaged/);
      expect(readdirSync(docroot).filter((one) => one !== '.svc')).toEqual([]);
      expect(existsSync(join(docroot, '.svc/svc.db'))).toBe(false);
    }
    await refused([join(folder, 'absent.tar.gz'), emptyDocroot()], /no such file/i);
  });

  test('a backup of a newer version, and entries that lead elsewhere', async () => {
    const crafted = join(folder, 'crafted');
    mkdirSync(crafted);
    const manifest = { format: 1, svc: '9.0.0', schema: 999, created_at: '', with_docroot: false };
    const tar = (path: string, ...entries: string[]): string => {
      const target = join(folder, path);
      Bun.spawnSync(['tar', 'czPf', target, ...entries], { cwd: crafted });
      return target;
    };
    writeFileSync(join(crafted, 'manifest.json'), JSON.stringify(manifest));
    await refused([tar('newer.tar.gz', 'manifest.json'), emptyDocroot()], /newer svc \(9\.0\.0\)/);
    writeFileSync(join(crafted, 'manifest.json'), JSON.stringify({ ...manifest, schema: 1 }));
    writeFileSync(join(folder, 'evil'), 'x');
    const docroot = emptyDocroot();
    await refused([tar('evil.tar.gz', 'manifest.json', '../evil'), docroot], /no backup/);
  });

  test('entries below a link: links upon links would lead out of the folder', async () => {
    const outside = join(folder, 'planted');
    const climbing = `${'a/l/'.repeat(12)}x`;
    const path = join(folder, 'links.tar.gz');
    await writeArchive(path, [
      { name: 'docroot/a/l', link: '..' },
      { name: `docroot/${climbing}`, link: '../'.repeat(12) },
      { name: `docroot/x${outside}`, text: 'planted' },
      { name: `docroot/${climbing}${outside}`, text: 'planted' },
    ]);
    await refused([path, emptyDocroot()], /no backup/);
    expect(existsSync(outside)).toBe(false);
  });
});

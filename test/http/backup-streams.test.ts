/**
 * `svc backup -` and `svc restore -`: an archive goes through a pipe, and a restore that fails leaves a folder as it was.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../support/program.ts';
import { program, type Service, startService } from '../support/service.ts';

let svc: Service;
let folder: string;
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-pipes-')));
  svc = await startService({ files: { 'shop/products.csv': 'name,price\ncup,2\n' } });
  await svc.accounts.user('ada');
});
afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

async function run(args: readonly string[], input: Uint8Array | string = ''): Promise<Ended> {
  const child = Bun.spawn([...program(), ...args], {
    cwd: folder,
    env: environment(),
    stdin: new Blob([input as Uint8Array<ArrayBuffer>]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [exitCode, stdout, stderr] = await Promise.all([
    child.exited,
    child.stdout.bytes(),
    child.stderr.text(),
  ]);
  return { exitCode, stdout, stderr };
}

describe('an archive of -', () => {
  test('goes to standard output, alone, and comes back from standard input', async () => {
    const made = await run(['backup', '-', svc.docroot, '--with-docroot']);
    expect(made.exitCode).toBe(0);
    expect(made.stderr).toMatch(/^Wrote \d+ file\(s\), \d+ bytes before compression\n$/);
    expect(readdirSync(folder)).toEqual([]);
    const docroot = join(folder, 'new');
    const restored = await run(['restore', '-', docroot], made.stdout);
    expect([restored.exitCode, restored.stderr]).toEqual([0, '']);
    expect(readFileSync(join(docroot, 'shop/products.csv'), 'utf8')).toBe('name,price\ncup,2\n');
    const checked = await run(['check', docroot]);
    expect(checked.exitCode).toBe(0);
  });

  test('cut on its way is refused, and whoever stops reading is told of', async () => {
    const { stdout } = await run(['backup', '-', svc.docroot]);
    const docroot = join(folder, 'cut');
    const restored = await run(['restore', '-', docroot], stdout.subarray(0, stdout.length - 600));
    expect(restored.stderr).toContain('no backup made by svc, or it is damaged');
    expect(restored.exitCode).toBe(1);
    expect(existsSync(docroot)).toBe(false);
    const shell = `${program().join(' ')} backup - '${svc.docroot}' | true; echo "\${PIPESTATUS[0]}"`;
    const piped = Bun.spawnSync(['bash', '-c', shell], { cwd: folder, env: environment() });
    expect(piped.stdout.toString()).toBe('1\n');
    expect(piped.stderr.toString()).toContain('Whoever read the archive left before its end');
  });
});

test('a restore that fails leaves nothing of its own, not even a lock', async () => {
  const archive = join(folder, 'bad.tar.gz');
  writeFileSync(archive, 'no archive');
  const docroot = join(folder, 'kept');
  mkdirSync(docroot);
  writeFileSync(join(docroot, 'a.csv'), 'n\n1\n');
  expect((await run(['restore', archive, docroot])).exitCode).toBe(1);
  expect(readdirSync(docroot)).toEqual(['a.csv']);
  // A folder for the state that was there stays, as it was.
  const state = join(folder, 'state');
  mkdirSync(state);
  expect((await run(['restore', archive, docroot, '--state-dir', state])).exitCode).toBe(1);
  expect([readdirSync(docroot), readdirSync(state)]).toEqual([['a.csv'], []]);
  const absent = join(folder, 'absent');
  expect((await run(['restore', archive, absent, '--state-dir', state])).exitCode).toBe(1);
  expect(existsSync(absent)).toBe(false);
});

test('a restore reaches file systems that are mounted in the folder, and moves aside what is there', async () => {
  const archive = join(folder, 'whole.tar.gz');
  expect((await run(['backup', archive, svc.docroot, '--with-docroot'])).exitCode).toBe(0);
  const docroot = join(folder, 'disks');
  const shop = join(docroot, 'shop');
  mkdirSync(shop, { recursive: true });
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', shop]);
  if (mounted.exitCode !== 0) {
    console.log('left out: mounting a small file system is not allowed here');
    return;
  }
  try {
    writeFileSync(join(shop, 'products.csv'), 'mine\n');
    const { exitCode, stdout, stderr } = await run(['restore', archive, docroot, '--force']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(readFileSync(join(shop, 'products.csv'), 'utf8')).toBe('name,price\ncup,2\n');
    expect(readdirSync(shop)).toEqual(['products.csv']);
    const aside = /in (.*before-restore-\w+)\n/.exec(new TextDecoder().decode(stdout))![1]!;
    expect(readFileSync(join(aside, 'shop/products.csv'), 'utf8')).toBe('mine\n');
  } finally {
    Bun.spawnSync(['umount', '-l', shop]);
  }
});

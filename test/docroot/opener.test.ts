import { describe, expect, test } from 'bun:test';
import { linkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { statFile } from '../../src/base/files/file-stamp.ts';
import { DocumentRoot } from '../../src/docroot/document-root.ts';
import { openCompanion, openForRead, targetPath } from '../../src/docroot/opener.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';
import { patienceFor } from '../support/patience.ts';
import { descriptorsIn } from '../support/descriptors.ts';

const NOT_FOUND = { code: 'not-found', message: 'Not Found' };

/** A document root `root` beside a folder `outside` that nothing may be served from. */
function site(): { folder: TemporaryFolder; root: DocumentRoot } & Disposable {
  const folder = temporaryFolder({
    'root/a.csv': 'inside',
    'root/sub/b.csv': 'below',
    'outside/secret.csv': 'secret',
    'root/.svc/svc.db': 'secret',
    'root/.svc/a.csv.schema.json': '{}',
    'root/state/svc.db.csv': 'secret',
    'root/node_modules/x.csv': 'secret',
    'root/_svc/x.csv': 'secret',
  });
  const root = new DocumentRoot(folder.at('root'), folder.at('root/state'));
  return { folder, root, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

async function textOf(root: DocumentRoot, rel: string): Promise<string> {
  const file = await openForRead(root, rel);
  try {
    return Buffer.from(await file.read(0, file.size)).toString();
  } finally {
    await file.close();
  }
}

describe('reading', () => {
  test('a file inside, with its stamp and resolved path', async () => {
    using at = site();
    const file = await openForRead(at.root, 'sub/b.csv');
    expect(file.path).toBe(at.folder.at('root/sub/b.csv'));
    expect(file.stamp).toEqual(statFile(file.path) as never);
    expect([file.size, Buffer.from(await file.read(1, 100)).toString()]).toEqual([5, 'elow']);
    await file.close();
    await file.close();
  });

  test.each([
    '../outside/secret.csv',
    'sub/../a.csv',
    '/etc/passwd',
    '',
    '.',
    'sub//b.csv',
    'a.csv/',
    'a.csv\0',
    'absent.csv',
    'a.csv/x',
    'sub',
    '.svc/svc.db',
    '.svc/a.csv.schema.json',
    'state/svc.db.csv',
    'node_modules/x.csv',
    '_svc/x.csv',
    'x'.repeat(300),
  ])('%j is not found (S-P1, S-P4, DS-24)', async (rel) => {
    using at = site();
    await expect(openForRead(at.root, rel)).rejects.toMatchObject(NOT_FOUND);
  });

  test('a file symlink is followed while it ends inside (DS-24)', async () => {
    using at = site();
    symlinkSync('../a.csv', at.folder.at('root/sub/link.csv'));
    symlinkSync('sub/link.csv', at.folder.at('root/chain.csv'));
    symlinkSync(at.folder.at('root/a.csv'), at.folder.at('root/absolute.csv'));
    for (const rel of ['sub/link.csv', 'chain.csv', 'absolute.csv']) {
      expect(await textOf(at.root, rel)).toBe('inside');
    }
  });

  const escapes: Record<string, (at: TemporaryFolder) => void> = {
    outside: (at) => symlinkSync('../outside/secret.csv', at.at('root/x.csv')),
    'outside by a chain': (at) => {
      symlinkSync('../outside/secret.csv', at.at('root/y.csv'));
      symlinkSync('y.csv', at.at('root/x.csv'));
    },
    nowhere: (at) => symlinkSync('gone.csv', at.at('root/x.csv')),
    itself: (at) => symlinkSync('x.csv', at.at('root/x.csv')),
    'a folder': (at) => symlinkSync('sub', at.at('root/x.csv')),
    'a device': (at) => symlinkSync('/dev/zero', at.at('root/x.csv')),
    'a descriptor': (at) => symlinkSync('/proc/self/fd/0', at.at('root/x.csv')),
    'the state directory': (at) => symlinkSync('state/svc.db.csv', at.at('root/x.csv')),
    'a hidden file': (at) => symlinkSync('.svc/svc.db', at.at('root/x.csv')),
    'the root with another spelling': (at) => symlinkSync('../rootless', at.at('root/x.csv')),
  };

  test.each(Object.keys(escapes))('a symlink to %s is not found (S-P5, S-P12)', async (target) => {
    using at = site();
    at.folder.write('rootless', 'secret');
    escapes[target]?.(at.folder);
    await expect(openForRead(at.root, 'x.csv')).rejects.toMatchObject(NOT_FOUND);
  });

  test('a folder symlink is never entered, also when it stays inside', async () => {
    using at = site();
    symlinkSync('sub', at.folder.at('root/in'));
    symlinkSync('../outside', at.folder.at('root/out'));
    await expect(openForRead(at.root, 'in/b.csv')).rejects.toMatchObject(NOT_FOUND);
    await expect(openForRead(at.root, 'out/secret.csv')).rejects.toMatchObject(NOT_FOUND);
  });

  test('pipes and sockets are not found, at once (S-P12)', async () => {
    using at = site();
    Bun.spawnSync(['mkfifo', at.folder.at('root/pipe.csv')]);
    const server = createServer().listen(at.folder.at('root/socket.csv'));
    await new Promise((resolve) => server.once('listening', resolve));
    // Opening a pipe as a file would wait for its writer, who never comes.
    for (const rel of ['pipe.csv', 'socket.csv']) {
      await expect(openForRead(at.root, rel)).rejects.toMatchObject(NOT_FOUND);
    }
    server.close();
  });

  test('a file whose name ends like a deleted one is read', async () => {
    using at = site();
    at.folder.write('root/a (deleted)', 'odd');
    expect(await textOf(at.root, 'a (deleted)')).toBe('odd');
  });

  test('names with backslashes, quotes and newlines are ordinary (S-P8)', async () => {
    using at = site();
    for (const name of ['x\\..\\..\\y.csv', 'a"b\n.csv', "';--.csv"]) {
      at.folder.write(`root/${name}`, 'odd');
      expect(await textOf(at.root, name)).toBe('odd');
    }
  });

  test('an open file keeps its version when it is replaced or deleted', async () => {
    using at = site();
    const file = await openForRead(at.root, 'a.csv');
    at.folder.write('root/new.csv', 'newer');
    renameSync(at.folder.at('root/new.csv'), at.folder.at('root/a.csv'));
    expect(Buffer.from(await file.read(0, 100)).toString()).toBe('inside');
    await file.close();
    expect(await textOf(at.root, 'a.csv')).toBe('newer');
  });

  test('the root may itself be a symlink, and lead elsewhere after a refresh', async () => {
    using at = site();
    at.folder.write('other/a.csv', 'other');
    symlinkSync('root', at.folder.at('current'));
    const root = new DocumentRoot(at.folder.at('current'), at.folder.at('current/.svc'));
    expect(await textOf(root, 'a.csv')).toBe('inside');
    unlinkSync(at.folder.at('current'));
    symlinkSync('other', at.folder.at('current'));
    expect(root.refresh()).toBe(true);
    expect(await textOf(root, 'a.csv')).toBe('other');
  });

  test('no descriptor is left behind by refusals', async () => {
    using at = site();
    symlinkSync('../outside/secret.csv', at.folder.at('root/x.csv'));
    const open = () => descriptorsIn(at.folder.path);
    await openForRead(at.root, 'x.csv').catch(() => undefined);
    const before = open();
    for (let i = 0; i < 10; i++) await openForRead(at.root, 'x.csv').catch(() => undefined);
    expect(open()).toBe(before);
  });
});

describe('races (S-P7)', () => {
  /**
   * Runs a program that keeps swapping things while `read` is called: for a while, and on until `expected` have been answered; with
   * every answer that came and how often.
   */
  async function readWhile(
    at: TemporaryFolder,
    swaps: string,
    read: () => Promise<string>,
    expected: readonly string[],
  ) {
    const text = `import * as fs from 'node:fs';\nfor (let n = 0; ; n++) { ${swaps}\nif (n === 0) console.write('!'); }`;
    const swapper = Bun.spawn([process.execPath, at.write('swap.ts', text)], {
      cwd: at.at('root'),
    });
    const answers = new Map<string, number>();
    try {
      await swapper.stdout.getReader().read();
      const until = performance.now() + 700;
      const giveUpAt = performance.now() + patienceFor(700);
      const isEnough = () =>
        performance.now() >= until && expected.every((answer) => answers.has(answer));
      for (let i = 0; !isEnough() && performance.now() < giveUpAt; i++) {
        const answer = await read().catch((error) => String(error.code));
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
        if (i % 50 === 0) await Bun.sleep(0);
      }
    } finally {
      swapper.kill('SIGKILL');
      await swapper.exited;
    }
    return answers;
  }

  test('a file swapped for a symlink never gives bytes from outside', async () => {
    using at = site();
    const { folder, root } = at;
    const swaps = `
      fs.writeFileSync('t', 'inside'); fs.renameSync('t', 'a.csv');
      fs.symlinkSync('../outside/secret.csv', 's'); fs.renameSync('s', 'a.csv');`;
    const answers = await readWhile(folder, swaps, () => textOf(root, 'a.csv'), [
      'inside',
      'not-found',
    ]);
    expect([...answers.keys()].filter((answer) => !/^(inside|not-found)$/.test(answer))).toEqual(
      [],
    );
    expect(answers.size).toBe(2);
  });

  test('a folder swapped for a symlink never gives bytes from outside', async () => {
    using at = site();
    const { folder, root } = at;
    folder.write('outside/b.csv', 'secret');
    const swaps = `
      fs.renameSync('sub', 'real'); fs.symlinkSync('../outside', 'sub');
      fs.unlinkSync('sub'); fs.renameSync('real', 'sub');`;
    const answers = await readWhile(folder, swaps, () => textOf(root, 'sub/b.csv'), []);
    expect([...answers.keys()].filter((answer) => !/^(below|not-found)$/.test(answer))).toEqual([]);
  });

  test('control: reading by path does give bytes from outside', async () => {
    using at = site();
    const swaps = `
      fs.writeFileSync('t', 'inside'); fs.renameSync('t', 'a.csv');
      fs.symlinkSync('../outside/secret.csv', 's'); fs.renameSync('s', 'a.csv');`;
    const read = () => Bun.file(at.folder.at('root/a.csv')).text();
    expect((await readWhile(at.folder, swaps, read, ['secret'])).has('secret')).toBe(true);
  });

  test('a file that is replaced all the time is always found', async () => {
    using at = site();
    const swaps = `fs.writeFileSync('t.csv', 'inside'); fs.renameSync('t.csv', 'a.csv');`;
    const answers = await readWhile(at.folder, swaps, () => textOf(at.root, 'a.csv'), []);
    expect([...answers.keys()]).toEqual(['inside']);
  });
});

describe('the path to write', () => {
  test('is the file itself, also one that does not exist yet', () => {
    using at = site();
    expect(targetPath(at.root, 'sub/b.csv')).toBe(at.folder.at('root/sub/b.csv'));
    expect(targetPath(at.root, 'new.csv')).toBe(at.folder.at('root/new.csv'));
  });

  test('is what a symlink leads to, so that the link stays (DS-85)', () => {
    using at = site();
    symlinkSync('sub/b.csv', at.folder.at('root/link.csv'));
    expect(targetPath(at.root, 'link.csv')).toBe(at.folder.at('root/sub/b.csv'));
  });

  test('never leaves the root (S-P6)', () => {
    using at = site();
    symlinkSync('../outside/secret.csv', at.folder.at('root/x.csv'));
    symlinkSync('../outside/new.csv', at.folder.at('root/dangling.csv'));
    symlinkSync('../outside', at.folder.at('root/out'));
    symlinkSync('sub', at.folder.at('root/in'));
    symlinkSync('state/svc.db.csv', at.folder.at('root/db.csv'));
    const refused = [
      'x.csv',
      'dangling.csv',
      'out/secret.csv',
      'out/new.csv',
      'in/b.csv',
      'db.csv',
    ];
    for (const rel of [...refused, '../x.csv', 'gone/x.csv', 'sub', '.svc/x.csv', 'state/x.csv']) {
      expect(() => targetPath(at.root, rel)).toThrow('Not Found');
    }
  });
});

describe('companion files', () => {
  test('are read from their folder only, and not through symlinks', async () => {
    using at = site();
    const file = await openCompanion(at.root, '.svc/a.csv.schema.json');
    expect(Buffer.from(await file.read(0, 10)).toString()).toBe('{}');
    await file.close();
    symlinkSync('svc.db', at.folder.at('root/.svc/x.schema.json'));
    symlinkSync('../../outside', at.folder.at('root/.svc/out'));
    at.folder.write('outside/y.schema.json', 'secret');
    for (const rel of [
      '.svc/x.schema.json',
      '.svc/svc.db',
      '.svc/out/y.schema.json',
      '.svc/../a.json',
      'a.json',
    ]) {
      await expect(openCompanion(at.root, rel)).rejects.toMatchObject(NOT_FOUND);
    }
  });
});

test('a hard link is a file like any other', async () => {
  using at = site();
  linkSync(at.folder.at('root/a.csv'), at.folder.at('root/b.csv'));
  expect(await textOf(at.root, 'b.csv')).toBe('inside');
});

test('components above the root are never tested (DS-24)', async () => {
  using folder = temporaryFolder({ '.hidden/node_modules/root/a.csv': 'inside' });
  const path = folder.at('.hidden/node_modules/root');
  expect(await textOf(new DocumentRoot(path, join(path, '.svc')), 'a.csv')).toBe('inside');
});

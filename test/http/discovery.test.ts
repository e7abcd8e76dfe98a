/**
 * Files of the document root become addresses, and stop being ones, while the service runs (DS-24, DS-33, S-P).
 */
import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { eventually, PICK_UP_MS } from './eventually.ts';
import { get, list } from './listing.ts';
import { sharedService } from './shared-service.ts';
import { onSharedCores } from '../support/patience.ts';

const marked = (mark: string): string => `mark\n${mark}\n`;

const shared = sharedService({
  files: {
    'first.csv': marked('first'),
    '.hidden.csv': marked('hidden'),
    '.folder/inner.csv': marked('hidden'),
    '~$open.csv': marked('hidden'),
    '~$folder/inner.csv': marked('hidden'),
    'venv/inner.csv': marked('hidden'),
    'sub/venv/inner.csv': marked('hidden'),
    '__pycache__/inner.csv': marked('hidden'),
    'node_modules/pack/inner.csv': marked('hidden'),
    'sub/node_modules/inner.csv': marked('hidden'),
    'sub/.git/inner.csv': marked('hidden'),
    '_svc/inner.csv': marked('hidden'),
    'sub/_svc/inner.csv': marked('shown'),
    'venv.csv': marked('shown'),
    'my venv/inner.csv': marked('shown'),
    'node_modules.csv': marked('shown'),
    'a~$b.csv': marked('shown'),
    'VENV/inner.csv': marked('shown'),
    'no-extension': marked('hidden'),
    'other.log': marked('hidden'),
    csv: marked('hidden'),
    'x.csv.bak': marked('hidden'),
    'x.csv~': marked('hidden'),
    'trailing.csv.': marked('hidden'),
  },
});

const at = (rel: string): string => join(shared.service.docroot, rel);

/** The one cell of a dataset; the status when there is none. */
async function markOf(name: string): Promise<unknown> {
  const { status, rows } = await list(shared.reader, name);
  return status === 200 ? rows[0]?.['mark'] : status;
}

const listed = async () =>
  ((await get(shared.reader, '/')).body as { resources: string[] }).resources;

const within = (check: () => Promise<void>) => eventually(check, PICK_UP_MS);

/** Both what the names say and what the list says. */
async function isPublished(name: string, mark: string | null): Promise<void> {
  expect({ name, mark: await markOf(name) }).toEqual({ name, mark: mark ?? 404 });
  const rels = await listed();
  expect({ name, isListed: rels.includes(`${name}.csv`) }).toEqual({
    name,
    isListed: mark !== null,
  });
}

describe('a file', () => {
  test('dropped in is an address within a second (DS-33)', async () => {
    writeFileSync(at('dropped.csv'), marked('dropped'));
    await within(() => isPublished('dropped', 'dropped'));
    expect((await get(shared.reader, '/schema/dropped/')).status).toBe(200);
  });

  test('removed is 404 at once and off the list within a second (DS-33)', async () => {
    writeFileSync(at('removed.csv'), marked('removed'));
    await within(() => isPublished('removed', 'removed'));
    unlinkSync(at('removed.csv'));
    expect(await markOf('removed')).toBe(404);
    expect((await get(shared.reader, '/schema/removed/')).status).toBe(404);
    await within(() => isPublished('removed', null));
  });

  test('recreated works again, with its rows numbered anew (DS-33, DS-49)', async () => {
    for (const mark of ['one', 'two', 'three']) {
      writeFileSync(at('again.csv'), marked(mark));
      await within(() => isPublished('again', mark));
      unlinkSync(at('again.csv'));
      await within(() => isPublished('again', null));
    }
    writeFileSync(at('again.csv'), marked('last'));
    await within(() => isPublished('again', 'last'));
    expect((await list(shared.reader, 'again')).rows).toEqual([{ _row_id: 1, mark: 'last' }]);
  });

  test('renamed changes its address (DS-33)', async () => {
    writeFileSync(at('before.csv'), marked('moved'));
    await within(() => isPublished('before', 'moved'));
    renameSync(at('before.csv'), at('after.csv'));
    await within(() => isPublished('after', 'moved'));
    await within(() => isPublished('before', null));
  });

  test('renamed over another replaces it at once (DS-33)', async () => {
    writeFileSync(at('target.csv'), marked('old'));
    await within(() => isPublished('target', 'old'));
    writeFileSync(at('.target.tmp'), marked('new'));
    renameSync(at('.target.tmp'), at('target.csv'));
    expect(await markOf('target')).toBe('new');
  });

  test('that gets or loses its extension comes and goes (DS-23, DS-33)', async () => {
    writeFileSync(at('grown.part'), marked('grown'));
    renameSync(at('grown.part'), at('grown.csv'));
    await within(() => isPublished('grown', 'grown'));
    renameSync(at('grown.csv'), at('grown.csv.bak'));
    await within(() => isPublished('grown', null));
  });

  test('is what it is now with every read, whatever was done to it (DS-33, DS-143)', async () => {
    writeFileSync(at('live.csv'), marked('0'));
    await within(() => isPublished('live', 0 as never));
    for (let round = 1; round <= 30; round++) {
      writeFileSync(at('live.csv'), marked(String(round)));
      expect(await markOf('live')).toBe(round);
    }
    writeFileSync(at('live.csv'), '2\n', { flag: 'a' });
    expect((await list(shared.reader, 'live')).total).toBe(2);
    const file = openSync(at('live.csv'), 'r+');
    ftruncateSync(file, 5);
    expect((await list(shared.reader, 'live')).total).toBe(0);
    writeSync(file, '7\n', 5);
    expect(await markOf('live')).toBe(7);
    closeSync(file);
  });

  test('replaced by content of the same size with the old times is seen at once (DS-143)', async () => {
    writeFileSync(at('sly.csv'), marked('1000'));
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(at('sly.csv'), past, past);
    await within(() => isPublished('sly', 1000 as never));
    for (let round = 1001; round < 1031; round++) {
      const { atime, mtime, size } = statSync(at('sly.csv'));
      writeFileSync(at('sly.csv'), marked(String(round)));
      utimesSync(at('sly.csv'), atime, mtime);
      expect(statSync(at('sly.csv'))).toMatchObject({ size, mtime });
      expect(await markOf('sly')).toBe(round);
    }
    for (let round = 1031; round < 1041; round++) {
      const { atime, mtime } = statSync(at('sly.csv'));
      writeFileSync(at('.sly'), marked(String(round)));
      utimesSync(at('.sly'), atime, mtime);
      renameSync(at('.sly'), at('sly.csv'));
      expect(await markOf('sly')).toBe(round);
    }
  });

  test('rewritten all the time gives whole versions only, or asks to come again (DS-39, F10)', async () => {
    const version = (mark: number): string => `mark\n${`${mark}\n`.repeat((mark % 5) * 2_000 + 1)}`;
    writeFileSync(at('restless.csv'), version(0));
    await within(() => isPublished('restless', 0 as never));
    let isWriting = true;
    const writing = (async () => {
      for (let mark = 1; isWriting; mark++) {
        writeFileSync(at('restless.csv'), version(mark % 90));
        await Bun.sleep(mark % 7);
      }
    })();
    for (let request = 0; request < 60; request++) {
      const { status, rows, total, headers } = await list(shared.reader, 'restless');
      expect([200, 409]).toContain(status);
      if (status === 409) expect(headers.get('Retry-After')).toMatch(/^\d+$/);
      else {
        expect(new Set(rows.map(({ mark }) => mark)).size).toBeLessThanOrEqual(1);
        // Nothing at all is what the file holds between being emptied and being written.
        const mark = Number(rows[0]?.['mark'] ?? -1);
        expect(total).toBe(mark < 0 ? 0 : (mark % 5) * 2_000 + 1);
      }
    }
    isWriting = false;
    await writing;
    writeFileSync(at('restless.csv'), version(99));
    expect((await list(shared.reader, 'restless')).total).toBe(8_001);
  });

  test('written in many small pieces is complete in the end (DS-33)', async () => {
    const file = openSync(at('pieces.csv'), 'w');
    writeSync(file, 'n\n');
    for (let piece = 0; piece < 200; piece++) {
      writeSync(file, `${piece}\n`);
      if (piece % 20 === 0) {
        const { status, total } = await list(shared.reader, 'pieces');
        expect([200, 404]).toContain(status);
        if (status === 200) expect(total).toBe(piece + 1);
      }
    }
    closeSync(file);
    await within(async () => expect((await list(shared.reader, 'pieces')).total).toBe(200));
  });
});

describe('a folder', () => {
  test('made with files, deep down, is published with all of them (DS-33)', async () => {
    for (const rel of ['new/a.csv', 'new/deep/er/b.csv', 'new/deep/er/than/that/c.csv']) {
      mkdirSync(at(rel.slice(0, rel.lastIndexOf('/'))), { recursive: true });
      writeFileSync(at(rel), marked(rel));
    }
    await within(async () => {
      await isPublished('new/a', 'new/a.csv');
      await isPublished('new/deep/er/b', 'new/deep/er/b.csv');
      await isPublished('new/deep/er/than/that/c', 'new/deep/er/than/that/c.csv');
    });
    // And is still watched.
    writeFileSync(at('new/deep/er/than/that/d.csv'), marked('late'));
    await within(() => isPublished('new/deep/er/than/that/d', 'late'));
    expect(await markOf('new/deep')).toBe(404);
  });

  test('renamed takes its files along (DS-33)', async () => {
    mkdirSync(at('moving/inner'), { recursive: true });
    writeFileSync(at('moving/inner/a.csv'), marked('a'));
    await within(() => isPublished('moving/inner/a', 'a'));
    renameSync(at('moving'), at('moved'));
    await within(() => isPublished('moved/inner/a', 'a'));
    await within(() => isPublished('moving/inner/a', null));
    writeFileSync(at('moved/inner/b.csv'), marked('b'));
    await within(() => isPublished('moved/inner/b', 'b'));
  });

  test('moved in from outside, moved out and deleted (DS-33)', async () => {
    const outside = join(shared.service.docroot, '..', 'outside');
    mkdirSync(join(outside, 'deep'), { recursive: true });
    writeFileSync(join(outside, 'deep/a.csv'), marked('a'));
    renameSync(outside, at('arrived'));
    await within(() => isPublished('arrived/deep/a', 'a'));
    renameSync(at('arrived'), outside);
    await within(() => isPublished('arrived/deep/a', null));
    renameSync(outside, at('arrived'));
    await within(() => isPublished('arrived/deep/a', 'a'));
    rmSync(at('arrived'), { recursive: true });
    await within(() => isPublished('arrived/deep/a', null));
  });

  test.skipIf(process.getuid?.() === 0)(
    'that may not be entered does not blind the service for the others (DS-33, DS-34)',
    async () => {
      mkdirSync(at('locked'));
      chmodSync(at('locked'), 0o000);
      await shared.service.restart();
      for (const name of ['late', 'later']) {
        writeFileSync(at(`${name}.csv`), marked(name));
        await within(() => isPublished(name, name));
      }
      chmodSync(at('locked'), 0o700);
    },
  );

  test('called like a dataset is none, its files are ones (DS-32)', async () => {
    mkdirSync(at('folder.csv'));
    writeFileSync(at('folder.csv/inner.csv'), marked('inner'));
    await within(() => isPublished('folder.csv/inner', 'inner'));
    expect(await markOf('folder')).toBe(404);
    expect(await markOf('folder.csv')).toBe(404);
    expect(await listed()).not.toContain('folder.csv');
  });

  test('in the place of a file, and a file in its place (DS-33)', async () => {
    writeFileSync(at('both.csv'), marked('file'));
    await within(() => isPublished('both', 'file'));
    rmSync(at('both.csv'));
    mkdirSync(at('both.csv'));
    await within(() => isPublished('both', null));
    rmSync(at('both.csv'), { recursive: true });
    writeFileSync(at('both.csv'), marked('file again'));
    await within(() => isPublished('both', 'file again'));
  });
});

describe('what is not published', () => {
  test('hidden, temporary and tool folders, at any depth, but only by these names (DS-24)', async () => {
    const rels = await listed();
    expect(
      rels.filter((rel) => /inner|venv|modules|~|no-ext|tsv|bak|csv\.$|^csv$/.test(rel)),
    ).toEqual(
      expect.arrayContaining([
        'VENV/inner.csv',
        'a~$b.csv',
        'my venv/inner.csv',
        'node_modules.csv',
        'sub/_svc/inner.csv',
        'venv.csv',
      ]),
    );
    for (const name of [
      '.hidden',
      '.folder/inner',
      '~$open',
      '~$folder/inner',
      'venv/inner',
      'sub/venv/inner',
      '__pycache__/inner',
      'node_modules/pack/inner',
      'sub/node_modules/inner',
      'sub/.git/inner',
      '_svc/inner',
      'no-extension',
      'other',
      'other.log',
      'csv',
      'x.csv.bak',
      'x.csv~',
      'trailing.csv.',
      'trailing',
    ]) {
      expect({ name, mark: await markOf(name) }).toEqual({ name, mark: 404 });
      expect(rels).not.toContain(`${name}.csv`);
    }
    for (const name of [
      'sub/_svc/inner',
      'venv',
      'my venv/inner',
      'node_modules',
      'a~$b',
      'VENV/inner',
    ]) {
      expect({ name, mark: await markOf(name) }).toEqual({ name, mark: 'shown' });
    }
  });

  test('a name that is no UTF-8, which has no address, and which stops nothing (DS-5)', async () => {
    const name = Buffer.concat([
      Buffer.from(at('bytes ')),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('.csv'),
    ]);
    writeFileSync(name, marked('bytes'));
    writeFileSync(at('sentinel 0.csv'), marked('seen'));
    await within(() => isPublished('sentinel 0', 'seen'));
    expect((await listed()).filter((rel) => rel.startsWith('bytes'))).toEqual([]);
    rmSync(name);
  });

  test('whatever appears there later (DS-24)', async () => {
    mkdirSync(at('.later/deep'), { recursive: true });
    writeFileSync(at('.later/deep/a.csv'), marked('hidden'));
    writeFileSync(at('.svc/stolen.csv'), marked('hidden'));
    writeFileSync(at('venv/later.csv'), marked('hidden'));
    writeFileSync(at('sentinel.csv'), marked('seen'));
    await within(() => isPublished('sentinel', 'seen'));
    for (const name of ['.later/deep/a', '.svc/stolen', 'venv/later']) {
      await isPublished(name, null);
    }
    renameSync(at('.later'), at('later'));
    await within(() => isPublished('later/deep/a', 'hidden'));
    renameSync(at('later'), at('.later'));
    await within(() => isPublished('later/deep/a', null));
  });
});

describe('links', () => {
  const outside = (): string => join(shared.service.docroot, '..', 'secret.csv');

  test('to a file inside are served, and follow it (DS-24)', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real/data.csv'), marked('one'));
    symlinkSync('real/data.csv', at('link.csv'));
    symlinkSync(at('real/data.csv'), at('absolute link.csv'));
    symlinkSync('link.csv', at('link to link.csv'));
    for (const name of ['link', 'absolute link', 'link to link', 'real/data']) {
      await within(() => isPublished(name, 'one'));
    }
    writeFileSync(at('real/data.csv'), marked('two'));
    for (const name of ['link', 'absolute link', 'link to link']) {
      expect(await markOf(name)).toBe('two');
    }
    rmSync(at('real/data.csv'));
    for (const name of ['link', 'absolute link', 'link to link']) {
      expect(await markOf(name)).toBe(404);
      await within(() => isPublished(name, null));
    }
    writeFileSync(at('real/data.csv'), marked('three'));
    for (const name of ['link', 'absolute link', 'link to link']) {
      await within(() => isPublished(name, 'three'));
    }
  });

  test('to a file outside are not there, however they lead there (DS-24, S-P5)', async () => {
    writeFileSync(outside(), marked('secret'));
    symlinkSync(outside(), at('absolute.csv'));
    symlinkSync('../secret.csv', at('relative.csv'));
    symlinkSync('absolute.csv', at('chain.csv'));
    symlinkSync('/etc/passwd', at('passwd.csv'));
    symlinkSync('/proc/self/environ', at('environ.csv'));
    symlinkSync('.svc/svc.db', at('database.csv'));
    symlinkSync('.hidden.csv', at('to hidden.csv'));
    writeFileSync(at('sentinel 2.csv'), marked('seen'));
    await within(() => isPublished('sentinel 2', 'seen'));
    for (const name of [
      'absolute',
      'relative',
      'chain',
      'passwd',
      'environ',
      'database',
      'to hidden',
    ]) {
      await isPublished(name, null);
      expect((await get(shared.superuser, `/${encodeURIComponent(`${name}.csv`)}`)).status).toBe(
        404,
      );
    }
  });

  test('to folders are not followed (DS-24, S-P5)', async () => {
    mkdirSync(at('real folder'), { recursive: true });
    writeFileSync(at('real folder/a.csv'), marked('a'));
    symlinkSync('real folder', at('linked folder'));
    symlinkSync('..', at('real folder/up'));
    symlinkSync('/etc', at('etc'));
    await within(() => isPublished('real folder/a', 'a'));
    for (const name of [
      'linked folder/a',
      'real folder/up/real folder/a',
      'real folder/up/first',
    ]) {
      await isPublished(name, null);
    }
    expect((await get(shared.superuser, '/etc/passwd')).status).toBe(404);
    expect((await get(shared.superuser, '/api/etc/passwd/')).status).toBe(404);
  });

  test('that lead nowhere or in circles are not there, and stop nothing (DS-24, S-P5)', async () => {
    symlinkSync('nothing.csv', at('dangling.csv'));
    symlinkSync('circle b.csv', at('circle a.csv'));
    symlinkSync('circle a.csv', at('circle b.csv'));
    symlinkSync('self.csv', at('self.csv'));
    writeFileSync(at('sentinel 3.csv'), marked('seen'));
    await within(() => isPublished('sentinel 3', 'seen'));
    for (const name of ['dangling', 'circle a', 'circle b', 'self']) await isPublished(name, null);
    writeFileSync(at('nothing.csv'), marked('something'));
    await within(() => isPublished('dangling', 'something'));
  });

  test('that are turned to the outside stop being served with the next read (S-P5, S-P7)', async () => {
    writeFileSync(outside(), marked('secret'));
    writeFileSync(at('inside.csv'), marked('inside'));
    symlinkSync('inside.csv', at('turning.csv'));
    await within(() => isPublished('turning', 'inside'));
    for (let round = 0; round < 20; round++) {
      symlinkSync(round % 2 === 0 ? '../secret.csv' : 'inside.csv', at('.turning'));
      renameSync(at('.turning'), at('turning.csv'));
      const { text } = await list(shared.reader, 'turning');
      expect(text).not.toContain('secret');
    }
    await within(() => isPublished('turning', 'inside'));
  });

  test('swapped with a file all the time never give bytes from outside (S-P7)', async () => {
    writeFileSync(outside(), marked('secret'));
    writeFileSync(at('swapped.csv'), marked('inside'));
    await within(() => isPublished('swapped', 'inside'));
    let isSwapping = true;
    const swapping = (async () => {
      for (let round = 0; isSwapping; round++) {
        if (round % 2 === 0) symlinkSync('../secret.csv', at('.swapped'));
        else writeFileSync(at('.swapped'), marked(`inside ${round}`));
        renameSync(at('.swapped'), at('swapped.csv'));
        await Bun.sleep(0);
      }
    })();
    const seen = new Map<number, number>();
    for (let request = 0; request < 300; request++) {
      const { status, text } = await list(shared.reader, 'swapped');
      expect(text).not.toContain('secret');
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
    isSwapping = false;
    await swapping;
    expect([...seen.keys()].filter((status) => ![200, 404, 409].includes(status))).toEqual([]);
  });
});

describe('what only looks like a file', () => {
  test('a pipe, a socket or a device is 404, at once and for everybody else, too (S-P12)', async () => {
    expect(Bun.spawnSync(['mkfifo', at('pipe.csv')]).exitCode).toBe(0);
    symlinkSync('/dev/zero', at('zero.csv'));
    symlinkSync('pipe.csv', at('to pipe.csv'));
    const socket = createServer().listen(at('socket.csv'));
    writeFileSync(at('sentinel 4.csv'), marked('seen'));
    await within(() => isPublished('sentinel 4', 'seen'));
    for (const name of ['pipe', 'zero', 'to pipe', 'socket']) {
      const start = performance.now();
      await isPublished(name, null);
      expect(performance.now() - start).toBeLessThan(onSharedCores(10_000));
    }
    rmSync(at('pipe.csv'));
    writeFileSync(at('pipe.csv'), marked('a file now'));
    await within(() => isPublished('pipe', 'a file now'));
    socket.close();
  });

  test('a pipe that takes the place of a published file hangs nobody (S-P12)', async () => {
    writeFileSync(at('was file.csv'), marked('file'));
    await within(() => isPublished('was file', 'file'));
    expect(Bun.spawnSync(['mkfifo', at('.fifo')]).exitCode).toBe(0);
    renameSync(at('.fifo'), at('was file.csv'));
    const start = performance.now();
    expect(await markOf('was file')).toBe(404);
    expect(performance.now() - start).toBeLessThan(onSharedCores(10_000));
    expect((await get(shared.service, '/health')).status).toBe(200);
  });
});

describe('many files', () => {
  test('1,000 dropped at once are there within a second, and gone within one (DS-33)', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `many/${index % 10}/file ${index}`);
    mkdirSync(at('many'));
    for (let folder = 0; folder < 10; folder++) mkdirSync(at(`many/${folder}`));
    for (const name of names) writeFileSync(at(`${name}.csv`), marked(name));
    await within(async () => {
      const count = (await listed()).filter((rel) => rel.startsWith('many/')).length;
      expect(count).toBe(1_000);
    });
    for (const name of names.filter((_, index) => index % 97 === 0)) {
      expect(await markOf(name)).toBe(name);
    }
    rmSync(at('many'), { recursive: true });
    await within(async () => {
      expect((await listed()).filter((rel) => rel.startsWith('many/'))).toEqual([]);
    });
    expect(await markOf('first')).toBe('first');
  });

  test('each with its own content, whichever order they are asked in (DS-33, DS-143)', async () => {
    const names = Array.from({ length: 150 }, (_, index) => `set/${index}`);
    mkdirSync(at('set'));
    for (const name of names) writeFileSync(at(`${name}.csv`), marked(name));
    await within(async () => expect(await markOf('set/149')).toBe('set/149'));
    expect(await marksOf(names)).toEqual(names);
    for (const name of names.filter((_, index) => index % 3 === 0)) {
      writeFileSync(at(`${name}.csv`), marked(`${name} changed`));
    }
    const changed = await marksOf(names.toReversed());
    expect(changed.toReversed()).toEqual(
      names.map((name, index) => (index % 3 === 0 ? `${name} changed` : name)),
    );
  });
});

/** Of many datasets, some at a time: more first reads at once than may wait are refused. */
async function marksOf(names: readonly string[]): Promise<unknown[]> {
  const marks: unknown[] = [];
  for (let from = 0; from < names.length; from += 30) {
    marks.push(...(await Promise.all(names.slice(from, from + 30).map(markOf))));
  }
  return marks;
}

describe('while nobody serves', () => {
  test('what came, changed and went is known at the next start (DS-33, DS-49)', async () => {
    const { service } = shared;
    writeFileSync(at('stays.csv'), marked('stays'));
    writeFileSync(at('changes.csv'), marked('1111'));
    writeFileSync(at('goes.csv'), marked('goes'));
    for (const name of ['stays', 'changes', 'goes']) {
      await within(async () => expect(await markOf(name)).not.toBe(404));
    }
    const { atime, mtime } = statSync(at('changes.csv'));
    await service.kill('SIGTERM');
    writeFileSync(at('changes.csv'), marked('2222'));
    utimesSync(at('changes.csv'), atime, mtime);
    rmSync(at('goes.csv'));
    writeFileSync(at('comes.csv'), marked('comes'));
    await service.start();
    expect(await markOf('stays')).toBe('stays');
    expect(await markOf('changes')).toBe(2222);
    expect(await markOf('goes')).toBe(404);
    expect(await markOf('comes')).toBe('comes');
  });
});

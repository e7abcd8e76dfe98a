import { describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import fc from 'fast-check';
import {
  ChangedDuringWrite,
  replaceFile,
  type ReplaceOptions,
} from '../../src/base/files/atomic-file.ts';
import { sourceOf } from '../../src/base/files/file-source.ts';
import { hashFile, statFile } from '../../src/base/files/file-stamp.ts';
import type { Piece } from '../../src/base/files/piece-writer.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';
import { descriptorsIn } from '../support/descriptors.ts';

/** Every write syncs the disk, which others may keep busy. */

const bytes = (text: string) => new TextEncoder().encode(text);

function replace(folder: TemporaryFolder, options: Partial<ReplaceOptions>) {
  const path = folder.at('a.csv');
  return replaceFile({ path, rel: 'a.csv', base: statFile(path), pieces: [], ...options });
}

const read = (folder: TemporaryFolder) => readFileSync(folder.at('a.csv'), 'utf8');
const names = (folder: TemporaryFolder) => readdirSync(folder.path).sort();

describe('replacing', () => {
  test('puts pieces of the old file and new bytes together, and answers the new stamp', async () => {
    using folder = temporaryFolder({ 'a.csv': 'id\n1\n2\n' });
    const pieces = [{ from: 0, to: 3 }, bytes('one\n'), { from: 5, to: 7 }, bytes('3\n')];
    const { stamp, overwritten } = await replace(folder, { pieces });
    expect(read(folder)).toBe('id\none\n2\n3\n');
    expect([stamp, overwritten]).toEqual([statFile(folder.at('a.csv')) as never, true]);
    expect(names(folder)).toEqual(['a.csv']);
  });

  test('the new file is dated before the tick it was written in, so that the next write in it shows', async () => {
    using folder = temporaryFolder();
    let dated = 0;
    for (let attempt = 0; attempt < 50; attempt++) {
      await replace(folder, { pieces: [bytes(`${attempt}\n`)] });
      const { mtimeNs, birthtimeNs } = statSync(folder.at('a.csv'), { bigint: true });
      // Mostly made and written within one tick.
      if (mtimeNs < birthtimeNs && birthtimeNs - mtimeNs < 3_000n) dated++;
    }
    expect(dated).toBeGreaterThan(0);
  });

  test('any pieces give the same bytes as joining them in memory', async () => {
    using folder = temporaryFolder();
    const old = Buffer.alloc(3 << 20);
    for (let i = 0; i < old.byteLength; i++) old[i] = (i * 2654435761) >>> 13;
    const path = folder.at('a.csv');
    const edge = fc.oneof(
      fc.integer({ min: 0, max: old.byteLength }),
      fc.constantFrom(0, 1 << 16, (1 << 20) - 1, 1 << 20, 2 << 20, old.byteLength),
    );
    const range = fc
      .tuple(edge, edge)
      .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
    const short = fc.tuple(edge, fc.nat(200)).map(([at, length]) => ({
      from: at,
      to: Math.min(old.byteLength, at + length),
    }));
    const fresh = fc.oneof(
      fc.uint8Array({ maxLength: 50 }),
      fc.constant(old.subarray(5, 1_500_000)),
    );
    const plan = fc.array(fc.oneof(range, short, short, short, fresh), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(plan, fc.boolean(), async (pieces, isStreamed) => {
        writeFileSync(path, old);
        const expected = Buffer.concat(
          pieces.map((p) => (p instanceof Uint8Array ? p : old.subarray(p.from, p.to))),
        );
        const { hash, stamp } = await replace(folder, {
          pieces: isStreamed ? streamed(pieces) : pieces,
        });
        const actual = readFileSync(path);
        expect(actual.equals(expected)).toBe(true);
        expect(stamp.size).toBe(expected.byteLength);
        const fd = openSync(path, 'r');
        expect(await hashFile(sourceOf(fd, stamp.size))).toBe(hash);
        closeSync(fd);
      }),
      { numRuns: 25 },
    );
    expect(names(folder)).toEqual(['a.csv']);
  });

  test('thousands of small pieces are written as one', async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => `${i},some text\n`);
    using folder = temporaryFolder({ 'a.csv': rows.join('') });
    let at = 0;
    const pieces = rows.flatMap((row, i): Piece[] => {
      const from = at;
      at += row.length;
      return i % 2 === 0 ? [{ from, to: at }] : [bytes(`${i},changed\n`)];
    });
    await replace(folder, { pieces });
    expect(read(folder)).toBe(rows.map((row, i) => (i % 2 ? `${i},changed\n` : row)).join(''));
  });

  test('the new bytes are on disk under a hidden name before they are visible', async () => {
    using folder = temporaryFolder({ 'a.csv': 'old' });
    const calls: string[] = [];
    const { stamp } = await replace(folder, {
      pieces: [bytes('newer')],
      onPrepared: async (prepared) => {
        const hidden = names(folder).find((name) => name !== 'a.csv') ?? '';
        expect(hidden).toMatch(/^\.a\.csv\.svc-[0-9a-f]{16}\.tmp$/);
        expect(readFileSync(folder.at(hidden), 'utf8')).toBe('newer');
        calls.push(`${prepared.inode} ${prepared.size} ${prepared.mtimeNs}`);
      },
      beforeCommit: async () => void calls.push(read(folder)),
    });
    expect(calls).toEqual([`${stamp.inode} ${stamp.size} ${stamp.mtimeNs}`, 'old']);
  });

  test('a name of 255 bytes can be replaced', async () => {
    using folder = temporaryFolder();
    const path = folder.write(`${'ü'.repeat(125)}x.csv`, 'old');
    await replaceFile({ path, rel: 'x', base: statFile(path), pieces: [bytes('new')] });
    expect(readFileSync(path, 'utf8')).toBe('new');
  });
});

describe('what is carried over (DS-85)', () => {
  test('mode, also unusual ones', async () => {
    for (const mode of [0o640, 0o600, 0o666, 0o755]) {
      using folder = temporaryFolder({ 'a.csv': 'old' });
      chmodSync(folder.at('a.csv'), mode);
      await replace(folder, { pieces: [bytes('new')] });
      expect(statSync(folder.at('a.csv')).mode & 0o7777).toBe(mode);
    }
  });

  test('owner and group, where the process may set them', async () => {
    using folder = temporaryFolder({ 'a.csv': 'old' });
    if (process.geteuid?.() === 0) chownSync(folder.at('a.csv'), 12_345, 54_321);
    const { uid, gid } = statSync(folder.at('a.csv'));
    await replace(folder, { pieces: [bytes('new')] });
    expect(statSync(folder.at('a.csv'))).toMatchObject({ uid, gid });
  });

  test('a new file gets the mode the umask says', async () => {
    using folder = temporaryFolder();
    await replace(folder, { base: null });
    expect(statSync(folder.at('a.csv')).mode & 0o777).toBe(0o666 & ~process.umask());
  });
});

describe('creating', () => {
  test('makes the file, durable and whole', async () => {
    using folder = temporaryFolder();
    const result = await replace(folder, { base: null, pieces: [bytes('new')] });
    expect(result).toMatchObject({ overwritten: false, stamp: statFile(folder.at('a.csv')) });
    expect([read(folder), names(folder)]).toEqual(['new', ['a.csv']]);
  });

  test.each(['before', 'meanwhile'])('is refused when the file exists %s', async (when) => {
    using folder = temporaryFolder();
    const make = async () => void folder.write('a.csv', 'theirs');
    if (when === 'before') await make();
    const created = replace(folder, {
      base: null,
      pieces: [bytes('ours')],
      beforeCommit: when === 'before' ? undefined : make,
    });
    await expect(created).rejects.toBeInstanceOf(ChangedDuringWrite);
    expect([read(folder), names(folder)]).toEqual(['theirs', ['a.csv']]);
  });

  test('with base `any` takes whatever is there', async () => {
    using folder = temporaryFolder();
    const write = (text: string, beforeCommit?: () => Promise<void>) =>
      replace(folder, { base: 'any', pieces: [bytes(text)], beforeCommit });
    expect((await write('1')).overwritten).toBe(false);
    expect((await write('2')).overwritten).toBe(true);
    expect((await write('3', async () => unlinkSync(folder.at('a.csv')))).overwritten).toBe(false);
    expect((await write('4', async () => void folder.write('a.csv', 'x'))).overwritten).toBe(true);
    expect([read(folder), names(folder)]).toEqual(['4', ['a.csv']]);
  });

  test('with base `any` leaves folders and symlinks alone', async () => {
    using folder = temporaryFolder({ 'b.csv': 'other' });
    mkdirSync(folder.at('a.csv'));
    await expect(replace(folder, { base: 'any' })).rejects.toBeInstanceOf(ChangedDuringWrite);
    renameSync(folder.at('a.csv'), folder.at('dir'));
    symlinkSync('b.csv', folder.at('a.csv'));
    await expect(replace(folder, { base: 'any' })).rejects.toBeInstanceOf(ChangedDuringWrite);
    expect(read(folder)).toBe('other');
  });
});

/** What other programs do to a file; each answers what must be found there afterwards (null: nothing). */
const externalEdits: Record<string, (folder: TemporaryFolder) => string | null> = {
  appends: (folder) => {
    appendFileSync(folder.at('a.csv'), '3\n');
    return 'id\n1\n2\n3\n';
  },
  'rewrites in place': (folder) => {
    folder.write('a.csv', 'rewritten');
    return 'rewritten';
  },
  truncates: (folder) => {
    truncateSync(folder.at('a.csv'), 3);
    return 'id\n';
  },
  'renames a new version over it': (folder) => {
    folder.write('b.csv', 'renamed over');
    renameSync(folder.at('b.csv'), folder.at('a.csv'));
    return 'renamed over';
  },
  'deletes it': (folder) => {
    unlinkSync(folder.at('a.csv'));
    return null;
  },
  'deletes and recreates it': (folder) => {
    unlinkSync(folder.at('a.csv'));
    folder.write('a.csv', 'id\n1\n9\n');
    return 'id\n1\n9\n';
  },
  'writes as many bytes and puts the mtime back': (folder) => {
    const { atime, mtime } = statSync(folder.at('a.csv'));
    const fd = openSync(folder.at('a.csv'), 'r+');
    writeSync(fd, '9', 3);
    closeSync(fd);
    utimesSync(folder.at('a.csv'), atime, mtime);
    return 'id\n9\n2\n';
  },
  'swaps it for a symlink': (folder) => {
    folder.write('outside.csv', 'outside');
    unlinkSync(folder.at('a.csv'));
    symlinkSync('outside.csv', folder.at('a.csv'));
    return 'outside';
  },
};

describe('when another program', () => {
  const moments = ['before it starts', 'while pieces are written', 'before the commit'] as const;
  const cases = Object.keys(externalEdits).flatMap((edit) =>
    moments.map((moment) => [edit, moment] as const),
  );

  test.each(cases)('%s %s, its version stays (F10)', async (edit, moment) => {
    using folder = temporaryFolder({ 'a.csv': 'id\n1\n2\n' });
    const base = statFile(folder.at('a.csv'));
    let expected: string | null = '';
    const act = () => {
      expected = externalEdits[edit]?.(folder) ?? null;
    };
    if (moment === 'before it starts') act();
    const before = moment === 'before it starts' ? names(folder) : null;
    const write = replace(folder, {
      base,
      pieces: piecesWith(moment === 'while pieces are written' ? act : undefined),
      beforeCommit: async () => (moment === 'before the commit' ? act() : undefined),
    });
    await expect(write).rejects.toBeInstanceOf(ChangedDuringWrite);
    const found = statFile(folder.at('a.csv')) === null ? null : read(folder);
    expect(found).toBe(expected);
    expect(names(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    if (before !== null) expect(names(folder)).toEqual(before);
  });

  test('changed a base whose stamp could not tell, its hash does, and its version is put back', async () => {
    using folder = temporaryFolder({ 'a.csv': 'theirs' });
    const write = replace(folder, { pieces: [bytes('ours')], baseHash: '0123456789abcdef' });
    await expect(write).rejects.toBeInstanceOf(ChangedDuringWrite);
    expect([read(folder), names(folder)]).toEqual(['theirs', ['a.csv']]);
  });

  test('has not changed the base, its hash lets the write pass', async () => {
    using folder = temporaryFolder();
    const { hash } = await replace(folder, { base: null, pieces: [bytes('one')] });
    await replace(folder, { pieces: [bytes('two')], baseHash: hash });
    expect(read(folder)).toBe('two');
  });
});

describe('an abandoned write leaves everything as it was', () => {
  const stop = () => Promise.reject(new Error('stop'));
  const abort = new AbortController();
  abort.abort(new Error('stop'));
  const late = new AbortController();

  const ways: Record<string, Partial<ReplaceOptions>> = {
    'the pieces throw': { pieces: throwing() },
    'onPrepared throws': { onPrepared: stop },
    'beforeCommit throws (DS-91)': { beforeCommit: stop },
    'the signal was aborted': { signal: abort.signal },
    'the signal is aborted late': {
      signal: late.signal,
      onPrepared: async () => late.abort(new Error('stop')),
    },
  };

  test.each(Object.keys(ways))('%s', async (way) => {
    using folder = temporaryFolder({ 'a.csv': 'old' });
    const before = statFile(folder.at('a.csv'));
    await expect(replace(folder, { pieces: [bytes('new')], ...ways[way] })).rejects.toThrow('stop');
    expect(statFile(folder.at('a.csv'))).toEqual(before as never);
    expect(names(folder)).toEqual(['a.csv']);
  });

  test('a piece outside the old file is a bug, not a file', async () => {
    using folder = temporaryFolder({ 'a.csv': 'old' });
    for (const piece of [
      { from: 0, to: 4 },
      { from: 2, to: 1 },
      { from: -1, to: 1 },
    ]) {
      await expect(replace(folder, { pieces: [piece] })).rejects.toBeInstanceOf(RangeError);
    }
    expect([read(folder), names(folder)]).toEqual(['old', ['a.csv']]);
  });

  test('a folder that is gone counts as a change', async () => {
    using folder = temporaryFolder();
    const path = folder.at('gone/a.csv');
    const write = replaceFile({ path, rel: 'gone/a.csv', base: null, pieces: [] });
    await expect(write).rejects.toBeInstanceOf(ChangedDuringWrite);
  });

  test('no descriptor stays open', async () => {
    using folder = temporaryFolder({ 'a.csv': 'old' });
    const open = () => descriptorsIn(folder.path);
    await replace(folder, { pieces: [bytes('warm up')] });
    const before = open();
    for (let i = 0; i < 5; i++) {
      await replace(folder, { pieces: [bytes(`${i}`)] });
      await replace(folder, { beforeCommit: stop }).catch(() => undefined);
      await replace(folder, { base: null }).catch(() => undefined);
      await replace(folder, { pieces: throwing() }).catch(() => undefined);
    }
    expect(open()).toBe(before);
  });
});

test('readers find one version whole, never a mixture (F3)', async () => {
  using folder = temporaryFolder({ 'a.csv': '0'.repeat(50_000) });
  let isDone = false;
  const versions = new Set<string>();
  const reader = (async () => {
    while (!isDone) {
      const text = await Bun.file(folder.at('a.csv')).text();
      versions.add(`${text.length} ${[...new Set(text)].join('')}`);
      await Bun.sleep(0);
    }
  })();
  for (let i = 1; i <= 40; i++) {
    const size = i % 2 === 0 ? 50_000 : 90_000;
    await replace(folder, { pieces: [bytes(String(i % 10).repeat(size))] });
  }
  isDone = true;
  await reader;
  for (const version of versions) expect(version).toMatch(/^(50000 [02468]|90000 [13579])$/);
  expect(versions.size).toBeGreaterThan(2);
});

function* piecesWith(edit: (() => void) | undefined): Generator<Piece> {
  yield { from: 0, to: 3 };
  edit?.();
  yield bytes('one\n');
  yield { from: 5, to: 7 };
}

function* throwing(): Generator<Piece> {
  yield bytes('some');
  throw new Error('stop');
}

async function* streamed(pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces;
}

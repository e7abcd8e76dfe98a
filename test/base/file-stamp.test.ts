import { expect, test } from 'bun:test';
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { sourceOf } from '../../src/base/files/file-source.ts';
import {
  ContentHash,
  HASH_CHUNK_BYTES,
  hashFile,
  isRacy,
  RACY_WINDOW_MS,
  sameContent,
  sameStamp,
  StampedPath,
  statFile,
  type FileStamp,
} from '../../src/base/files/file-stamp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a stamp changes with the content, also when size and mtime are put back (F10)', () => {
  using folder = temporaryFolder({ 'a.csv': 'one' });
  const path = folder.at('a.csv');
  utimesSync(path, 1, 1);
  const before = statFile(path);
  folder.write('a.csv', 'two');
  utimesSync(path, 1, 1);
  const after = statFile(path);
  expect(after).toMatchObject({ size: 3, mtimeNs: '1000000000' });
  expect(sameStamp(before, after)).toBe(false);
  expect(sameStamp(after, statFile(path))).toBe(true);
});

test('only a regular file, or a symlink to one, has a stamp', () => {
  using folder = temporaryFolder({ 'a.csv': 'one' });
  mkdirSync(folder.at('dir'));
  symlinkSync('a.csv', folder.at('link'));
  symlinkSync('loop', folder.at('loop'));
  expect(statFile(folder.at('link'))).toEqual(statFile(folder.at('a.csv')));
  for (const rel of ['dir', 'absent', 'a.csv/x', 'loop', 'x'.repeat(300)]) {
    expect(statFile(folder.at(rel))).toBeNull();
  }
  expect(statFile('/dev/null')).toBeNull();
});

test('no file equals no file only', () => {
  const stamp: FileStamp = { size: 0, mtimeNs: '1', ctimeNs: '1', inode: '1' };
  expect([sameStamp(null, null), sameStamp(null, stamp), sameStamp(stamp, null)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(sameContent(stamp, { ...stamp, ctimeNs: '2' })).toBe(true);
});

test('a stamp is racy while a second change could hide behind it', () => {
  const at = (mtimeMs: number, ctimeMs: number) => ({
    size: 0,
    inode: '1',
    mtimeNs: `${mtimeMs}000000`,
    ctimeNs: `${ctimeMs}000000`,
  });
  const now = 1_800_000_000_000;
  const old = now - RACY_WINDOW_MS - 1;
  expect(isRacy(at(now, now), now)).toBe(true);
  expect(isRacy(at(old, now - RACY_WINDOW_MS), now)).toBe(true);
  expect(isRacy(at(old, old), now)).toBe(false);
  expect(isRacy(at(now + 86_400_000, old), now)).toBe(false);
});

test('a file just written is racy', () => {
  using folder = temporaryFolder({ 'a.csv': 'one' });
  const stamp = statFile(folder.at('a.csv'));
  expect(stamp && isRacy(stamp, Date.now())).toBe(true);
});

test('the hash of a file is that of its content however it arrives', async () => {
  const content = Buffer.alloc(HASH_CHUNK_BYTES * 2 + 17, 'abcdefg');
  using folder = temporaryFolder();
  const path = folder.write('big', content);
  const fd = openSync(path, 'r');
  const hash = new ContentHash();
  for (let at = 0; at < content.byteLength; at += HASH_CHUNK_BYTES) {
    hash.add(content.subarray(at, at + HASH_CHUNK_BYTES));
  }
  expect(await hashFile(sourceOf(fd, statSync(path).size))).toBe(hash.digest());
  closeSync(fd);
});

test('different contents have different hashes, and sizes count', async () => {
  const hashOf = async (bytes: Uint8Array) => {
    const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
    return hashFile({ size: bytes.byteLength, read });
  };
  const bytes = fc.uint8Array({ maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(bytes, bytes, async (a, b) => {
      expect((await hashOf(a)) === (await hashOf(b))).toBe(Buffer.compare(a, b) === 0);
    }),
  );
  expect(await hashOf(new Uint8Array(0))).toMatch(/^[0-9a-f]{16}$/);
});

test('hashing stops when it is told to', async () => {
  const source = { size: 1, read: async () => new Uint8Array(1) };
  await expect(hashFile(source, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});

test('a path that is looked at again and again is seen as it is', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'a');
  const other = join(folder.path, 'b');
  const link = join(folder.path, 'link');
  symlinkSync(path, link);
  const looks = [new StampedPath(path), new StampedPath(link)];
  const steps: (() => void)[] = [
    () => {},
    () => writeFileSync(path, 'one'),
    () => writeFileSync(path, 'three'),
    () => utimesSync(path, 1, 1),
    () => utimesSync(path, 1, 1.000001),
    () => {
      writeFileSync(other, 'three');
      utimesSync(other, 1, 1.000001);
      renameSync(other, path);
    },
    () => rmSync(path),
    () => mkdirSync(path),
    () => rmdirSync(path),
    () => writeFileSync(path, 'one'),
  ];
  for (const step of steps) {
    step();
    for (const look of looks) {
      const stamp = look.stamp();
      expect(stamp).toEqual(statFile(path));
      expect(look.stamp()).toBe(stamp);
    }
  }
});

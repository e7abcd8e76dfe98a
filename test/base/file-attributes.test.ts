import { expect, test } from 'bun:test';
import { dlopen } from 'bun:ffi';
import { chmodSync, chownSync, statSync } from 'node:fs';
import { replaceFile } from '../../src/base/files/atomic-file.ts';
import { statFile } from '../../src/base/files/file-stamp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { symbols } = dlopen('libc.so.6', {
  setxattr: { args: ['ptr', 'ptr', 'ptr', 'u64', 'i32'], returns: 'i32' },
  getxattr: { args: ['ptr', 'ptr', 'ptr', 'u64'], returns: 'i64' },
});
const text = (value: string) => Buffer.from(`${value}\0`);

function setAttribute(path: string, name: string, value: Uint8Array): boolean {
  return symbols.setxattr(text(path), text(name), value, value.byteLength, 0) === 0;
}

function attribute(path: string, name: string): string | null {
  const value = Buffer.alloc(256);
  const length = Number(symbols.getxattr(text(path), text(name), value, value.byteLength));
  return length < 0 ? null : value.toString('utf8', 0, length);
}

async function replace(path: string): Promise<void> {
  const pieces = [Buffer.from('new')];
  await replaceFile({ path, rel: 'a.csv', base: statFile(path), pieces });
}

test('extended attributes are carried over (DS-85)', async () => {
  using folder = temporaryFolder({ 'a.csv': 'old' });
  const path = folder.at('a.csv');
  const isSupported = setAttribute(path, 'user.origin', Buffer.from('import 7'));
  setAttribute(path, 'user.empty', new Uint8Array(0));
  await replace(path);
  expect(attribute(path, 'user.origin')).toBe(isSupported ? 'import 7' : null);
  expect(attribute(path, 'user.empty')).toBe(isSupported ? '' : null);
});

test('an access list is carried over, and with it the group bits it stands for', async () => {
  using folder = temporaryFolder({ 'a.csv': 'old' });
  const path = folder.at('a.csv');
  // Version 2: owner rw, user 12345 r, group -, mask r, other -.
  const entries = [
    [1, 6, -1],
    [2, 4, 12_345],
    [4, 0, -1],
    [16, 4, -1],
    [32, 0, -1],
  ] as const;
  const list = Buffer.alloc(4 + entries.length * 8);
  list.writeUInt32LE(2, 0);
  for (const [i, [tag, rights, id]] of entries.entries()) {
    list.writeUInt16LE(tag, 4 + i * 8);
    list.writeUInt16LE(rights, 6 + i * 8);
    list.writeInt32LE(id, 8 + i * 8);
  }
  const isSupported = setAttribute(path, 'system.posix_acl_access', list);
  const { mode } = statSync(path);
  await replace(path);
  expect(statSync(path).mode).toBe(mode);
  const kept = attribute(path, 'system.posix_acl_access');
  expect(kept !== null).toBe(isSupported);
});

test('set-id bits survive only together with the owner', async () => {
  using folder = temporaryFolder({ 'a.csv': 'old' });
  const path = folder.at('a.csv');
  if (process.geteuid?.() === 0) chownSync(path, 12_345, 12_345);
  chmodSync(path, 0o6750);
  await replace(path);
  expect(statSync(path).mode & 0o7777).toBe(0o6750);
});

/**
 * A program that writes versions of one file, for tests that kill it or let its system calls fail.
 *
 * `atomic` is the product's writer. `in-place` and `careless` are wrong on purpose, as controls: the first overwrites
 * the file, the second uses a temporary file and a rename but believes every write and checks nothing.
 *
 * Arguments: writer, path, first version, last version. Reports on stdout, a line each: `ready`, `committing <v>`,
 * `acked <v>` or `failed <v> <code> <version the file then holds>`.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFile } from '../../src/base/files/atomic-file.ts';
import { AppError } from '../../src/base/errors.ts';
import { statFile } from '../../src/base/files/file-stamp.ts';
import { readVersion, versionBytes } from './version-file.ts';

type Write = (path: string, content: Uint8Array, commit: () => Promise<void>) => Promise<void>;

const CHUNK_BYTES = 32 << 10;

const writers: Record<string, Write> = {
  atomic: async (path, content, beforeCommit) => {
    const base = statFile(path);
    await replaceFile({ path, rel: 'a.csv', base, pieces: [content], beforeCommit });
  },
  'in-place': async (path, content, commit) => {
    await commit();
    const fd = openSync(path, 'r+');
    ftruncateSync(fd, 0);
    for (let at = 0; at < content.byteLength; at += CHUNK_BYTES) {
      writeSync(fd, content, at, Math.min(CHUNK_BYTES, content.byteLength - at), at);
    }
    fsyncSync(fd);
    closeSync(fd);
  },
  careless: async (path, content, commit) => {
    const temporary = `${dirname(path)}/.a.csv.svc-0123456789abcdef.tmp`;
    const fd = openSync(temporary, 'w');
    writeSync(fd, content, 0, content.byteLength, 0);
    fsyncSync(fd);
    closeSync(fd);
    await commit();
    renameSync(temporary, path);
  },
};

const [name = '', path = '', first = '1', last = '1'] = process.argv.slice(2);
const write = writers[name];
if (write === undefined) throw new Error(`no writer called ${name}`);
report('ready');
for (let version = Number(first); version <= Number(last); version++) {
  try {
    await write(path, versionBytes(version), async () => report(`committing ${version}`));
    report(`acked ${version}`);
  } catch (error) {
    const code = error instanceof AppError ? error.code : error;
    report(`failed ${version} ${code} ${statFile(path) === null ? 'none' : readVersion(path)}`);
  }
}

function report(line: string): void {
  // Synchronous: a line that was reported must be seen even if the next call kills the process.
  writeSync(1, `${line}\n`);
}

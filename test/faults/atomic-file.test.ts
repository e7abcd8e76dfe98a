/**
 * The atomic writer under killed processes, failing system calls, full disks and foreign edits (F1, F2, F4 to F7, F10).
 *
 * Each kind of test is run on a wrong writer too and must find it wrong: random kills alone prove little (M19).
 */
import { describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { isTemporaryName, removeStaleTemporaries } from '../../src/base/files/temporary-files.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';
import { enteredCall, readRun, run, straced, writerCommand } from './strace.ts';
import { readVersion, versionBytes } from './version-file.ts';

/** Every write syncs the disk, which others may keep busy. */

const FILE = 'a.csv';
/** Enough versions for every thread of the runtime to come to its third call of a kind. */
const LAST = 60;
/** Enough for every thread to come to its first call of a kind, and for writes after the failed ones. */
const SOME = 20;

function folderWithVersion0(): TemporaryFolder {
  const folder = temporaryFolder();
  folder.write(FILE, versionBytes(0));
  return folder;
}

const temporaries = (folder: TemporaryFolder) => readdirSync(folder.path).filter(isTemporaryName);

/** Kills a writer at the n-th of a call, and tells what a restart finds. */
async function killAt(writer: string, call: string, n: number) {
  using folder = folderWithVersion0();
  const command = writerCommand(writer, folder.at(FILE), 1, LAST);
  const { acked } = await run(straced(folder, [`${call}:signal=SIGKILL:when=${n}`], command));
  const found = readVersion(folder.at(FILE));
  await removeStaleTemporaries(folder.path, readdirSync(folder.path), Date.now() + 1000);
  return {
    isTorn: found === 'torn',
    isLost: found !== 'torn' && found < acked,
    isKilled: acked < LAST,
    leftovers: temporaries(folder),
  };
}

describe('killed at a system call (F2)', () => {
  const calls = ['pwrite64', 'fchmod', 'fsync', 'renameat2', 'unlink'];

  test.each(calls)('%s: the file is whole and no acknowledged version is lost', async (call) => {
    const kills = [1, 2, 3].map((n) => killAt('atomic', call, n));
    const outcomes = await Promise.all(kills);
    for (const outcome of outcomes) {
      expect(outcome).toEqual({ isTorn: false, isLost: false, isKilled: true, leftovers: [] });
    }
  });

  test('control: a writer in place is torn by the same kills', async () => {
    const outcomes = await Promise.all([2, 5, 8].map((n) => killAt('in-place', 'pwrite64', n)));
    expect(outcomes.filter(({ isTorn }) => isTorn)).toHaveLength(3);
  });
});

test('killed at random moments, 40 times (F1)', async () => {
  using folder = folderWithVersion0();
  let acked = 0;
  for (let i = 0; i < 40; i++) {
    const command = writerCommand('atomic', folder.at(FILE), acked + 1, acked + 1000);
    const child = Bun.spawn(command, { stdout: 'pipe', stdin: 'ignore' });
    let output = '';
    for await (const chunk of child.stdout) {
      // Some time into the first version, or the next.
      if (output === '') setTimeout(() => child.kill('SIGKILL'), (i * 7) % 25);
      output += Buffer.from(chunk).toString();
    }
    acked = Math.max(acked, readRun(output).acked);
    const found = readVersion(folder.at(FILE));
    expect(found).not.toBe('torn');
    expect(found).toBeGreaterThanOrEqual(acked);
  }
  expect(acked).toBeGreaterThan(0);
  await removeStaleTemporaries(folder.path, readdirSync(folder.path), Date.now() + 1000);
  expect(temporaries(folder)).toEqual([]);
});

describe('a failing system call (F4, F6, F7)', () => {
  /** What fails on every thread's first call, or calls about the folder or the file, and the code of the answer. */
  const failures: [string, 'folder' | 'file' | 'all', string][] = [
    ['pwrite64:error=ENOSPC:when=1', 'all', 'no-space'],
    ['pwrite64:error=EDQUOT:when=1', 'all', 'no-space'],
    ['pwrite64:retval=0:when=1', 'all', 'no-space'],
    ['pwrite64:error=EIO:when=1', 'all', 'internal'],
    ['fsync:error=ENOSPC:when=1', 'all', 'no-space'],
    ['fsync:error=EIO:when=1', 'all', 'internal'],
    ['fsync:error=EIO:when=1', 'folder', 'internal'],
    ['fsync:error=EIO:when=1..2', 'folder', 'internal'],
    ['fchmod:error=EPERM:when=1', 'all', 'not-writable'],
    ['renameat2:error=EIO:when=1', 'all', 'internal'],
    ['renameat2:error=EXDEV:when=1', 'all', 'internal'],
    ['renameat2:error=EACCES:when=1', 'all', 'not-writable'],
    ['renameat2:error=EROFS:when=1', 'all', 'not-writable'],
    ['renameat2:error=ENOSPC:when=1', 'all', 'no-space'],
    ['access:error=EACCES:when=1', 'file', 'not-writable'],
    ['openat:error=EMFILE:when=1', 'folder', 'unavailable'],
  ];

  test.each(failures)(
    '%s (%s): %s, the old version stays, later writes pass',
    async (injection, about, code) => {
      using folder = folderWithVersion0();
      const paths = { folder: [folder.path], file: [folder.at(FILE)], all: [] }[about];
      const command = writerCommand('atomic', folder.at(FILE), 1, SOME);
      const { lines, acked } = await run(straced(folder, [injection], command, paths));
      let held = 0;
      for (const line of lines) {
        const [what, version, ...rest] = line.split(' ');
        if (what === 'acked') held = Number(version);
        if (what === 'failed') expect(rest).toEqual([code, String(held)]);
      }
      expect(lines.filter((line) => line.startsWith('failed'))).not.toEqual([]);
      expect([acked, readVersion(folder.at(FILE)), temporaries(folder)]).toEqual([SOME, SOME, []]);
    },
  );

  test('a folder that this file system cannot sync does not stop the write', async () => {
    using folder = folderWithVersion0();
    const command = writerCommand('atomic', folder.at(FILE), 1, 1);
    const { acked } = await run(straced(folder, ['fsync:error=EINVAL'], command, [folder.path]));
    expect([acked, readVersion(folder.at(FILE))]).toEqual([1, 1]);
  });
});

test('a version is acknowledged after file, name and folder are safe, in this order (R5b)', async () => {
  using folder = folderWithVersion0();
  const command = writerCommand('atomic', folder.at(FILE), 1, 3);
  const trace = ['-o', folder.at('trace'), '-y', '-e', 'trace=fsync,renameat2,write'];
  await run(['strace', '-f', '-qq', ...trace, ...command]);
  const steps: string[] = [];
  // A call that another thread interrupts ends on a line of its own, without its arguments.
  const open = new Map<string, string>();
  for (const line of readFileSync(folder.at('trace'), 'utf8').split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (text.endsWith('<unfinished ...>')) open.set(thread, text);
    const call = text.startsWith('<... ') ? `${open.get(thread)} ${text}` : text;
    if (!/= \d+$/.test(call)) continue;
    if (/^fsync\(\d+<[^>]*\.tmp>/.test(call)) steps.push('file');
    else if (call.startsWith(`fsync(`) && call.includes(`<${folder.path}>`)) steps.push('folder');
    else if (/^renameat2\(.*\.tmp".*a\.csv", RENAME_EXCHANGE/.test(call)) steps.push('name');
    else if (/^write\(.*"acked /.test(call)) steps.push('acked');
  }
  const one = ['file', 'name', 'folder', 'acked'];
  expect(steps).toEqual([...one, ...one, ...one]);
});

describe('without an exchanging rename', () => {
  const missing = ['renameat2:error=ENOSYS', 'renameat2:error=EINVAL'];

  test.each(missing)('%s: a second link stands in', async (injection) => {
    using folder = folderWithVersion0();
    const command = writerCommand('atomic', folder.at(FILE), 1, 3);
    const { acked } = await run(straced(folder, [injection], command));
    expect([acked, readVersion(folder.at(FILE))]).toEqual([3, 3]);
    expect(readdirSync(folder.path).sort()).toEqual([FILE, 'trace']);
  });

  test('a new file is created, and never over another one', async () => {
    using folder = temporaryFolder();
    const command = writerCommand('atomic', folder.at(FILE), 1, 1);
    const { acked } = await run(straced(folder, ['renameat2:error=ENOSYS'], command));
    expect([acked, readVersion(folder.at(FILE))]).toEqual([1, 1]);
    expect(temporaries(folder)).toEqual([]);
  });

  test('a failed sync of the folder still puts the old version back', async () => {
    using folder = folderWithVersion0();
    const injections = ['renameat2:error=ENOSYS', 'fsync:error=EIO'];
    const command = writerCommand('atomic', folder.at(FILE), 1, 1);
    // Exact paths: the exchange is about the file, the failing sync about the folder.
    const paths = [folder.path, folder.at(FILE)];
    const { failures } = await run(straced(folder, injections, command, paths));
    expect(failures).toEqual(['failed 1 internal 0']);
    expect(readVersion(folder.at(FILE))).toBe(0);
    expect(temporaries(folder)).toEqual([]);
  });

  test('and without links either, a plain rename must do', async () => {
    using folder = folderWithVersion0();
    const injections = ['renameat2:error=ENOSYS', 'link:error=EPERM', 'linkat:error=EPERM'];
    const command = writerCommand('atomic', folder.at(FILE), 1, 2);
    const { acked } = await run(straced(folder, injections, command));
    expect([acked, readVersion(folder.at(FILE))]).toEqual([2, 2]);
    expect(temporaries(folder)).toEqual([]);
  });

  test.each(['rename', 'link', 'linkat'])('killed at %s, the file is whole', async (call) => {
    using folder = folderWithVersion0();
    const injections = ['renameat2:error=ENOSYS', `${call}:signal=SIGKILL:when=1`];
    const command = writerCommand('atomic', folder.at(FILE), 1, 2);
    const { acked } = await run(straced(folder, injections, command));
    const found = readVersion(folder.at(FILE));
    expect(found).not.toBe('torn');
    expect(found).toBeGreaterThanOrEqual(acked);
    await removeStaleTemporaries(folder.path, readdirSync(folder.path), Date.now() + 1000);
    expect(temporaries(folder)).toEqual([]);
  });
});

describe('a full disk', () => {
  /** Room for one version and a part of the next: the temporary file can only be written in part. */
  const limited = (bytes: number, command: string[]) => ['prlimit', `--fsize=${bytes}`, ...command];
  const room = versionBytes(1).byteLength - 5_000;

  test('that takes a part of a write leaves the old version whole (F5)', async () => {
    using folder = folderWithVersion0();
    const command = writerCommand('atomic', folder.at(FILE), 1, 2);
    const { failures, acked } = await run(limited(room, command));
    // Version 2 is short enough again.
    expect([failures, acked, readVersion(folder.at(FILE))]).toEqual([
      ['failed 1 no-space 0'],
      2,
      2,
    ]);
    expect(temporaries(folder)).toEqual([]);
  });

  test('control: a writer that believes every write acknowledges a cut file', async () => {
    using folder = folderWithVersion0();
    const command = writerCommand('careless', folder.at(FILE), 1, 1);
    const { acked } = await run(limited(room, command));
    expect([acked, readVersion(folder.at(FILE))]).toEqual([1, 'torn']);
  });

  test('of its own: answered as full, and it recovers when there is room again (F4)', async () => {
    using folder = temporaryFolder();
    folder.write('disk/filler', '');
    // A small file system of this process tree alone; both versions fit once the filler is gone.
    const script = `
      mount -t tmpfs -o size=256k none "$1" && cd "$1" && cp ../v0 ${FILE} &&
      { head -c 160000 /dev/zero > filler; true; } &&
      ${shellCommand(writerCommand('atomic', `${folder.at('disk')}/${FILE}`, 1, 1))} &&
      cmp ${FILE} ../v0 && echo 'unchanged' && [ "$(ls -A)" = "$(printf '${FILE}\\nfiller')" ] && rm filler &&
      ${shellCommand(writerCommand('atomic', `${folder.at('disk')}/${FILE}`, 1, 1))}`;
    folder.write('v0', versionBytes(0));
    const { lines } = await run(['unshare', '-rm', 'sh', '-c', script, 'sh', folder.at('disk')]);
    expect(lines).toEqual([
      'ready',
      'failed 1 no-space 0',
      'unchanged',
      'ready',
      'committing 1',
      'acked 1',
    ]);
  });
});

describe('an edit in the instant before the exchange (F10)', () => {
  const edits: Record<string, (folder: TemporaryFolder) => void> = {
    appended: (folder) => appendFileSync(folder.at(FILE), 'theirs\n'),
    'rewritten in place': (folder) => void folder.write(FILE, 'theirs\n'),
    'renamed over': (folder) => {
      folder.write('b.csv', 'theirs\n');
      renameSync(folder.at('b.csv'), folder.at(FILE));
    },
    deleted: (folder) => unlinkSync(folder.at(FILE)),
  };

  async function editInWindow(writer: string, call: string, edit: string, more: string[] = []) {
    using folder = folderWithVersion0();
    const injections = [`${call}:delay_enter=400000:when=1`, ...more];
    const command = straced(folder, injections, writerCommand(writer, folder.at(FILE), 1, 1));
    const running = run(command);
    await enteredCall(folder, call);
    edits[edit]?.(folder);
    const theirs = contentOf(folder);
    const { failures, acked } = await running;
    return { failures, acked, isKept: contentOf(folder) === theirs, left: temporaries(folder) };
  }

  const cases = Object.keys(edits);

  test.each(cases)(
    '%s: the edit is put back and the write answered with a conflict',
    async (edit) => {
      expect(await editInWindow('atomic', 'renameat2', edit)).toEqual({
        failures: [expect.stringContaining('failed 1 conflict')],
        acked: 0,
        isKept: true,
        left: [],
      });
    },
  );

  test.each(['appended', 'renamed over', 'deleted'])(
    '%s: the same without exchange',
    async (edit) => {
      const found = await editInWindow('atomic', 'rename', edit, ['renameat2:error=ENOSYS']);
      // Between link and rename a whole new file can still slip in; what was linked is compared.
      expect(found.left).toEqual([]);
      if (edit === 'appended') expect(found).toMatchObject({ acked: 0, isKept: true });
    },
  );

  test('and after it, through a descriptor opened before: put back just so', async () => {
    using folder = folderWithVersion0();
    const late = openSync(folder.at(FILE), 'a');
    const injections = ['fsync:delay_enter=400000:when=1'];
    const command = writerCommand('atomic', folder.at(FILE), 1, 1);
    const running = run(straced(folder, injections, command, [folder.path]));
    await enteredCall(folder, 'fsync');
    writeSync(late, 'theirs\n');
    closeSync(late);
    const { failures } = await running;
    expect(failures).toEqual([expect.stringContaining('failed 1 conflict')]);
    expect(contentOf(folder)).toEndWith('end\ntheirs\n');
    expect(temporaries(folder)).toEqual([]);
  });

  test('control: a careless writer loses it', async () => {
    const found = await editInWindow('careless', 'rename', 'appended');
    expect(found).toMatchObject({ acked: 1, isKept: false });
  });
});

function contentOf(folder: TemporaryFolder): string | null {
  return statSync(folder.at(FILE), { throwIfNoEntry: false }) === undefined
    ? null
    : readFileSync(folder.at(FILE), 'latin1');
}

function shellCommand(words: string[]): string {
  return words.map((word) => `'${word}'`).join(' ');
}

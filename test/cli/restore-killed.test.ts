/**
 * `svc restore --force` killed at each call that moves, makes or deletes something: what is there then is what was there before,
 * what comes, or refused; and the next restore gets to its end.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment, program, run } from '../support/program.ts';
import { isExcused } from '../faults/recipe.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MOVING = [
  'rename',
  'renameat',
  'renameat2',
  'unlink',
  'unlinkat',
  'rmdir',
  'copy_file_range',
];
/** With a flag that makes or changes a file. */
const WRITING_OPEN = /openat\([^)]*O_(?:CREAT|WRONLY|RDWR)/;

/** What people would miss: files by their rel, users, and how many events there are. */
function contents(docroot: string): unknown {
  const stateDir = join(docroot, '.svc');
  const rels = [...new Bun.Glob('**/*.csv').scanSync({ cwd: docroot, dot: true })]
    .filter((rel) => !rel.includes('restor'))
    .sort();
  const ask = (name: string, sql: string): unknown => {
    if (!existsSync(join(stateDir, name))) return null;
    using db = new Database(join(stateDir, name), { readonly: true });
    return db.query(sql).values();
  };
  return {
    files: rels.map((rel) => [rel, readFileSync(join(docroot, rel), 'utf8')]),
    users: ask('svc.db', 'SELECT username FROM users ORDER BY 1'),
    events: ask('events.sqlite', 'SELECT count(*) FROM events'),
    secret: readFileSync(join(stateDir, 'secret.key'), 'hex'),
  };
}

/** A folder of this user, with that many events, whose files are named after him. */
async function makeFolder(docroot: string, name: string, events: number): Promise<void> {
  mkdirSync(join(docroot, name), { recursive: true });
  writeFileSync(join(docroot, 'both.csv'), `owner\n${name}\n`);
  writeFileSync(join(docroot, name, 'own.csv'), 'n\n1\n');
  const svc = async (args: readonly string[], input = ''): Promise<void> => {
    const { code, err } = await run(args, { input });
    if (code !== 0) throw new Error(err);
  };
  const password = 'Correct-Horse-Battery-7';
  await svc(['addsuperuser', docroot, '--username', name, '--password-stdin'], `${password}\n`);
  const lines = join(docroot, 'lines.txt');
  writeFileSync(lines, Array.from({ length: events }, (_, at) => `line ${at}\n`).join(''));
  await svc(['events', 'import', docroot, lines, '--lines']);
  rmSync(lines);
}

// From the source the runtime's own start makes some hundred calls more.
const isSource = process.env['TEST_BINARY'] === undefined;
test.skipIf(isSource || isExcused() || Bun.which('strace') === null)(
  'wherever a restore is killed, nothing is served that is neither the old nor the new, and the next one gets to its end',
  async () => {
    using folder = temporaryFolder();
    const [old, next, docroot] = [folder.at('old'), folder.at('next'), folder.at('docroot')];
    await makeFolder(old, 'olga', 3);
    await makeFolder(next, 'nina', 5);
    const archive = folder.at('next.tar.gz');
    expect((await run(['backup', archive, next, '--with-docroot'])).code).toBe(0);
    const restored = (path: string) => ['restore', path, docroot, '--force'];
    const reset = (): void => {
      rmSync(docroot, { recursive: true, force: true });
      cpSync(old, docroot, { recursive: true, preserveTimestamps: true });
    };
    const traced = async (options: readonly string[]): Promise<number> => {
      const strace = ['strace', '-f', '-qq', '-o', folder.at('trace'), ...options];
      const child = Bun.spawn([...strace, ...program, ...restored(archive)], {
        env: environment(),
        stdio: ['ignore', 'ignore', 'ignore'],
      });
      return child.exited;
    };
    reset();
    const before = contents(docroot);
    expect(await traced(['-e', `trace=${[...MOVING, 'openat'].join(',')}`])).toBe(0);
    const after = contents(docroot);
    expect(after).not.toEqual(before);

    const seen = { old: 0, new: 0, refused: 0 };
    for (const [call, nth] of killsOf(readFileSync(folder.at('trace'), 'utf8'), folder.path)) {
      reset();
      await traced(['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${nth}`]);
      const where = `killed at ${call} ${nth}`;
      const check = await run(['check', docroot]);
      if (check.code === 0) {
        const found = contents(docroot);
        const isOld = Bun.deepEquals(found, before);
        seen[isOld ? 'old' : 'new']++;
        if (!isOld) expect({ where, found }).toEqual({ where, found: after });
      } else {
        seen.refused++;
        expect(check.err, where).toContain('is half restored');
        if (seen.refused % 3 === 1) {
          const serving = await run([docroot, '--port', '0']);
          expect(serving.code, where).not.toBe(0);
          expect(serving.err, where).toContain('is half restored');
        }
      }
      // One that cannot go on takes the killed one back all the same.
      if (nth % 2 === 0) {
        expect((await run(restored(folder.write('none.tar.gz', 'none')))).code, where).not.toBe(0);
        const found = contents(docroot);
        const isOld = Bun.deepEquals(found, before) || seen.new > 0;
        if (!isOld) expect({ where, found }).toEqual({ where, found: before });
      }
      const again = await run(restored(archive));
      expect(again.code, `${where}: ${again.err}`).toBe(0);
      expect({ where, found: contents(docroot) }).toEqual({ where, found: after });
      const left = [...new Bun.Glob('**/restor*').scanSync({ cwd: docroot, dot: true })];
      expect(left, where).toEqual([]);
    }
    expect(seen.old).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(5);
  },
);

/** The calls about `folder` as `when` of an injection counts them: each thread for itself. */
function killsOf(trace: string, folder: string): (readonly [call: string, nth: number])[] {
  const counts = new Map<string, number>();
  const kills = new Map<string, readonly [string, number]>();
  for (const line of trace.split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (call === '') continue;
    const nth = (counts.get(`${thread} ${call}`) ?? 0) + 1;
    counts.set(`${thread} ${call}`, nth);
    if (!line.includes(folder) || (call === 'openat' && !WRITING_OPEN.test(line))) continue;
    kills.set(`${call} ${nth}`, [call, nth]);
  }
  return [...kills.values()];
}

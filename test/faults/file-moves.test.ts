/**
 * Moves, deletions and restores killed at each of their system calls (F2): the file is at exactly one of its two places
 * with its companion beside it, and the trash tells the truth.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts';
import { straced } from './strace.ts';

const CALLS = ['mkdir', 'fsync', 'renameat2', 'rename', 'unlink', 'linkat'];
const PROGRAM = join(import.meta.dir, 'moving-program.ts');
const command = (what: string, folder: TemporaryFolder): string[] => [
  process.execPath,
  PROGRAM,
  what,
  folder.at('root'),
];

async function run(line: string[]): Promise<boolean> {
  const child = Bun.spawn(line, { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  if (!output.includes('ready')) throw new Error(`the program did not start: ${errors}`);
  return output.includes('done');
}

/** Where the file is, and its companion beside it, after a kill and a start. */
async function killAt(what: string, call: string, n: number) {
  using folder = temporaryFolder();
  folder.write('root/a.csv', 'a\n1\n');
  folder.write('root/.svc/a.csv.schema.json', '{}');
  if (what === 'restore') await run(command('delete', folder));
  const isDone = await run(
    straced(folder, [`${call}:signal=SIGKILL:when=${n}`], command(what, folder)),
  );
  await run(command('recover', folder));
  const trash = existsSync(folder.at('root/.svc/.trash'))
    ? readdirSync(folder.at('root/.svc/.trash'))
    : [];
  const places = ['root', ...trash.map((id) => `root/.svc/.trash/${id}/file`)].flatMap((one) =>
    ['a.csv', 'b.csv'].filter((name) => existsSync(folder.at(`${one}/${name}`))),
  );
  const isBeside =
    existsSync(folder.at(`root/.svc/${places[0]}.schema.json`)) ||
    trash.some((id) =>
      existsSync(folder.at(`root/.svc/.trash/${id}/companions/a.csv.schema.json`)),
    );
  const isOutside = ['a.csv', 'b.csv'].some((name) => existsSync(folder.at(`root/${name}`)));
  const journals = folder.at('root/.svc/.moves');
  const left = existsSync(journals)
    ? readdirSync(journals).filter((one) => !one.startsWith('.'))
    : [];
  return {
    isDone,
    result: {
      copies: places.length,
      isBeside,
      isTrashTrue: trash.length === (isOutside ? 0 : 1),
      left,
    },
  };
}

const WHOLE = { copies: 1, isBeside: true, isTrashTrue: true, left: [] };

test.each(['move', 'delete', 'restore'])(
  '%s, killed at each call',
  async (what) => {
    let kills = 0;
    for (const call of CALLS) {
      for (let n = 1, isDone = false; !isDone; n++) {
        const outcome = await killAt(what, call, n);
        expect({ call, n, ...outcome.result }).toEqual({ call, n, ...WHOLE });
        isDone = outcome.isDone;
        if (!isDone) kills++;
      }
    }
    expect(kills).toBeGreaterThan(6);
  },
  120_000,
);

test('control: copying and deleting leaves the file at two places', async () => {
  const outcome = await killAt('careless', 'unlink', 1);
  expect(outcome.result.copies).toBe(2);
});

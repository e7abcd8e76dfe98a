/**
 * What the machine that runs all tests reads: the last line and the exit code of `.ci/run`, however the run ends.
 */
import { expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { resolve } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SCRIPT = resolve(import.meta.dir, '../../.ci/run');

/** Runs the script with an `npx` that does what is given. */
async function ended(npx: string): Promise<{ code: number; lines: string[] }> {
  using folder = temporaryFolder({ npx: `#!/bin/sh\n${npx}\n` });
  chmodSync(folder.at('npx'), 0o755);
  const run = Bun.spawn(['sh', '-c', 'exec "$0" 2>&1', SCRIPT], {
    cwd: folder.path,
    env: { PATH: `${folder.path}:${process.env['PATH']}` },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const [code, out] = await Promise.all([run.exited, run.stdout.text()]);
  return { code, lines: out.trimEnd().split('\n') };
}

test('a run without failures ends with its sums and 0', async () => {
  const { code, lines } = await ended(`echo "$@"; echo 'a \\ b'; echo '12 passed, 0 failed'`);
  expect(lines).toEqual([
    '-y bun@1.4.5 run test',
    'a \\ b',
    '12 passed, 0 failed',
    '12 passed, 0 failed',
  ]);
  expect(code).toBe(0);
});

test('a run with failures ends with its sums, whatever is printed after them, and not with 0', async () => {
  const { code, lines } = await ended(
    `echo '1 passed, 0 failed'; echo '12 passed, 3 failed'; echo 'error: script "test" exited with code 1' >&2; exit 1`,
  );
  expect(lines.at(-1)).toBe('12 passed, 3 failed');
  expect(lines).toContain('error: script "test" exited with code 1');
  expect(code).toBe(1);
});

test.each([
  ['that is killed', `echo 'some tests'; kill -9 $$`],
  ['that ends in the middle of a line', `printf '12 passed, '; exit 3`],
  ['that cannot begin', 'exit 127'],
])('a run %s is one failure', async (_, npx) => {
  const { code, lines } = await ended(npx);
  expect(lines.at(-1)).toBe('0 passed, 1 failed');
  expect(code).not.toBe(0);
});

/**
 * The end of a long run tells what failed and why, whatever the failure was.
 */
import { describe, expect, test } from 'bun:test';
import {
  describeFailures,
  failuresBetweenTests,
  failuresOfReport,
  lastWords,
} from '../../build/failures.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Failures of the test files, as `bun test` reports them. */
async function failuresIn(files: Record<string, string>): Promise<string> {
  using folder = temporaryFolder(files);
  const flags = ['--reporter=junit', `--reporter-outfile=${folder.at('report.xml')}`];
  const run = Bun.spawn([process.execPath, 'test', ...flags], {
    cwd: folder.path,
    env: { PATH: process.env['PATH'] ?? '' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const output = await run.stderr.text();
  expect(await run.exited).toBe(1);
  const report = await Bun.file(folder.at('report.xml')).text();
  return describeFailures([...failuresOfReport(report), ...failuresBetweenTests(output)]);
}

describe('what failed', () => {
  test('is told with place, name, message and line', async () => {
    const told = await failuresIn({
      'a.test.ts': `import { describe, expect, test } from 'bun:test';
        test('fine', () => {});
        describe('a group', () => {
          test('finds <a> & "b"', () => { expect({ a: 1 }).toEqual({ a: 2 }); });
        });
        test('throws', async () => { throw new Error('the disk went away'); });
        test('hangs', () => new Promise(() => {}), 50);`,
    });
    const lines = told.split('\n');
    expect(lines.filter((line) => !line.startsWith('    '))).toEqual([
      '(fail) a.test.ts:4 a group > finds <a> & "b"',
      '(fail) a.test.ts:6 throws',
      '(fail) a.test.ts:7 hangs',
    ]);
    for (const part of ['-   "a": 2', '+   "a": 1', 'a.test.ts:4:', 'Error: the disk went away']) {
      expect(told).toContain(part);
    }
    expect(told).toContain('TimeoutError: test timed out');
  });

  test('is also a hook, and a file that cannot be loaded', async () => {
    const told = await failuresIn({
      'a.test.ts': `import { beforeAll, test } from 'bun:test';
        beforeAll(() => { throw new Error('no such service'); });
        test('never runs', () => {});`,
      'b.test.ts': `throw new Error('nothing to load');`,
    });
    expect(told).toContain('Error: no such service');
    expect(told).toContain('error: nothing to load');
    expect(told).toContain('b.test.ts:1');
  });

  test('takes few lines, however much it is', () => {
    const message = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n');
    const failures = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ title: `test ${n}`, message }));
    for (const count of [1, 3, 10, 26, 40, 500]) {
      const lines = describeFailures(failures(count)).split('\n');
      expect(lines.length).toBeWithin(3, 82);
      const told = lines.filter((line) => line.startsWith('(fail)')).length;
      expect(lines.at(-1) === `and ${count - told} more`).toBe(told < count);
      expect(lines[1]).toBe('    line 0');
    }
    expect(describeFailures(failures(1))).toContain('    line 99');
    expect(describeFailures([])).toBe('');
    const long = describeFailures([{ title: 'x', message: 'y'.repeat(10_000) }]);
    expect(long.length).toBeLessThan(400);
  });

  test('of a command that failed as a whole is the end of what it printed', () => {
    expect(lastWords(`${'progress\n'.repeat(500)}error: no space left\n\n`)).toMatch(
      /^(progress\n){15}error: no space left$/,
    );
  });
});

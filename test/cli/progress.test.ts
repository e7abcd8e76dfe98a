/** Progress of long commands: on a terminal that shows standard error, and nowhere else. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../http/eventually.ts';
import { environment, program } from '../support/program.ts';

let cwd = '';

beforeAll(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'svc-progress-')));
  mkdirSync(join(cwd, 'data'));
  writeFileSync(join(cwd, 'data', 'rows.csv'), 'n\n1\n');
  writeFileSync(join(cwd, 'events.log'), 'one\ntwo\n');
});

afterAll(() => rmSync(cwd, { recursive: true }));

/** All three streams are the terminal, but those that the shell redirects. */
async function shownBy(args: readonly string[], redirection: string, end: string): Promise<string> {
  let shown = '';
  const terminal = new Bun.Terminal({
    data: (_, bytes) => void (shown += Buffer.from(bytes).toString()),
  });
  const shell = ['sh', '-c', `"$@" ${redirection}`, 'sh'];
  const child = Bun.spawn([...shell, ...program, ...args], { cwd, env: environment(), terminal });
  expect(await child.exited).toBe(0);
  // What was printed last may come after the end.
  await eventually(() => expect(shown).toContain(end));
  return shown;
}

test.each([
  [['reindex', 'data', '--force'], 'Indexed '],
  [['events', 'import', 'data', 'events.log', '--lines'], 'imported'],
] as const)('%j tells it only where standard error is a terminal', async (args, end) => {
  const shown = await shownBy(args, '</dev/null', end);
  expect(shown).toMatch(/\r\u001b\[K(?:\d+ of \d+ resource|events\.log \[)/);
  await shownBy(args, '2>diagnostics', end);
  expect(readFileSync(join(cwd, 'diagnostics'), 'utf8')).not.toContain('\r');
});

/** A command that makes state where nobody has named a folder says so: a second set of accounts is easily made in the wrong one. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../support/program.ts';

const USER = ['admin', 'create-user', '--username', 'ada', '--password-stdin'];
const input = 'Plain-Horse 27 battery\n';

let folder = '';
const made = (name: string): string => {
  mkdirSync(join(folder, name));
  return join(folder, name);
};

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-new-state-')));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a command without a folder tells once, on standard error, where it has made state', async () => {
  const cwd = made('wrong');
  const first = await run(USER, { cwd, input });
  expect([first.code, first.out]).toEqual([0, "Created user 'ada'\n"]);
  expect(first.err).toBe(
    `Made new state in ${cwd}/.svc, because no folder was named and there was none here; ` +
      'if you meant another folder, name it: svc <command> <folder>\n',
  );
  const second = await run(['admin', 'list-users'], { cwd });
  expect([second.code, second.err]).toEqual([0, '']);
});

test('also one that fails', async () => {
  const cwd = made('failing');
  const { code, err } = await run(['admin', 'delete-user', '--username', 'bob'], { cwd });
  expect(code).toBe(1);
  expect(err).toMatch(/^Made new state in .*\nUser 'bob' not found\n$/);
});

test('one that makes none, or of a named folder, says nothing', async () => {
  const cwd = made('named');
  expect((await run(['config'], { cwd })).err).toBe('');
  expect((await run(['check', '.'], { cwd })).err).toBe('');
  const env = { SVC_DOCROOT: made('by-variable') };
  expect((await run(['check'], { cwd, env })).err).toBe('');
  const stateDir = made('state-elsewhere');
  expect((await run(['check', '--state-dir', stateDir], { cwd })).err).toBe('');
  writeFileSync(join(cwd, 'svc.yaml'), `docroot: ${made('by-file')}\n`);
  expect((await run(['check', '--config', 'svc.yaml'], { cwd })).err).toBe('');
});

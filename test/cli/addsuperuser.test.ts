import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment, program, run } from '../support/program.ts';
import type { Finished } from '../support/program.ts';
import { PASSWORD } from '../support/password.ts';

let cwd = '';

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'svc-cli-'));
  await mkdir(join(cwd, 'data'));
});

afterAll(() => rm(cwd, { recursive: true }));

function add(username: string, flags: readonly string[], input?: string): Promise<Finished> {
  return run(['addsuperuser', 'data', '--username', username, ...flags], { cwd, input });
}

const confirmed = ['--password', PASSWORD, '--password-confirm', PASSWORD];

test('creates the user; a second time says so and exits 1 (DS-200)', async () => {
  expect(await add('ada', ['--password-stdin'], `${PASSWORD}\n`)).toEqual({
    code: 0,
    out: "Created superuser 'ada'\n",
    err: '',
  });
  expect(await add('ada', confirmed)).toEqual({
    code: 1,
    out: '',
    err: "User 'ada' already exists\n",
  });
});

test('neither the password nor its flag reaches the state directory in clear text', async () => {
  await add('bob', confirmed);
  for await (const name of new Bun.Glob('**/*').scan({
    cwd: join(cwd, 'data', '.svc'),
    dot: true,
  })) {
    expect((await readFile(join(cwd, 'data', '.svc', name))).includes(PASSWORD)).toBe(false);
  }
});

test.each([
  [['--password', PASSWORD], 2, '--password: needs --password-confirm\n'],
  [['--password', PASSWORD, '--password-confirm', 'x'], 1, 'Passwords do not match\n'],
  [[], 2, /^No password: use --password-stdin/],
  [['--password', 'short', '--password-confirm', 'short'], 1, /^Password refused: /],
])('refuses the flags %j with exit code %i (DS-202)', async (flags, code, message) => {
  const refused = await add('carol', flags);
  expect([refused.code, refused.out]).toEqual([code, '']);
  if (typeof message === 'string') expect(refused.err).toBe(message);
  else expect(refused.err).toMatch(message);
});

test('a weak password is taken with --allow-weak-password', async () => {
  const { code } = await add('dora', ['--password-stdin', '--allow-weak-password'], 'short');
  expect(code).toBe(0);
});

test.each(['', ' ', 'a\u0007b', 'x'.repeat(1000)])(
  'refuses the name %j with exit code 2',
  async (name) => {
    const { code, err } = await add(name, confirmed);
    expect(code).toBe(2);
    expect(err).toStartWith('--username: ');
  },
);

test('asks on a terminal, without echo, and asks again about a weak password', async () => {
  const answers: (readonly [string, string])[] = [
    ['Password: ', 'schwach\r'],
    ['Password again: ', 'schwach\r'],
    ['[y/N] ', 'y\r'],
  ];
  let shown = '';
  const decoder = new TextDecoder();
  const child = Bun.spawn([...program, 'addsuperuser', 'data', '--username', 'eve'], {
    cwd,
    env: environment(),
    terminal: {
      cols: 200,
      rows: 24,
      data: (terminal, bytes) => {
        shown += decoder.decode(bytes, { stream: true });
        if (answers.length === 0 || !shown.includes(answers[0]![0])) return;
        terminal.write(answers.shift()![1]);
      },
    },
  });
  expect(await child.exited).toBe(0);
  expect(shown).toContain("Created superuser 'eve'");
  expect(shown).not.toContain('schwach');
});

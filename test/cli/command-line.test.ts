import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands } from '../../src/cli/commands/index.ts';
import { program, run } from '../support/program.ts';

let cwd = '';

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'svc-cli-'));
  await mkdir(join(cwd, 'data'));
  await mkdir(join(cwd, 'check'));
  await writeFile(join(cwd, 'tea.csv'), '');
});

afterAll(() => rm(cwd, { recursive: true }));

const shown = commands.filter(({ hidden }) => hidden !== true);
const hidden = commands.filter((command) => command.hidden === true);

describe('help and version (DS-200)', () => {
  test('svc --version and svc version print the build', async () => {
    for (const args of [['--version'], ['version']]) {
      const { code, out, err } = await run(args, { cwd });
      expect(out).toMatch(/^svc \d+\.\d+\.\d+(\+\w+)?\n$/);
      expect([code, err]).toEqual([0, '']);
    }
  });

  test('svc --help names every command but the hidden ones', async () => {
    const { code, out, err } = await run(['--help'], { cwd });
    // Long ones are wrapped.
    const text = out.replaceAll(/\s+/g, ' ');
    for (const { name, summary } of shown) {
      expect(out).toContain(`  ${name}`);
      expect(text).toContain(summary);
    }
    for (const { summary } of hidden) expect(out).not.toContain(summary);
    expect([code, err]).toEqual([0, '']);
  });

  test.each(shown.map(({ name }) => name))('svc %s --help shows its flags', async (name) => {
    const { code, out, err } = await run([name, '--help'], { cwd });
    expect(out).toStartWith(`Usage: svc ${name}`);
    expect(out).toContain('--help');
    if (!['version', 'licenses', 'openapi', 'events', 'companion'].includes(name))
      expect(out).toContain('--state-dir <path>');
    expect([code, err]).toEqual([0, '']);
  });

  test('no help line is wider than 100 characters', async () => {
    for (const { name } of shown) {
      const { out } = await run([name, '--help'], { cwd });
      for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    }
  });
});

describe('wrong usage prints what is wrong on standard error and exits 2 (DS-196, DS-200)', () => {
  test.each([
    [['search', 'data'], "a query is needed after data, such as 'from events | head 5'\n"],
    [['chekc'], "chekc: neither a command nor a directory; did you mean 'check'?\n"],
    [['nothing-like-it'], 'nothing-like-it: neither a command nor a directory\n'],
    [['serve', '--prot', '1'], "--prot: unknown flag; did you mean '--port'?\n"],
    [['serve', '--passwort=geheim'], '--passwort: unknown flag\n'],
    [['config', '--hots', 'x'], '--hots: unknown flag\n'],
    [['config', '--config'], '--config: argument missing\n'],
    [['config', 'data', 'more'], /^too many arguments for 'config'/],
    [['addsuperuser', 'data'], '--username: is required\n'],
    [['child', 'query'], /missing required argument 'socket'/],
    [['--port', '70000'], '--port: must be a whole number from 0 to 65535, not "70000"\n'],
    [['serve', '--port', '-1'], '--port: must be a whole number from 0 to 65535, not "-1"\n'],
    [['serve', '--tls-cert', 'c.pem'], '--tls-cert: tls_cert needs tls_key as well\n'],
    [['config', ''], 'root: must not be empty\n'],
    [[''], 'root: must not be empty\n'],
    [['tea.csv'], 'tea.csv: neither a command nor a directory\n'],
    [['x'.repeat(5000)], `${'x'.repeat(5000)}: neither a command nor a directory\n`],
    [['config', 'gone'], 'root: gone does not exist\n'],
  ])('svc %j', async (args, message) => {
    const { code, out, err } = await run(args, { cwd });
    if (typeof message === 'string') expect(err).toBe(message);
    else expect(err).toMatch(message);
    expect([code, out]).toEqual([2, '']);
  });

  test('a directory means serve, and a command wins over a directory of its name', async () => {
    const served = await run(['data', '--port', 'x'], { cwd });
    expect(served.err).toStartWith('--port: ');
    const checked = await run(['check', '--port', '1'], { cwd });
    expect(checked.err).toBe('--port: unknown flag\n');
    const path = await run(['./check', '--port', 'x'], { cwd });
    expect(path.err).toStartWith('--port: ');
  });
});

test('everything printed arrives, however slowly it is read', async () => {
  const child = Bun.spawn(
    ['sh', '-c', '"$@" | (sleep 0.3; cat)', 'sh', ...program, 'config', '--json'],
    {
      cwd,
      env: { PATH: process.env['PATH'], SVC_ALLOWED_HOSTS: 'example.org,'.repeat(9000) },
      stdout: 'pipe',
    },
  );
  const parsed = JSON.parse(await child.stdout.text());
  expect(parsed['allowed_hosts'].value).toHaveLength(9000);
});

test('a reader that leaves early is no failure', async () => {
  const child = Bun.spawn(['sh', '-c', '"$@" | true; echo done', 'sh', ...program, '--help'], {
    cwd,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  expect([await child.stdout.text(), await child.stderr.text()]).toEqual(['done\n', '']);
});

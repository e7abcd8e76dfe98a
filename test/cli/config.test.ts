import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { run } from '../support/program.ts';

let cwd = '';

beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'svc-cli-')));
  await mkdir(join(cwd, 'data'));
  await writeFile(join(cwd, 'svc.yaml'), 'port: 9000\nupload:\n  enabled: true\n');
});

afterAll(() => rm(cwd, { recursive: true }));

const args = ['config', 'data', '--config', 'svc.yaml', '--state-dir', 'state'];
const env = { SVC_LOGGING_LEVEL: 'warning', SVC_OIDC_CLIENT_SECRET: 'do not show' };

test('prints YAML with the source of each value and hides secrets (DS-200)', async () => {
  const { code, out, err } = await run(args, { cwd, env });
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(`docroot: ${JSON.stringify(join(cwd, 'data'))} # argument\n`);
  expect(out).toContain(`state_dir: ${JSON.stringify(join(cwd, 'state'))} # flag --state-dir\n`);
  expect(out).toContain('port: 9000 # svc.yaml:1\n');
  expect(out).toContain('upload:\n  enabled: true # svc.yaml:3\n');
  expect(out).toContain('  level: "warning" # env SVC_LOGGING_LEVEL\n');
  expect(out).toContain('  client_secret: "***" # env SVC_OIDC_CLIENT_SECRET\n');
  expect(out).not.toContain('do not show');
  expect(parse(out).locks).toEqual({ ttl_seconds: 300, timeout_seconds: 10 });
});

test('prints JSON with value and source by key path', async () => {
  const { out } = await run([...args, '--json'], { cwd, env });
  const shown = JSON.parse(out);
  expect(shown['upload.enabled']).toEqual({ value: true, source: 'svc.yaml:3' });
  expect(shown['oidc.client_secret'].value).toBe('***');
  expect(shown['port']).toEqual({ value: 9000, source: 'svc.yaml:1' });
});

test('what it prints is a configuration with the same effect', async () => {
  const first = await run(['config', 'data', '--config', 'svc.yaml'], { cwd });
  await writeFile(join(cwd, 'printed.yaml'), first.out);
  const second = await run(['config', '--config', 'printed.yaml'], { cwd });
  expect(second.err).toBe('');
  expect(parse(second.out)).toEqual(parse(first.out));
});

test('reports every finding and writes nothing (DS-196)', async () => {
  await writeFile(join(cwd, 'bad.yaml'), 'prot: 1\nport: x\n');
  const before = await readdir(join(cwd, 'data'));
  const { code, out, err } = await run(['config', 'data', '--config', 'bad.yaml'], {
    cwd,
    env: { SVC_READONLY: 'maybe', SVC_UNKNOWN: '1' },
  });
  expect(err.split('\n')).toEqual([
    "bad.yaml:1: unknown key 'prot'; did you mean 'port'?",
    'bad.yaml:2: port must be a whole number from 0 to 65535, not "x"',
    'SVC_READONLY: must be true or false (or 1, yes, on, 0, no, off), not "maybe"',
    'SVC_UNKNOWN: unknown variable, ignored',
    '',
  ]);
  expect([code, out]).toEqual([2, '']);
  expect(await readdir(join(cwd, 'data'))).toEqual(before);
});

test('unknown variables are warned about on standard error', async () => {
  const { code, err } = await run(['config', 'data'], { cwd, env: { SVC_PROT: '1' } });
  expect([code, err]).toEqual([
    0,
    "SVC_PROT: unknown variable, ignored; did you mean 'SVC_PORT'?\n",
  ]);
});

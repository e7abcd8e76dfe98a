import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isExcused } from '../faults/recipe.ts';
import { environment, program, run } from '../support/program.ts';

let cwd = '';

beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'svc-cli-')));
  await mkdir(join(cwd, 'data', 'sub'), { recursive: true });
  await mkdir(join(cwd, 'broken'));
  await mkdir(join(cwd, 'empty'));
  await writeFile(join(cwd, 'data', 'tea.csv'), 'name\nAssam\n');
  await writeFile(join(cwd, 'data', 'sub', 'the 2nd.csv'), 'name\nDarjeeling\n');
  await writeFile(join(cwd, 'broken', 'bad.csv'), new Uint8Array([0x61, 0x0a, 0x62, 0xff]));
});

afterAll(() => rm(cwd, { recursive: true }));

describe('svc check (DS-200)', () => {
  test('names the folder, the store and the counts', async () => {
    const { code, out } = await run(['check', 'data'], { cwd });
    expect(out.split('\n')).toEqual([
      `Document root: ${cwd}/data`,
      `SQLite store: ${cwd}/data/.svc/svc.db`,
      'Discovered 2 dataset(s), 2 resource(s)',
      '',
    ]);
    expect(code).toBe(0);
  });

  test('a file that cannot be read is a PROBLEM and exits 1', async () => {
    const { code, out } = await run(['check', 'broken'], { cwd });
    expect(out).toMatch(/^PROBLEM: bad\.csv: .*invalid UTF-8 at byte offset/m);
    expect(code).toBe(1);
  });

  // The path stands for the executable; a run from the source starts the runtime instead.
  const isSource = process.env['TEST_BINARY'] === undefined;
  test.skipIf(isSource || isExcused() || Bun.which('strace') === null)(
    'a dataset whose reader cannot be started is a PROBLEM too',
    async () => {
      const refuse = ['-e', 'trace=execve', '-e', 'inject=execve:error=EAGAIN'];
      const watched = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', '/proc/self/exe', ...refuse];
      const child = Bun.spawn([...watched, ...program, 'check', 'data'], {
        cwd,
        env: environment(),
        stdout: 'pipe',
        stderr: 'ignore',
      });
      expect(await child.stdout.text()).toContain('PROBLEM: tea.csv: ');
      expect(await child.exited).toBe(1);
    },
  );

  test('an address open to others without TLS is a WARNING and exits 0', async () => {
    const env = { SVC_HOST: '0.0.0.0' };
    const { code, out } = await run(['check', 'data'], { cwd, env });
    expect(out).toContain('WARNING: host 0.0.0.0 is reachable from outside without TLS');
    expect(code).toBe(0);
  });

  test('what the path of public_url covers is a WARNING (DS-244)', async () => {
    const of = async (public_url: string): Promise<string> =>
      (await run(['check', 'data'], { cwd, env: { SVC_PUBLIC_URL: public_url } })).out;
    expect(await of('https://h.example/sub')).toContain(
      'WARNING: sub is not reached at /sub: public_url has the path /sub\n',
    );
    expect(await of('https://h.example/other')).not.toContain('WARNING');
  });

  test('--json prints the same facts', async () => {
    const { code, out } = await run(['check', 'broken', '--json'], { cwd });
    const facts = JSON.parse(out);
    expect(facts).toMatchObject({
      document_root: `${cwd}/broken`,
      store: `${cwd}/broken/.svc/svc.db`,
      warnings: [],
    });
    expect(facts.problems).toHaveLength(1);
    expect(facts.problems[0].resource).toBe('bad.csv');
    expect(code).toBe(1);
  });

  test('a wrong configuration exits 2 before anything is read', async () => {
    const { code, out } = await run(['check', 'data'], { cwd, env: { SVC_PORT: 'x' } });
    expect([code, out]).toEqual([2, '']);
  });
});

describe('svc list-endpoints (DS-200)', () => {
  test('prints the paths of both name forms, sorted, percent-encoded, without trailing slash', async () => {
    const { code, out } = await run(['list-endpoints', 'data'], { cwd });
    expect(out).toBe('/api/sub/the%202nd\n/api/sub/the%202nd.csv\n/api/tea\n/api/tea.csv\n');
    expect(code).toBe(0);
  });

  test('--json names methods, resource and type', async () => {
    const { out } = await run(['list-endpoints', 'data', '--json'], { cwd });
    const endpoints = JSON.parse(out);
    expect(endpoints).toHaveLength(4);
    expect(endpoints[3]).toMatchObject({ path: '/api/tea.csv', resource: 'tea', type: 'csv' });
    expect(endpoints[3].methods).toContain('GET');
  });

  test('says so when nothing is published', async () => {
    const { out } = await run(['list-endpoints', 'empty'], { cwd });
    expect(out).toBe('No resources discovered.\n');
    expect((await run(['list-endpoints', 'empty', '--json'], { cwd })).out).toBe('[]\n');
  });
});

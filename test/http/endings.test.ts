/**
 * Ends: a stop that overtakes what the start left to the background is no failure (DS-21); commands say plainly how they ended.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { environment, program } from '../support/program.ts';
import { startService } from '../support/service.ts';
import { eventually, soon } from './eventually.ts';

test('a stop while the event store is being opened reports no error', async () => {
  await using service = await startService({ files: { 'a.csv': 't\n1\n' } });
  expect(await service.kill('SIGTERM')).toBe(0);
  const sockets = (): string[] => readdirSync(join(service.stateDir, 'run'));
  for (let round = 0; round < 5; round += 1) {
    const started = service.start().catch(() => undefined);
    await eventually(() => expect(sockets().join()).toContain('events-'));
    expect(await service.kill('SIGTERM')).toBe(0);
    await started;
  }
  expect(service.stderr()).not.toMatch(/"level":"(?:error|warning)"/);
});

test('a backup into a folder that is not there is refused in a sentence and leaves nothing', async () => {
  await using service = await startService({ files: { 'a.csv': 't\n1\n' } });
  const target = join(service.docroot, 'nowhere', 'b.tar.gz');
  const { exitCode, stderr } = await service.command(['backup', target, service.docroot]);
  expect([exitCode, stderr]).toEqual([
    1,
    'The archive cannot be made: its folder does not exist\n',
  ]);
  const temporary = join(service.stateDir, 'tmp');
  const left = existsSync(temporary) ? readdirSync(temporary) : [];
  expect(left.filter((name) => name.startsWith('backup-'))).toEqual([]);
});

test('a restore names the folder with what was there before once', async () => {
  await using service = await startService({ files: { 'a.csv': 't\n1\n' } });
  const archive = join(service.docroot, 'b.tar.gz');
  expect((await service.command(['backup', archive, service.docroot])).exitCode).toBe(0);
  await service.kill('SIGTERM');
  const { exitCode, stdout } = await service.command([
    ...['restore', archive, service.docroot, '--force'],
  ]);
  expect(exitCode).toBe(0);
  expect(stdout.match(/What was there before is in/g)).toHaveLength(1);
});

test.skipIf(process.platform !== 'linux')(
  'output that a full disk did not take is a failure of the command, not a short success (DS-200)',
  async () => {
    const child = Bun.spawn(['sh', '-c', `exec "$@" > /dev/full`, 'sh', ...program, 'licenses'], {
      env: environment(),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    expect(await child.stderr.text()).toBe('The output could not be written (ENOSPC)\n');
    expect(await child.exited).toBe(1);
  },
);

test('with --reload a configuration the server cannot start with changes nothing (DS-200)', async () => {
  await using service = await startService({
    files: { 'a.csv': 't\n1\n', '.svc/config.yaml': 'mcp_enabled: true\n' },
    args: ['--reload'],
  });
  service.write('.svc/config.yaml', 'tls_cert: none.pem\ntls_key: none.pem\n');
  await eventually(() => expect(service.stderr()).toContain('so it keeps the one before'));
  await soon(() => service.stderr()).toContain('tls_cert cannot be read (ENOENT)');
  await eventually(async () => {
    const urls = [...service.stdout().matchAll(/ serving .* at (\S+)/g)].map(([, url]) => url!);
    expect(urls.length).toBeGreaterThan(1);
    expect((await fetch(`${urls.at(-1)}/health`)).status).toBe(200);
  });
  expect(await service.kill('SIGTERM')).toBe(0);
});

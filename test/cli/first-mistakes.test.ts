/**
 * Mistakes of somebody's first day at the command line are told with what would be right (DS-131, DS-200).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
let folder = '';
beforeAll(async () => {
  service = await startService({
    files: {
      'prices.csv': 'n\n1\n',
      'reports/may.csv': 'n\n1\n',
      'reports/Müller & Co.md': '# A\n',
    },
  });
  folder = join(service.docroot, '..');
  await admin('create-group', '--name', 'all');
});
afterAll(() => service[Symbol.asyncDispose]());

const admin = (...words: string[]) =>
  service.command(['admin', ...words, '--root', service.docroot]);

describe('svc admin grant', () => {
  const grant = async (resource: string, action: string) => {
    const right = ['--group', 'all', '--resource', resource, '--action', action];
    const { exitCode, stderr } = await admin('grant', ...right);
    return [exitCode, stderr];
  };
  const nothing = (name: string) =>
    `Note: nothing is called ${name} now; svc admin list-resources shows the names\n`;

  test.each([
    ['prices', ''],
    ['prices.csv', ''],
    ['reports/*', ''],
    ['reports/Müller & Co', ''],
    ['*', ''],
    ['@events/web', ''],
    ['', ''],
    ['price', nothing('price')],
    ['reports/M%C3%BCller & Co', nothing('reports/M%C3%BCller & Co')],
    ['report/*', nothing('report/*')],
    ['reports', 'Note: reports is a folder; reports/* names what lies in it\n'],
  ])('of reading %p says what opens nothing now (DS-131)', async (resource, note) => {
    expect(await grant(resource, 'read')).toEqual([0, note]);
  });

  test('of writing says that it does not include reading', async () => {
    expect((await admin('create-group', '--name', 'pens')).exitCode).toBe(0);
    const right = ['--group', 'pens', '--resource', 'prices', '--action'];
    const { exitCode, stderr } = await admin('grant', ...right, 'write');
    expect([exitCode, stderr]).toEqual([
      0,
      'Note: write does not include read; grant read as well to those who should see it\n',
    ]);
    expect((await admin('grant', ...right, 'read')).stderr).toBe('');
    expect((await admin('grant', ...right, 'write')).stderr).toBe('');
    expect(await grant('@events/web', 'write')).toEqual([0, '']);
  });
});

describe('svc restore', () => {
  test('names a folder that stands for the archive', async () => {
    const { exitCode, stderr } = await service.command([
      ...['restore', service.docroot, join(folder, 'copy')],
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe(`${service.docroot} is a folder; name the archive that svc backup wrote\n`);
    expect(existsSync(join(folder, 'copy'))).toBe(false);
  });

  test('with --force tells where the former state and files are', async () => {
    const archive = join(folder, 'all.tar.gz');
    const copy = join(folder, 'second');
    await service.command(['backup', archive, service.docroot, '--with-docroot']);
    expect((await service.command(['restore', archive, copy])).exitCode).toBe(0);
    writeFileSync(join(copy, 'prices.csv'), 'mine\n');
    const { stdout } = await service.command(['restore', archive, copy, '--force']);
    const [aside] = stdout.match(/\/.*before-restore-\w+/g) ?? [];
    expect(readFileSync(join(aside!, 'prices.csv'), 'utf8')).toBe('mine\n');
    expect(existsSync(join(aside!, 'svc.db'))).toBe(true);
  });
});

test('svc check fails where no server would start with the certificate (DS-206)', async () => {
  writeFileSync(join(folder, 'text.pem'), 'hello\n');
  const pem = join(folder, 'text.pem');
  const config = join(folder, 'tls.yaml');
  writeFileSync(config, `tls_cert: ${pem}\ntls_key: ${pem}\n`);
  const check = await service.command(['check', service.docroot, '--config', config]);
  expect(check.stdout).toContain('PROBLEM: TLS: tls_cert holds no usable certificate\n');
  expect(check.stdout).not.toContain('WARNING');
  expect(check.exitCode).toBe(1);
});

test('svc events import looks at all names before it imports the first file', async () => {
  writeFileSync(join(folder, 'good.log'), 'a\n');
  const files = [join(folder, 'good.log'), 'nowhere.log'];
  const wrong = await service.command(['events', 'import', ...files, '--lines']);
  expect([wrong.exitCode, wrong.stdout]).toEqual([1, '']);
  expect(wrong.stderr).toBe('nowhere.log cannot be read: there is no such file\n');
});

test.skipIf(process.getuid?.() !== 0 || Bun.which('setpriv') === null)(
  'a folder that only another user may write names the user and the other place for the state',
  async () => {
    const other = join(folder, 'other');
    mkdirSync(join(other, '.svc'), { recursive: true });
    writeFileSync(join(other, '.svc/config.yaml'), 'port: 0\n');
    for (const path of [folder, other]) chmodSync(path, 0o755);
    chmodSync(join(other, '.svc'), 0o700);
    const asNobody = (...args: string[]) => {
      const user = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
      const command = [...user, process.env['SVC_BINARY']!, ...args];
      return Bun.spawnSync(command, { cwd: '/', stdout: 'ignore', stderr: 'pipe' });
    };
    if (process.env['SVC_BINARY'] === undefined) return;
    const closed = asNobody('check', other);
    expect(closed.exitCode).toBe(2);
    expect(closed.stderr.toString()).toContain(
      'config.yaml: cannot be read by this user; run as the one the server runs as\n',
    );
    chmodSync(join(other, '.svc'), 0o755);
    expect(asNobody('check', other).stderr.toString()).toContain(
      '--state-dir keeps the state elsewhere',
    );
  },
);

test.each([
  [['help', 'grant'], "grant: no command of svc; did you mean 'admin grant'?\n"],
  [['help', 'admin', 'gran'], "gran: no command of svc admin; did you mean 'grant'?\n"],
  [['help', 'nosuch'], 'nosuch: no command of svc\n'],
  [['grant'], "grant: neither a command nor a directory; did you mean 'admin grant'?\n"],
  [
    ['check', '--root', 'x'],
    '--root: unknown flag; the folder is named without one: svc check <folder>\n',
  ],
  [
    ['events', 'stats', '--root', 'x'],
    '--root: unknown flag; the folder is named without one: svc events stats <folder>\n',
  ],
])('svc %j says what was meant', async (args, text) => {
  const { exitCode, stdout, stderr } = await service.command(args);
  expect([exitCode, stdout, stderr]).toEqual([2, '', text]);
});

test.each([[['help']], [['help', 'check']], [['help', 'admin', 'grant']]])(
  'svc %j shows help',
  async (args) => {
    const { exitCode, stdout, stderr } = await service.command(args);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Usage: svc');
  },
);

test('scripts among the data are not run where plugin_registry says so, as the guide advises', async () => {
  const [, yaml = ''] =
    /```yaml svc file=scripts\.yaml\n(.*?)```/s.exec(
      readFileSync(join(import.meta.dir, '../../docs/files.md'), 'utf8'),
    ) ?? [];
  const mark = join(tmpdir(), `svc-script-${process.pid}`);
  const script = `open(${JSON.stringify(mark)}, 'w').close()\n`;
  await using svc = await startService({
    files: { 'report.py': script, 'a.csv': 'n\n1\n' },
    config: parse(yaml) as Record<string, unknown>,
  });
  await svc.createSuperuser('root');
  const listed = await (await svc.as('root')).fetch('/');
  expect(await listed.json()).toEqual({ resources: ['a.csv'] });
  expect(existsSync(mark)).toBe(false);
});

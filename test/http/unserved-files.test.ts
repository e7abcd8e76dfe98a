/** Files that nobody is served are named with the reason where an operator looks (DS-24, DS-200). */
import { expect, test } from 'bun:test';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    'sales.csv': 'n\n1\n',
    'app.log': 'x',
    'deep/er/old.zip': 'PK',
    README: 'x',
    'lib.js': 'export const a = 1;',
    'tool.py': 'x = 1',
    'Thumbs.db': 'no database',
    'plain.json': '{}',
    '.hidden/x.log': 'x',
    '.svc/x.log': 'x',
    '~$open.log': 'x',
    'shop.db-wal': 'x',
  },
  config: { plugin_registry: { py: 'none' } },
});

const reasons = {
  README: 'its name has no extension',
  'Thumbs.db': 'there is no table in it',
  'app.log': 'nothing reads .log; plugin_registry may publish it as a file (.log: file)',
  'deep/er/old.zip': 'archives (.zip) are not opened',
  'lib.js': 'a script that exports no router',
  'tool.py': 'plugin_registry switches .py off',
};

async function check(...flags: string[]): Promise<{ stdout: string; exitCode: number }> {
  const { service } = shared;
  const config = join(service.docroot, '../svc.yaml');
  return service.command(['check', service.docroot, '--config', config, ...flags]);
}

const page = async (): Promise<string> =>
  (
    await shared.superuser.fetch('/admin/ui/resources', { headers: { Accept: 'text/html' } })
  ).text();

test('svc check names them, which is no failure', async () => {
  const { stdout, exitCode } = await check('--json');
  const { unserved } = JSON.parse(stdout) as { unserved: { file: string; reason: string }[] };
  expect(Object.fromEntries(unserved.map(({ file, reason }) => [file, reason]))).toEqual(reasons);
  expect(exitCode).toBe(0);
  expect((await check()).stdout).toContain(
    'NOT SERVED: deep/er/old.zip: archives (.zip) are not opened\n',
  );
});

test('the start says how many they are', () => {
  expect(shared.service.stderr()).toMatch(
    /^[456] file\(s\) are not served: svc check names them and says why$/m,
  );
});

test('the administration lists them, and follows what comes and goes', async () => {
  await eventually(async () => {
    const shown = await page();
    for (const [file, reason] of Object.entries(reasons)) {
      expect(shown).toContain(file);
      expect(shown).toContain(reason);
    }
  });
  expect(await page()).not.toContain('x.log');
  const at = (rel: string): string => join(shared.service.docroot, rel);
  shared.service.write('new/one.log', 'x');
  await eventually(async () => expect(await page()).toContain('new/one.log'));
  renameSync(at('new'), at('moved'));
  await eventually(async () => {
    const shown = await page();
    expect(shown).toContain('moved/one.log');
    expect(shown).not.toContain('new/one.log');
  });
  rmSync(at('moved'), { recursive: true });
  rmSync(at('app.log'));
  await eventually(async () => expect(await page()).not.toContain('.log'));
});

test('others do not learn of them', async () => {
  const listed = await (await shared.reader.fetch('/')).text();
  expect(listed).not.toContain('README');
  expect(
    (await shared.reader.fetch('/admin/ui/resources', { headers: { Accept: 'text/html' } })).status,
  ).toBe(403);
});

/**
 * `svc search` (EV-108): rows as a table, as JSON and as CSV, rights of a user, the built-in reference.
 */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../support/service.ts';

test('svc search runs a query beside the server and shows where it is wrong', async () => {
  await using svc = await startService({ files: { 'hosts.csv': 'host,tier\nalpha,1\nbeta,2\n' } });
  await svc.accounts.user('nobody');
  const search = (...args: string[]) => svc.command(['search', svc.docroot, ...args]);

  const table = await search('from hosts | where tier>=2');
  expect(table.stdout).toStartWith('host  tier\nbeta  2\n');

  const csv = await search('from hosts | table host', '--csv');
  expect(csv.stdout).toBe('host\r\nalpha\r\nbeta\r\n');

  const json = await search('from hosts | where host={h}', '--json', '--param', 'h=alpha');
  expect(JSON.parse(json.stdout).rows).toEqual([{ host: 'alpha', tier: 1 }]);

  const day = 'from hosts | head 1 | eval d=strftime("2026-07-01T23:30:00Z","%F") | table d';
  const zoned = await search(day, '--csv', '--timezone', 'Europe/Berlin');
  expect(zoned.stdout).toBe('d\r\n2026-07-02\r\n');
  const nowhere = await search(day, '--timezone', 'Nowhere');
  expect([nowhere.exitCode, nowhere.stderr]).toEqual([
    2,
    expect.stringContaining('timezone must be UTC, an offset such as +02:00'),
  ]);

  const wrong = await search('from hosts | hed 1');
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stderr).toContain("did you mean 'head'?");
  expect(wrong.stderr).toContain('\n               ^^^');

  const refused = await search('from hosts', '--as', 'nobody');
  expect(refused.stderr).toContain("Unknown dataset 'hosts' or no permission to read it");

  // Its copies of the datasets go with it.
  const left = readdirSync(join(svc.stateDir, 'tmp')).filter((name) => name.startsWith('tables'));
  expect(left).toEqual([]);
});

test('svc sql runs a statement with parameters, queries as tables, and into a file (SL-197)', async () => {
  await using svc = await startService({ files: { 'hosts.csv': 'host,tier\nalpha,1\nbeta,2\n' } });
  await svc.accounts.user('nobody');
  const sql = (...args: string[]) => svc.command(['sql', svc.docroot, ...args]);

  const table = await sql(
    'select host, n from hosts, t where tier = :tier',
    '--param',
    'tier=2',
    '--with',
    't=from hosts | stats count as n',
  );
  expect([table.stderr, table.stdout]).toEqual(['', expect.stringMatching(/^host  n\nbeta  2\n/)]);
  expect((await sql('select host from hosts', '--format', 'csv')).stdout).toBe(
    'host\r\nalpha\r\nbeta\r\n',
  );
  const file = join(svc.docroot, '..', 'hosts.parquet');
  expect(
    (await sql('select host from hosts', '--format', 'parquet', '--output', file)).exitCode,
  ).toBe(0);
  expect(readFileSync(file).subarray(0, 4).toString()).toBe('PAR1');
  expect((await sql('select 1', '--format', 'xlsx')).stderr).toContain('needs --output');

  const wrong = await sql('select hst from hosts');
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stderr).toContain("did you mean 'host'?");
  expect(wrong.stderr).toContain('\n         ^^^');
  expect((await sql('select * from hosts', '--as', 'nobody')).stderr).toContain('Unknown dataset');
});

test('svc search --help shows the language, and --help <command> one command', async () => {
  await using svc = await startService();
  const overview = await svc.command(['search', '--help']);
  expect(overview.exitCode).toBe(0);
  expect(overview.stdout).toContain('top limit=10 host');
  expect(overview.stdout).toContain('timechart');
  const one = await svc.command(['search', '--help', 'timechart']);
  expect(one.stdout).toContain('timechart [span=');
  const wrong = await svc.command(['search', '--help', 'timchart']);
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain("did you mean 'timechart'?");
});

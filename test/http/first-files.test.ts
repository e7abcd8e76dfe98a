/**
 * What people bring along on their first day: exports in older encodings, workbooks with a heading, names without their folder.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';

/** Byte 80 is the euro sign in windows-1252, and nothing to see in Latin-1. */
const EXPORT = Buffer.from('Filiale;Umsatz \x80\nK\xf6ln;987,00 \x80\n', 'latin1');
let svc: Service;
let root: Client;
beforeAll(async () => {
  svc = await startService({
    files: {
      'sales/may.csv': EXPORT,
      'sales/june.csv': 'a\n1\n',
      // One letter at the end of a word is too little to tell an encoding by.
      'sales/one.csv': Buffer.from('a;b\nCaf\xe9;1\n', 'latin1'),
    },
  });
  await svc.accounts.user('root', { superuser: true });
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

test('svc check says what to do about a file that is not UTF-8', async () => {
  const { stdout, exitCode } = await svc.command(['check', svc.docroot]);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('PROBLEM: sales/one.csv: invalid UTF-8 at byte offset 7\n');
  expect(stdout).toContain("svc companion set 'sales/one.csv' --encoding windows-1252\n");
  expect(stdout).not.toContain('sales/may.csv');
});

test('a windows-1252 file is read with its own characters and edited byte for byte', async () => {
  await eventually(async () => {
    const response = await root.fetch('/api/sales/may/');
    expect(await response.json()).toEqual([
      { _row_id: 1, Filiale: 'Köln', 'Umsatz €': '987,00 €' },
    ]);
  });
  const change = async (value: string): Promise<Response> =>
    root.fetch('/api/sales/may/', {
      method: 'PATCH',
      body: JSON.stringify({ action: 'update', data: { _row_id: 1, Filiale: value } }),
    });
  expect((await change('“Köln” – Süd')).status).toBe(200);
  const bytes = Buffer.from(
    'Filiale;Umsatz \x80\n\x93K\xf6ln\x94 \x96 S\xfcd;987,00 \x80\n',
    'latin1',
  );
  expect(readFileSync(join(svc.docroot, 'sales/may.csv'))).toEqual(bytes);
  const refused = await change('Łódź');
  expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('U+0141')]);
});

test('a query that leaves the folder of a dataset out is told its whole name', async () => {
  const { stderr } = await svc.command(['search', svc.docroot, 'from june']);
  expect(stderr).toContain("did you mean 'sales/june'?");
  const { stderr: folder } = await svc.command(['search', svc.docroot, 'from sales']);
  expect(folder).toContain("did you mean 'sales/june'?");
});

test('a backup goes into a folder that is not there yet; one that fails leaves no folder', async () => {
  const at = (name: string): string => join(svc.docroot, '..', name);
  expect(
    (await svc.command(['backup', at('a.tar.gz'), svc.docroot, '--with-docroot'])).exitCode,
  ).toBe(0);
  const restored = await svc.command(['restore', at('a.tar.gz'), at('new/place')]);
  expect([restored.exitCode, restored.stderr]).toEqual([0, '']);
  expect(existsSync(at('new/place/sales/june.csv'))).toBe(true);
  writeFileSync(at('damaged.tar.gz'), 'no archive');
  const damaged = await svc.command(['restore', at('damaged.tar.gz'), at('other')]);
  expect([damaged.exitCode, existsSync(at('other'))]).toEqual([1, false]);
  const missing = await svc.command(['restore', 'missing.tar.gz', at('other')]);
  expect([missing.exitCode, missing.stderr]).toEqual([1, 'missing.tar.gz: no such file\n']);
});

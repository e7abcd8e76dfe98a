/**
 * Beside programs that replace, rewrite or extend a file all the time, readers get the rows of one version and
 * editors start over until their change is in (DS-33, DS-84).
 */
import { describe, expect, test } from 'bun:test';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../support/service.ts';

const EVERY_MS = 25;
const READS = 60;
const EDITS = 12;
const ROWS = 200;

const textOf = (version: number): string =>
  `key,value\n${Array.from({ length: ROWS }, (_, row) => `k${row},${version}\n`).join('')}`;

const programs: Readonly<Record<string, (path: string, version: number) => void>> = {
  'replaces the file': (path, version) => {
    writeFileSync(`${path}.new`, textOf(version));
    renameSync(`${path}.new`, path);
  },
  'rewrites it in place': (path, version) => writeFileSync(path, textOf(version)),
  'appends to it': (path, version) => appendFileSync(path, `more,${version}\n`),
};

describe.each(Object.entries(programs))('beside a program that %s every 25 ms', (_, write) => {
  test('lists have the rows of one version, and changes are made', async () => {
    const files = { 't.csv': textOf(0) };
    await using svc = await startService({ files, config: { locks: { timeout_seconds: 60 } } });
    await svc.accounts.user('boss', { superuser: true });
    const client = await svc.as('boss');
    let version = 0;
    const timer = setInterval(() => write(join(svc.docroot, 't.csv'), ++version), EVERY_MS);
    const answers = new Set<string>();
    const versions = new Set<number>();
    const read = async (): Promise<void> => {
      for (let count = 0; count < READS; count++) {
        const answer = await client.fetch('/api/t/');
        const text = await answer.text();
        answers.add(answer.status === 200 ? '200' : text);
        if (answer.status !== 200) continue;
        const rows = JSON.parse(text) as { key: string; value: number }[];
        const own = rows.filter(({ key }) => key.startsWith('k'));
        versions.add(new Set(own.map(({ value }) => value)).size);
      }
    };
    const edit = async (): Promise<void> => {
      for (let count = 0; count < EDITS; count++) {
        const data = [{ key: 'edit', value: count }];
        const body = JSON.stringify({ action: 'create', data });
        const answer = await client.fetch('/api/t/', { method: 'POST', body });
        answers.add(answer.status === 200 ? '200' : await answer.text());
      }
    };
    try {
      await Promise.all([read(), edit()]);
    } finally {
      clearInterval(timer);
    }
    expect([...answers]).toEqual(['200']);
    expect([...versions]).toEqual([1]);
  });
});

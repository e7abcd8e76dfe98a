/**
 * The first reading of a large file: its page says how far it is, and nothing is left of that.
 */
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ProgressWriter, readProgress } from '../../src/tables/copy/read-progress.ts';
import { startService } from '../support/service.ts';

test('the page of a large file tells how much of it is read, until its rows are there', async () => {
  const lines = 'some text,12345,2024-01-01\n'.repeat(1_500_000);
  await using svc = await startService({
    // Only the last row shows that the second column is no integer, so that it is read twice.
    files: { 'large.csv': `a,b,c\n${lines}some text,none,2024-01-01\n` },
  });
  await svc.accounts.grant('ada', '*', 'read');
  const ada = await svc.as('ada');
  const told: number[] = [];
  for (;;) {
    const page = await ada.fetch('/ui/large/', { headers: { Accept: 'text/html' } });
    const html = await page.text();
    if (page.status === 200) break;
    expect(page.status).toBe(202);
    expect(html).toContain('Do not wait');
    const value = /<progress[^>]* value="(\d+)"/.exec(html);
    if (value) told.push(Number(value[1]));
  }
  // A very fast machine has read it before anybody waits.
  expect(told.every((bytes) => bytes > 0 && bytes <= lines.length + 100)).toBe(true);
  const left = readdirSync(join(svc.stateDir, 'tables')).filter((name) => /progress/.test(name));
  expect(left).toEqual([]);
});

test('progress counts what is read in each pass, and ends without a trace', async () => {
  const path = join(process.env['TMPDIR'] ?? '/tmp', `svc-progress-${process.pid}`);
  const teller = new ProgressWriter(path);
  expect(readProgress(path)).toBeNull();
  const source = { size: 100, read: () => Promise.resolve(new Uint8Array(60)) };
  await teller.begin(source).read(0, 60);
  expect(readProgress(path)).toEqual({ bytes: 60, size: 100, pass: 1 });
  teller.end();
  expect(readProgress(path)).toBeNull();
});

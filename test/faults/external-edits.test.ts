/**
 * The atomic writer against a program that keeps editing the same file in place (F10): no edit of either gets lost.
 */
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChangedDuringWrite, replaceFile } from '../../src/base/files/atomic-file.ts';
import { systemClock } from '../../src/base/clock.ts';
import { ContentHash, sameStamp, statFile } from '../../src/base/files/file-stamp.ts';
import { createLog } from '../../src/base/log.ts';
import { ReplacedFiles } from '../../src/base/files/replaced-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Every write syncs the disk, which others may keep busy. */

const EDITS = 300;

test(`${EDITS} appended rows and more and all rows the service acknowledged are there at the end`, async () => {
  using folder = temporaryFolder({ 'a.csv': 'id\n' });
  const path = folder.at('a.csv');
  const log = createLog({ level: 'error', format: 'text', write: (line) => console.error(line) });
  const replaced = new ReplacedFiles({ directory: folder.at('replaced'), clock: systemClock, log });
  const program = join(import.meta.dir, 'appending-editor.ts');
  const editor = Bun.spawn([process.execPath, program, path, String(EDITS)], {
    stdin: 'pipe',
    stdout: 'pipe',
  });
  let isEditing = true;
  void editor.exited.then(() => {
    isEditing = false;
  });

  let acked = 0;
  let conflicts = 0;
  while (isEditing) {
    try {
      await appendRow(path, `a${acked + 1}\n`, replaced);
      acked++;
    } catch (error) {
      if (!(error instanceof ChangedDuringWrite)) throw error;
      conflicts++;
    }
    if (acked > 0 && conflicts > 0) void editor.stdin.end();
  }
  expect(editor.exitCode).toBe(0);
  const edits = Number(await editor.stdout.text());
  expect(edits).toBeGreaterThanOrEqual(EDITS);
  await replaced.close();

  const rows = new Set(readFileSync(path, 'utf8').split('\n'));
  for (let i = 1; i <= acked; i++) expect(rows.has(`a${i}`)).toBe(true);
  const copies = readdirSync(folder.at('replaced')).map((name) => folder.at(`replaced/${name}`));
  for (const copy of copies) {
    for (const row of readFileSync(copy, 'utf8').split('\n')) rows.add(row);
  }
  const lost = Array.from({ length: edits }, (_, i) => `e${i + 1}`).filter((row) => !rows.has(row));
  expect(lost).toEqual([]);
  expect(acked).toBeGreaterThan(0);
  expect(conflicts).toBeGreaterThan(0);
});

async function appendRow(path: string, row: string, replaced: ReplacedFiles): Promise<void> {
  const base = statFile(path);
  const content = readFileSync(path);
  if (base === null || !sameStamp(base, statFile(path))) throw new ChangedDuringWrite('a.csv');
  const hash = new ContentHash();
  hash.add(content);
  const pieces = [{ from: 0, to: base.size }, Buffer.from(row)];
  await replaceFile({ path, rel: 'a.csv', base, baseHash: hash.digest(), pieces, replaced });
}

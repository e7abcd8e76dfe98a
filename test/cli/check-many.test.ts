/** `svc check` of a folder with many datasets: all of them are read, none of them gets a typed copy without need (DS-34, DS-200). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../http/eventually.ts';
import { environment, program, run } from '../support/program.ts';

const FILES = 150;
const PROBLEMS = {
  'broken-companion.csv': '.svc/broken-companion.csv.schema.json: Companion schema: not valid JSON',
  'no-parquet.parquet': 'not a Parquet file',
  'no-utf-8.csv': 'invalid UTF-8 at byte offset 2',
  'no-utf-8-at-the-end.csv': 'invalid UTF-8 at byte offset 2200002',
  'no-workbook.xlsx': 'it is no Excel workbook',
  'too-wide.csv': 'more than 1999 columns in the row at byte offset 0',
  'too-wide-row.csv': 'more than 1999 columns in the row at byte offset 2',
};

let cwd = '';

beforeAll(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'svc-check-')));
  mkdirSync(join(cwd, 'data', '.svc'), { recursive: true });
  const put = (name: string, content: string | Uint8Array): void =>
    writeFileSync(join(cwd, 'data', name), content);
  for (let i = 0; i < FILES; i++) put(`rows-${i}.csv`, `n,name\n${i},x\n`);
  put('broken-companion.csv', 'n\n1\n');
  put('.svc/broken-companion.csv.schema.json', '{');
  put('latin.csv', new Uint8Array([0x61, 0x0a, 0xe9, 0x0a]));
  put('.svc/latin.csv.options.json', '{"encoding":"windows-1252"}');
  put('no-parquet.parquet', 'PAR1 or not');
  put('no-utf-8.csv', new Uint8Array([0x61, 0x0a, 0xff]));
  put(
    'no-utf-8-at-the-end.csv',
    Buffer.concat([Buffer.from(`a\n${'1\n'.repeat(1_100_000)}`), Buffer.from([0xff])]),
  );
  put('no-workbook.xlsx', 'PK or not');
  put('too-wide.csv', `${Array.from({ length: 2_500 }, (_, i) => `c${i}`).join(',')}\n`);
  put('too-wide-row.csv', `a\n${'1,'.repeat(2_500)}1\n`);
  put('wide-but-blank.csv', `a\n${','.repeat(1_500)}\n`);
});

afterAll(() => rmSync(cwd, { recursive: true }));

test('svc check finds every problem among many files, and nothing else (DS-34)', async () => {
  const { code, out, err } = await run(['check', 'data', '--json'], { cwd });
  const { problems, datasets } = JSON.parse(out) as {
    problems: { resource: string; reason: string }[];
    datasets: number;
  };
  const found = problems.map(({ resource, reason }) => [resource, reason]);
  expect(Object.fromEntries(found)).toEqual(PROBLEMS);
  expect([code, datasets, found.length]).toEqual([1, FILES + 9, 7]);
  expect(err).not.toContain('Reading');
});

test('svc check tells a terminal how far it is, in a line that goes', async () => {
  let shown = '';
  const terminal = new Bun.Terminal({
    data: (_, bytes) => void (shown += Buffer.from(bytes).toString()),
  });
  const child = Bun.spawn([...program, 'check', 'data'], { cwd, env: environment(), terminal });
  expect(await child.exited).toBe(1);
  // What was printed last may come after the end.
  await eventually(() => expect(shown).toContain('Discovered 159 dataset(s)'));
  expect(shown).toMatch(/\r\u001b\[KReading the datasets: \d+ of 159/);
  expect(shown.slice(shown.lastIndexOf('Reading'))).toContain('\r\u001b[K');
});

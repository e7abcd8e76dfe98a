/** The state beside a folder stays in proportion to its files, and searches read rows from the typed copies (DS-151). */
import { expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/database.ts';
import { startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { searched } from './searching.ts';

const CSV_BYTES = 1_200_000;
const WORDS = Array.from({ length: 600 }, (_, n) => `wo${(n * 7919).toString(36)}rd`);

function csv(header: string, row: (n: number) => readonly (string | number)[]): string {
  const lines = [header];
  for (let n = 1, size = 0; size < CSV_BYTES; n++) {
    const line = row(n).join(',');
    lines.push(line);
    size += line.length + 1;
  }
  return `${lines.join('\n')}\n`;
}

const text = (n: number, count: number): string =>
  Array.from({ length: count }, (_, at) => WORDS[(n * (at + 3)) % WORDS.length]).join(' ');

const numeric = csv('id,station,time,temperature,humidity,pressure,wind', (n) => [
  ...[100_000 + n, 100 + (n % 40), `2024-0${1 + (n % 9)}-1${n % 9} 0${n % 9}:1${n % 5}:00`],
  ...[
    ((n * 37) % 4000) / 100,
    ((n * 91) % 1000) / 10,
    950 + ((n * 53) % 10_000) / 100,
    ((n * 71) % 30_000) / 1000,
  ],
]);
const textual = csv('title,author,summary,price', (n) => [
  ...[text(n, 4), text(n + 5, 2), text(n * 3, 18), ((n * 37) % 9000) / 100],
]);
const page = Array.from({ length: 400 }, (_, n) => `## ${text(n, 4)}\n\n${text(n, 90)}\n`);
const [header, ...lines] = textual.split('\n');
const parts = Array.from({ length: 30 }, (_, n) => [
  `part${n}.csv`,
  [header, ...lines.slice(n * 100, n * 100 + 100), ''].join('\n'),
]);

const folders: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'columns of numbers': { 'a.csv': numeric },
  texts: { 'a.csv': textual },
  'pages and tables': { 'a.md': page.join('\n'), 'b.csv': numeric, 'c.csv': textual },
  'many small files': Object.fromEntries(parts) as Record<string, string>,
};

test.each(Object.keys(folders))(
  'a folder of %s takes at most 1.5 times its size in copies, and 3 times with the search index',
  async (name) => {
    const files = folders[name]!;
    await using svc = await startService({ files });
    await svc.accounts.user('root', { superuser: true });
    const root = await svc.as('root');
    const index = join(svc.stateDir, 'search/index.sqlite');
    const rowsOf = (content: string): number =>
      content.startsWith('#') ? 1 : content.split('\n').length - 1;
    const least = Object.values(files).reduce((sum, content) => sum + rowsOf(content), 0);
    await until(async () => {
      const metrics = await (await root.fetch('/metrics')).text();
      return Number(/^svc_search_documents (\d+)$/m.exec(metrics)?.[1]) >= least;
    });
    const size = Object.values(files).reduce((sum, content) => sum + content.length, 0);
    const copies = readdirSync(join(svc.stateDir, 'tables'))
      .filter((file) => file.endsWith('.sqlite'))
      .reduce((sum, file) => sum + Bun.file(join(svc.stateDir, 'tables', file)).size, 0);
    using db = new Database(index, { readwrite: true });
    const bytes = 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size';
    expect(copies / size).toBeLessThan(1.5);
    // Found as soon as it is written; what was written in pieces is joined a little later.
    await eventually(() => {
      const indexed = db.query(bytes).values()[0]![0] as number;
      expect((copies + indexed) / size).toBeLessThan(3);
    });
  },
);

test('rows of a copy that is gone have no text until they are read again, by themselves', async () => {
  await using svc = await startService({
    files: { 'towns.csv': 'town,river\nPassau,Donau\nKoblenz,Rhein\n' },
  });
  await svc.accounts.user('root', { superuser: true });
  const root = await svc.as('root');
  await until(async () => (await searched(root, 'donau')).count === 1);
  const whole = await searched(root, 'donau');
  expect(whole.results[0]).toMatchObject({ title: 'Passau', row_id: 1 });
  const tables = join(svc.stateDir, 'tables');
  for (const file of readdirSync(tables)) rmSync(join(tables, file));
  const [bare] = (await searched(root, 'donau')).results;
  expect(bare).toMatchObject({ title: 'towns', snippet: '', row_id: 1 });
  await until(async () => (await searched(root, 'donau')).results[0]?.title === 'Passau');
  expect(await searched(root, 'donau')).toEqual(whole);
  expect(readdirSync(tables).filter((file) => file.endsWith('.sqlite'))).toHaveLength(1);
});

test('while a changed file is read again, results are whole rows of the one version or the other (DS-152)', async () => {
  const rows = (version: string): string =>
    `title,word\n${Array.from({ length: 20_000 }, (_, n) => `${version} ${n + 1},shared`).join('\n')}\n`;
  await using svc = await startService({ files: { 'list.csv': rows('before') } });
  await svc.accounts.user('root', { superuser: true });
  const root = await svc.as('root');
  const titles = async (q: string): Promise<string[]> => {
    const { results } = await searched(root, q, { limit: '100' });
    for (const { title, row_id: row, snippet } of results) {
      expect(title).toMatch(new RegExp(`^(before|after) ${row}$`));
      expect(snippet).toStartWith(`title: ${title} | word: <mark>`);
    }
    return results.map(({ title }) => title);
  };
  await until(async () => (await titles('shared')).length === 100);
  writeFileSync(join(svc.docroot, 'list.csv'), rows('after'));
  await until(async () => (await titles('shared'))[0] === 'after 1');
});

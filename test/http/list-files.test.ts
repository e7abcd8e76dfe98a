/**
 * Lists that pages show as files: administration, results of the search, media; their values, rights and limits.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { parquetReadObjects } from 'hyparquet';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { found } from './searching.ts';

let svc: Service;
let root: Client;
let user: Client;

beforeAll(async () => {
  svc = await startService({
    files: {
      'products.csv': 'name,price\nespresso cup,2\nteapot,20\n',
      'song.mp3': 'no sound',
      'film.mp4': 'no film',
    },
  });
  await svc.createSuperuser('root');
  root = await svc.as('root');
  await svc.accounts.grant('user', '*', 'read');
  await svc.accounts.user('=1+1');
  user = await svc.as('user');
});
afterAll(() => svc?.[Symbol.asyncDispose]());

const LISTS = 'users groups permissions api-keys tokens sessions audit locks cache resources'.split(
  ' ',
);

test.each(LISTS)(
  'the list of %s is had in every format, by superusers only (DS-132)',
  async (list) => {
    const address = (format: string) => `/admin/ui/${list}?format=${format}`;
    const json = await root.fetch(address('json'));
    expect(json.status).toBe(200);
    const rows = (await json.json()) as Record<string, unknown>[];
    const lines = (await (await root.fetch(address('ndjson'))).text()).split('\n').slice(0, -1);
    // Signing in and looking are noted in some of them meanwhile.
    expect(lines.length).toBeGreaterThanOrEqual(rows.length);
    for (const format of ['csv', 'xlsx', 'parquet']) {
      const file = await root.fetch(address(format));
      expect([format, file.status]).toEqual([format, 200]);
      expect(file.headers.get('content-disposition')).toContain(`filename="${list}.${format}"`);
      expect(file.headers.get('cache-control')).toBe('no-store');
      await file.body?.cancel();
    }
    expect((await root.fetch(address('pdf'))).status).toBe(404);
    expect((await user.fetch(address('csv'))).status).toBe(403);
    expect((await svc.fetch(address('csv'))).status).toBe(401);
  },
);

test('a file holds what the filter of the page leaves, with types, and no formulas', async () => {
  const rows = await parquetReadObjects({
    file: await (await root.fetch('/admin/ui/users?q=user&format=parquet')).arrayBuffer(),
  });
  expect(rows).toMatchObject([{ username: 'user', is_active: true, is_superuser: false }]);
  expect(typeof rows[0]!['id']).toBe('bigint');
  const csv = await (await root.fetch('/admin/ui/users?q=1%2B1&format=csv')).text();
  expect(csv.split('\n')[1]).toContain(`,'=1+1,`);
  const book = new ExcelJS.Workbook();
  await book.xlsx.load(
    await (await root.fetch('/admin/ui/users?q=1%2B1&format=xlsx')).arrayBuffer(),
  );
  expect(book.worksheets[0]!.getCell('B2').value).toBe('=1+1');
  expect((await root.fetch('/admin/ui/explain?format=csv')).status).toBe(404);
  const allowed = await root.fetch('/admin/ui/explain?resource=products&right=read&format=csv');
  expect(await allowed.text()).toContain('user,');
  const members = await root.fetch('/admin/ui/groups/1?list=members&format=csv');
  expect(members.headers.get('content-disposition')).toContain('filename="members.csv"');
  expect(await members.text()).toContain('user');
});

test('no file of a list holds what stands for a secret', async () => {
  const [found] = (await (await root.fetch('/admin/ui/users?q=user&format=json')).json()) as [
    { id: number },
  ];
  const lists = ['keys', 'sessions'].map((list) => `users/${found.id}?list=${list}&format=csv`);
  for (const list of [
    'api-keys?format=csv',
    'tokens?format=csv',
    'sessions?format=csv',
    ...lists,
  ]) {
    const answer = await root.fetch(`/admin/ui/${list}`);
    expect([list, answer.status]).toEqual([list, 200]);
    const text = await answer.text();
    if (list.includes('keys')) expect(text).toContain('made by a test');
    expect(text).not.toMatch(/hash|[0-9a-f]{64}/i);
    // Members are called as the API calls them, wherever the list stands.
    expect(text.split('\n')[0]).not.toMatch(/[a-z][A-Z]/);
  }
});

test('results of the search and the media are had in every format', async () => {
  await eventually(async () => expect(await found(user, 'espresso')).toEqual(['products#1']));
  const asCsv = await user.fetch('/search?q=espresso&format=csv');
  const text = await asCsv.text();
  expect(asCsv.headers.get('content-disposition')).toContain('filename="search.csv"');
  expect(text).toStartWith(
    'resource,type,title,snippet,score,ui_url,api_url,row_id\nproducts,csv,',
  );
  const json = await user.fetch('/search?q=espresso&format=json', {
    headers: { Accept: 'text/html' },
  });
  expect(await json.json()).toMatchObject({ query: 'espresso', count: 1 });

  const media = (await (await user.fetch('/ui/media?format=json&type=audio')).json()) as object[];
  expect(media).toMatchObject([
    { resource: 'song', file_name: 'song.mp3', file_size: 8, media_url: '/media/song' },
  ]);
  const all = await user.fetch('/ui/media?format=parquet&sort=size');
  expect(await parquetReadObjects({ file: await all.arrayBuffer() })).toHaveLength(2);
  const nobody = await svc.fetch('/ui/media?format=csv');
  expect([nobody.status, nobody.headers.get('location')]).toEqual([
    302,
    '/auth/login?next=/ui/media',
  ]);
});

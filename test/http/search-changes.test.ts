/**
 * The search follows rows, files and restarts (DS-152, DS-200).
 */
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { startService, type Client, type Service } from '../support/service.ts';
import { eventually, PICK_UP_MS, soon } from './eventually.ts';
import { childrenOf } from './process-memory.ts';
import { found, searched } from './searching.ts';
import { field, file, formOf, send } from './upload-form.ts';

async function start(
  files: Record<string, string>,
  config: object = {},
): Promise<[Service, Client]> {
  const svc = await startService({ files, config: { ...config } });
  await svc.createSuperuser('root');
  return [svc, await svc.as('root')];
}

async function change(
  client: Client,
  path: string,
  method: string,
  body: object,
): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await client.fetch(path, { method, headers, body: JSON.stringify(body) });
  expect(response.ok).toBe(true);
  return response;
}

function index(svc: Service): string {
  return join(svc.stateDir, 'search', 'index.sqlite');
}

test('changed rows are found by their new words, and no longer by the old ones, when the answer is there (DS-152)', async () => {
  const [svc, root] = await start({ 'fruit.csv': 'name,price\napple,1\npear,2\n' });
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'apple')).toEqual(['fruit#1']));

  await change(root, '/api/fruit/', 'POST', {
    action: 'create',
    data: [{ name: 'quince', price: 3 }],
  });
  expect(await found(root, 'quince')).toEqual(['fruit#3']);

  await change(root, '/api/fruit/', 'PATCH', {
    action: 'update',
    data: { _row_id: 1, name: 'papaya' },
  });
  expect(await found(root, 'papaya')).toEqual(['fruit#1']);
  expect(await found(root, 'apple')).toEqual([]);

  await change(root, '/api/fruit/', 'DELETE', { action: 'delete', data: { _row_id: 2 } });
  expect(await found(root, 'pear')).toEqual([]);

  const many = Array.from({ length: 3000 }, (_, n) => ({ name: `melon${n}`, price: n }));
  await change(root, '/api/fruit/', 'POST', { action: 'create', data: many });
  expect(await found(root, 'melon2999')).toEqual(['fruit#3003']);
  expect(
    Number(/^svc_search_documents (\d+)$/m.exec(await (await root.fetch('/metrics')).text())![1]),
  ).toBe(3003);
});

test('a change of the type of a column does not lose a row', async () => {
  const [svc, root] = await start({ 'n.csv': 'id,value\nx1,\nx2,\n' });
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'x2')).toEqual(['n#2']));
  await change(root, '/api/n/', 'POST', { action: 'create', data: [{ id: 'x3', value: '30' }] });
  for (const q of ['x1', 'x2', '30']) {
    await eventually(async () => expect(await found(root, q)).toHaveLength(1));
  }
});

test('files that others add, change and delete are followed within a second (DS-152)', async () => {
  const [svc, root] = await start({ 'one.csv': 'word\nfirst\n' });
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'first')).toEqual(['one#1']));

  svc.write('two.csv', 'word\nsecond\n');
  await eventually(async () => expect(await found(root, 'second')).toEqual(['two#1']), PICK_UP_MS);
  svc.write('one.csv', 'word\nchanged\n');
  await eventually(async () => {
    expect(await found(root, 'changed')).toEqual(['one#1']);
    expect(await found(root, 'first')).toEqual([]);
  }, PICK_UP_MS);
  rmSync(join(svc.docroot, 'two.csv'));
  await eventually(async () => expect(await found(root, 'second')).toEqual([]), PICK_UP_MS);
  svc.write('one.csv', 'word\n"unclosed\n');
  await eventually(async () => expect(await found(root, 'changed')).toEqual([]), PICK_UP_MS);
});

test('an uploaded file is found when the answer is there (DS-152)', async () => {
  const [svc, root] = await start({}, { upload: { enabled: true } });
  await using _ = svc;
  const form = formOf([field('filename', 'sent.csv'), file('word\nparcel\n')]);
  expect((await send(root, form)).status).toBe(201);
  expect(await found(root, 'parcel')).toEqual(['sent#1']);
});

test('after a restart everything is found as before, and what changed meanwhile too (DS-152)', async () => {
  const [svc, root] = await start({ 'kept.csv': 'w\nkeeper\n', 'gone.csv': 'w\nvanisher\n' });
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'vanisher')).toEqual(['gone#1']));
  await eventually(async () => expect(await found(root, 'keeper')).toEqual(['kept#1']));
  await change(root, '/api/kept/', 'POST', { action: 'create', data: [{ w: 'added' }] });
  await svc.kill('SIGKILL');
  rmSync(join(svc.docroot, 'gone.csv'));
  svc.write('new.csv', 'w\nnewcomer\n');
  await svc.start();
  expect(await found(root, 'keeper')).toEqual(['kept#1']);
  expect(await found(root, 'added')).toEqual(['kept#2']);
  expect(await found(root, 'vanisher')).toEqual([]);
  await eventually(async () => expect(await found(root, 'newcomer')).toEqual(['new#1']));
});

test('without search_on_startup the index of the last run is used until svc reindex (DS-152)', async () => {
  const [svc, root] = await start({ 'a.csv': 'w\nbefore\n' }, { search_on_startup: false });
  await using _ = svc;
  expect(await found(root, 'before')).toEqual([]);
  const { stdout } = await svc.command(['reindex', svc.docroot]);
  expect(stdout).toContain('Indexed 1 resource(s) (2 document(s)), skipped 0, pruned 0');
  expect(await found(root, 'before')).toEqual(['a#1']);
  svc.write('b.csv', 'w\nlater\n');
  await eventually(async () => expect(await found(root, 'later')).toEqual(['b#1']));
});

test('svc reindex works with and without a server and tells what it did (DS-200)', async () => {
  const [svc, root] = await start({ 'a.csv': 'w\nalpha\n', 'b.csv': 'w\nbeta\n' });
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'beta')).toEqual(['b#1']));
  await eventually(async () => expect(await found(root, 'alpha')).toEqual(['a#1']));
  const beside = await svc.command(['reindex', svc.docroot]);
  expect(beside.stdout).toBe(
    `Document root: ${svc.docroot}\nSearch index: ${index(svc)}\n` +
      'Indexed 0 resource(s) (0 document(s)), skipped 2, pruned 0\n',
  );
  const forced = await svc.command(['reindex', svc.docroot, '--force']);
  expect(forced.stdout).toContain('Indexed 2 resource(s) (4 document(s)), skipped 0, pruned 0');
  expect(await found(root, 'alpha')).toEqual(['a#1']);
  await svc.kill();
  rmSync(join(svc.docroot, 'b.csv'));
  const alone = await svc.command(['reindex', svc.docroot]);
  expect(alone.stdout).toContain('Indexed 0 resource(s) (0 document(s)), skipped 1, pruned 1');
  expect(alone.exitCode).toBe(0);
  expect(readdirSync(join(svc.stateDir, 'search')).filter((name) => /reindex/.test(name))).toEqual(
    [],
  );
});

test('a server that is killed while it reads a large file finishes it after the next start', async () => {
  const rows = Array.from({ length: 40_000 }, (_, n) => `item${n},${n % 7}`);
  const [svc, root] = await start({ 'big.csv': `name,day\n${rows.join('\n')}\n` });
  await using _ = svc;
  await eventually(async () => expect(existsSync(index(svc))).toBe(true));
  await svc.kill('SIGKILL');
  await svc.start();
  await eventually(async () => {
    expect(await found(root, 'item39999')).toEqual(['big#40000']);
  }, 30_000);
  expect(await found(root, 'item0 0')).toEqual(['big#1']);
  const metrics = await (await root.fetch('/metrics')).text();
  expect(Number(/^svc_search_documents (\d+)$/m.exec(metrics)![1])).toBe(40_001);
});

test('an index that is missing or damaged is built again', async () => {
  const [svc, root] = await start({ 'a.csv': 'w\nphoenix\n' });
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'phoenix')).toEqual(['a#1']));
  await svc.kill();
  writeFileSync(index(svc), 'this is no database'.repeat(1000));
  writeFileSync(join(svc.stateDir, 'search', 'titles.json'), '{"format":1,');
  await svc.start();
  await eventually(async () => expect(await found(root, 'phoenix')).toEqual(['a#1']));
  await svc.kill();
  rmSync(join(svc.stateDir, 'search'), { recursive: true });
  await svc.start();
  await eventually(async () => expect(await found(root, 'phoenix')).toEqual(['a#1']));
  expect(existsSync(index(svc))).toBe(true);
});

test('damage that a search comes upon is told, and mended by the next start', async () => {
  const rows = Array.from({ length: 2_000 }, (_, n) => `item${n}`);
  const [svc, root] = await start({ 'a.csv': `w\n${rows.join('\n')}\n` });
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'item1999')).toEqual(['a#2000']));
  await svc.kill();
  const bytes = readFileSync(index(svc));
  writeFileSync(index(svc), bytes.fill(0xff, bytes.length / 2));
  for (const end of ['-wal', '-shm']) rmSync(index(svc) + end, { force: true });
  await svc.start();
  const answer = await root.fetch('/search?q=item1999');
  expect([answer.status, await answer.text()]).toEqual([
    503,
    '{"detail":"The search index is damaged"}',
  ]);
  await eventually(async () => expect(svc.stderr()).toContain('the next start builds it again'));
  await svc.restart();
  await eventually(async () => expect(await found(root, 'item1999')).toEqual(['a#2000']));
});

test('rows past search.max_rows are left out, with a notice', async () => {
  const rows = Array.from({ length: 30 }, (_, n) => `item${n}`);
  const [svc, root] = await start(
    { 'long.csv': `w\n${rows.join('\n')}\n` },
    { search: { max_rows: 10 } },
  );
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'item9')).toEqual(['long#10']));
  expect(await found(root, 'item10')).toEqual([]);
  await soon(() => svc.stderr()).toContain('rows past search.max_rows are not searched');
  const page = await root.fetch('/search?q=item', { headers: { Accept: 'text/html' } });
  expect(await page.text()).toContain('long: 20 rows are not searched');
  expect((await searched(root, 'item', { limit: '100' })).count).toBe(10);
});

test('every worksheet is searched, and a change of one leaves the others as they are', async () => {
  const { utils, write } = await import('xlsx');
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([['part'], ['bolt']]), 'Stock');
  utils.book_append_sheet(book, utils.aoa_to_sheet([['tool'], ['wrench']]), 'Tools');
  await using svc = await startService({
    files: { 'inv.xlsx': write(book, { type: 'buffer', bookType: 'xlsx' }) },
  });
  await svc.createSuperuser('root');
  const root = await svc.as('root');
  await eventually(async () => {
    expect(await found(root, 'bolt')).toEqual(['inv/Stock#1']);
    expect(await found(root, 'wrench')).toEqual(['inv/Tools#1']);
  });
  await change(root, '/api/inv/Stock/', 'PATCH', {
    action: 'update',
    data: { _row_id: 1, part: 'rivet' },
  });
  expect(await found(root, 'rivet')).toEqual(['inv/Stock#1']);
  expect(await found(root, 'wrench')).toEqual(['inv/Tools#1']);
  const { stdout } = await svc.command(['reindex', svc.docroot]);
  expect(stdout).toContain('skipped 2');
});

test('a start after which nothing is new starts no index worker, and everything is found', async () => {
  const [svc, root] = await start({ 'fruit.csv': 'name\napple\n', 'tree.md': '# Maple\n' });
  await using _ = svc;
  await eventually(async () => expect(await found(root, 'apple')).toEqual(['fruit#1']));
  await eventually(() =>
    expect(existsSync(join(svc.stateDir, 'search', 'titles.json'))).toBe(true),
  );
  await svc.kill('SIGTERM');
  await svc.start();
  expect(await found(root, 'apple')).toEqual(['fruit#1']);
  expect(await found(root, 'maple')).toEqual(['tree']);
  const workers = childrenOf(svc.pid).filter(({ command }) => / index \S+$/.test(command));
  expect(workers).toEqual([]);
  await change(root, '/api/fruit/', 'POST', {
    action: 'create',
    data: [{ name: 'cherry' }],
  });
  expect(await found(root, 'cherry')).toEqual(['fruit#2']);
});

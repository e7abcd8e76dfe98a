/** Companions through the API, the page and the command line (DS-228): who may, what is refused, what is left behind. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { run as command } from '../support/program.ts';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { book } from './sheets.ts';

const files = {
  'one.csv': Buffer.from('name;n\nCaf\xe9;1\nx;2\n', 'latin1'),
  'other.csv': Buffer.from('name;n\nCaf\xe9;1\nx;2\n', 'latin1'),
  'plain.csv': 'a,b\n007,2\n',
  'single.csv': 'a:b\n1:2\n',
  'deep/er/x.csv': 'Title\na\tb\n1\t2\n',
  'book.xlsx': await book({ A1: 'Notes', C3: 'a', D3: 'b', C4: 1, D4: 2 }),
  'page.md': '# Page\n',
};

let svc: Service;
let anna: Client;
let reader: Client;
let writer: Client;
let nobody: Client;

beforeAll(async () => {
  svc = await startService({ files });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.grant('anna', '*', 'read', 'write');
  await svc.accounts.grant('reader', '*', 'read');
  await svc.accounts.grant('writer', 'one', 'write');
  await svc.accounts.user('nobody');
  [anna, reader, writer, nobody] = (await Promise.all(
    ['anna', 'reader', 'writer', 'nobody'].map((name) => svc.as(name)),
  )) as [Client, Client, Client, Client];
});
afterAll(() => svc[Symbol.asyncDispose]());

const at = (name: string) => `/_svc/companions/${name}`;
const put = (client: Client, name: string, body: unknown, headers: Record<string, string> = {}) =>
  client.fetch(at(name), { method: 'PUT', body: JSON.stringify(body), headers });
const rows = async (name: string) => (await anna.fetch(`/api/${name}/`)).json();
const file = (name: string) => join(svc.docroot, '.svc', name);
const html = { Accept: 'text/html' };

describe('who may', () => {
  test.each([
    ['anonymous', () => svc as Client, 401, 401],
    ['without a right', () => nobody, 403, 403],
    ['who only reads', () => reader, 200, 403],
    ['who only writes', () => writer, 403, 200],
    ['who reads and writes', () => anna, 200, 200],
  ])('%s', async (_, client, get, change) => {
    expect((await client().fetch(at('one'))).status).toBe(get);
    expect((await put(client(), 'one', {})).status).toBe(change);
    expect((await client().fetch(at('one'), { method: 'DELETE' })).status).toBe(
      change === 200 ? 204 : change,
    );
  });

  test('nobody learns what exists', async () => {
    expect((await nobody.fetch(at('no-such'))).status).toBe(403);
    expect((await anna.fetch(at('no-such'))).status).toBe(404);
    expect((await anna.fetch(at('page'))).status).toBe(404);
    expect((await anna.fetch(at('one'), { method: 'POST' })).status).toBe(405);
  });
});

describe('a change', () => {
  test('is in the file, the rows and the audit', async () => {
    const response = await put(anna, 'one', { options: { encoding: 'windows-1252' } });
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: { options: { encoding: 'windows-1252' }, schema: null, problem: null },
    });
    expect(readFileSync(file('one.csv.options.json'), 'utf8')).toBe(
      '{\n  "encoding": "windows-1252"\n}\n',
    );
    expect(await rows('one')).toMatchObject([{ name: 'Café' }, { name: 'x' }]);
    const audit = await (await svc.as('root')).fetch('/admin/audit-logs?limit=1');
    expect(await audit.json()).toMatchObject([
      { action: 'update_companion', resource: 'one.csv', details: 'Updated companion options' },
    ]);
  });

  test('of one leaves the other; null deletes; big numbers keep their digits', async () => {
    const schema = '{"columns":{"a":{"type":"string"}},"x":12345678901234567890}';
    await anna.fetch(at('plain'), { method: 'PUT', body: `{"schema":${schema}}` });
    expect((await anna.fetch('/schema/plain/')).text()).resolves.toContain('12345678901234567890');
    await put(anna, 'plain', { options: { delimiter: ',' } });
    expect(await rows('plain')).toEqual([{ _row_id: 1, a: '007', b: 2 }]);
    const left = await (await put(anna, 'plain', { options: null })).json();
    expect(left).toMatchObject({ options: null, schema: { columns: {} } });
    expect(existsSync(file('plain.csv.options.json'))).toBe(false);
    expect((await anna.fetch(at('plain'), { method: 'DELETE' })).status).toBe(204);
    expect(existsSync(file('plain.csv.schema.json'))).toBe(false);
  });

  test('goes to folders that are not there, and to sheets', async () => {
    await put(anna, 'deep/er/x', { options: { header_row: 2, delimiter: '\t' } });
    expect(existsSync(file('deep/er/x.csv.options.json'))).toBe(true);
    expect(await rows('deep/er/x')).toEqual([{ _row_id: 1, a: 1, b: 2 }]);
    await put(anna, 'book/Sheet', { options: { range: 'C3:D4' } });
    expect(existsSync(file('book.xlsx.Sheet.options.json'))).toBe(true);
    expect(await rows('book/Sheet')).toEqual([{ _row_id: 1, a: 1, b: 2 }]);
  });

  test('is refused when they changed since', async () => {
    const version = (await anna.fetch(at('plain'))).headers.get('ETag')!;
    const first = await put(
      anna,
      'plain',
      { options: { delimiter: ',' } },
      { 'If-Match': version },
    );
    expect(first.status).toBe(200);
    const late = await put(anna, 'plain', { options: null }, { 'If-Match': version });
    expect({ status: late.status, body: await late.json() }).toEqual({
      status: 412,
      body: { detail: "Precondition failed: 'plain' has changed" },
    });
    expect(late.headers.get('ETag')).toBe(first.headers.get('ETag'));
    expect((await put(anna, 'plain', { options: null }, { 'If-Match': '*' })).status).toBe(200);
  });

  test.each([
    [{ options: { encodin: 'cp850' } }, ['body', 'options'], /did you mean 'encoding'/],
    [{ options: { encoding: 'klingon' } }, ['body', 'options'], /"encoding" must be/],
    [{ options: { range: 'A1' } }, ['body', 'options'], /Unknown option 'range'/],
    [{ options: [] }, ['body', 'options'], /object/],
    [{ schema: { columns: 5 } }, ['body', 'schema'], /"columns"/],
    [{ schema: { generated_by: 1, columns: {} } }, ['body', 'schema'], /generated_by/],
    [5, ['body'], /object/],
  ])('%j is refused', async (body, loc, msg) => {
    const response = await put(anna, 'plain', body);
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { loc: string[]; msg: string }[] };
    expect(detail).toMatchObject([{ loc, msg: expect.stringMatching(msg) }]);
    expect(existsSync(file('plain.csv.options.json'))).toBe(false);
  });

  test('with which the file could not be read at all is refused', async () => {
    const response = await put(anna, 'one', { options: { encoding: 'utf-8' } });
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 422,
      body: { detail: "Cannot read 'one.csv' with these options: invalid UTF-8 at byte offset 10" },
    });
  });

  test('never leaves the folder of companions', async () => {
    symlinkSync('/tmp', join(svc.docroot, '.svc', 'linked'));
    svc.write('linked/x.csv', 'a\n1\n');
    await Bun.sleep(1_200);
    expect((await put(anna, 'linked/x', { options: { delimiter: ',' } })).status).toBe(403);
    expect(existsSync('/tmp/x.csv.options.json')).toBe(false);
  });
});

describe('the page', () => {
  const layout = (name: string, query = '') => `/ui/${name}/?layout=1${query}`;
  const send = (client: Client, name: string, fields: Record<string, string>) =>
    client.fetch(layout(name), {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: html,
      redirect: 'manual',
    });
  const versionIn = (page: string) => /name="version" value="([^"]+)"/.exec(page)![1]!;

  test('stands in place of the rows of a broken file, for those who may', async () => {
    const mine = await anna.fetch('/ui/other/', { headers: html });
    expect(mine.status).toBe(422);
    const page = await mine.text();
    expect(page).toContain('How other.csv is read');
    expect(page).toContain('Caf\ufffd;1');
    const theirs = await reader.fetch('/ui/other/', { headers: html });
    expect(theirs.status).toBe(422);
    expect(await theirs.text()).toContain('This file cannot be read');
  });

  test('shows what other options make of it, and saves them with types', async () => {
    const page = await (
      await anna.fetch(layout('other', '&preview=1&encoding=cp850'), { headers: html })
    ).text();
    expect(page).toContain('CafÚ');
    const fields = { action: 'save', encoding: 'windows-1252', 'type:n': 'string' };
    const saved = await send(anna, 'other', { ...fields, version: versionIn(page) });
    expect({ status: saved.status, to: saved.headers.get('Location') }).toEqual({
      status: 303,
      to: '/ui/other/',
    });
    expect(await rows('other')).toEqual([
      { _row_id: 1, name: 'Café', n: '1' },
      { _row_id: 2, name: 'x', n: '2' },
    ]);
    expect(await (await anna.fetch('/schema/other/')).json()).toMatchObject({
      columns: { name: { type: 'string' }, n: { type: 'string' } },
    });
    const late = await send(anna, 'other', { action: 'delete', version: versionIn(page) });
    expect(late.status).toBe(412);
    const again = await (await anna.fetch(layout('other'), { headers: html })).text();
    expect(
      (await send(anna, 'other', { action: 'delete', version: versionIn(again) })).status,
    ).toBe(303);
    expect((await anna.fetch('/api/other/')).status).toBe(422);
  });

  test('is for nobody else, and linked for nobody else', async () => {
    expect((await reader.fetch(layout('single'), { headers: html })).status).toBe(403);
    expect((await send(reader, 'single', { action: 'save' })).status).toBe(403);
    const grid = async (client: Client) =>
      (await client.fetch('/ui/single/', { headers: html })).text();
    expect(await grid(anna)).toContain('This file reads as one column');
    expect(await grid(reader)).not.toContain('layout=1');
  });

  test('shows what types the options make of the columns', async () => {
    svc.write('money.csv', 'tag,summe\n05/01/2026,"1.000,5"\n04/02/2026,"2.000,25"\n');
    await eventually(async () => expect((await anna.fetch('/api/money/')).status).toBe(200));
    const types = async (query: string) => {
      const page = await (await anna.fetch(layout('money', query), { headers: html })).text();
      return [...page.matchAll(/<option value="" selected>as found: ([^<]+)</g)].map(
        (match) => match[1],
      );
    };
    expect(await types('')).toEqual(['text', 'number']);
    expect(await types('&date_order=dmy&decimal=.&thousands=none')).toEqual(['date', 'text']);
    const page = await (await anna.fetch(layout('money'), { headers: html })).text();
    const fields = { action: 'save', date_order: 'dmy', thousands: '.', decimal: ',' };
    const saved = await send(anna, 'money', { ...fields, version: versionIn(page) });
    expect(saved.status).toBe(303);
    expect(JSON.parse(readFileSync(file('money.csv.options.json'), 'utf8'))).toEqual({
      decimal: ',',
      thousands: '.',
      date_order: 'dmy',
    });
    expect(await rows('money')).toMatchObject([{ summe: 1000.5 }, { summe: 2000.25 }]);
  });

  test('of a worksheet shows its rows as they stand', async () => {
    const page = await (await anna.fetch(layout('book/Sheet'), { headers: html })).text();
    expect(page).toContain('Notes');
    expect(page).toContain('name="range"');
    expect(page).not.toContain('name="encoding"');
  });
});

test('the command line does the same, with an audit entry of its own', async () => {
  const run = (...args: string[]) => command(['companion', ...args]);
  const set = await run(
    'set',
    svc.docroot,
    'single',
    '--header-row',
    '1',
    '--schema',
    '{"columns":{"a:b":{"type":"string"}}}',
  );
  expect({ code: set.code, shown: JSON.parse(set.out) }).toEqual({
    code: 0,
    shown: {
      options: { header_row: 1 },
      schema: { columns: { 'a:b': { type: 'string' } } },
      problem: null,
    },
  });
  expect(JSON.parse((await run('show', svc.docroot, 'single')).out)).toEqual(JSON.parse(set.out));
  const wrong = await run('set', svc.docroot, 'single', '--encoding', 'klingon');
  expect(wrong.code).toBe(1);
  expect(wrong.err).toContain('"encoding" must be');
  expect((await run('set', svc.docroot, 'single')).code).toBe(2);
  expect((await run('show', svc.docroot, 'nothing')).code).toBe(1);
  expect(JSON.parse((await run('remove', svc.docroot, 'single')).out)).toMatchObject({
    schema: null,
  });
  const audit = await (await svc.as('root')).fetch('/admin/audit-logs?limit=1');
  expect(await audit.json()).toMatchObject([
    {
      user_id: null,
      action: 'delete_companion',
      details: 'Deleted companion options and schema (cli)',
    },
  ]);
});

test('in read-only mode nothing is changed or offered', async () => {
  await using still = await startService({ files, config: { readonly: true } });
  await still.accounts.grant('anna', '*', 'read', 'write');
  const client = await still.as('anna');
  expect((await put(client, 'one', { options: { encoding: 'cp850' } })).status).toBe(405);
  expect((await client.fetch('/ui/one/?layout=1', { headers: html })).status).toBe(404);
  expect(await (await client.fetch('/ui/one/', { headers: html })).text()).toContain(
    'This file cannot be read',
  );
});

/**
 * What every kind of file has in common (DS-23), asked of each of them: who may read it, how it is addressed, that it is
 * listed, found by its names, followed on the disk and never altered by being read.
 */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { utils, write } from 'xlsx';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { startService } from '../support/service.ts';
import type { Client, Service } from '../support/service.ts';
import { label, legacyFile } from '../plugins/legacy-workbook-files.ts';
import { eventually } from './eventually.ts';
import { hasPythonHandlers } from './handler-files.ts';

interface KindCase {
  readonly type: string;
  readonly extension: string;
  /** Sheet of the file, where a file holds several resources. */
  readonly sheet?: string;
  readonly content: string | Uint8Array;
  /** Another version of the file. */
  readonly other: string | Uint8Array;
  /** Address of a name. */
  readonly address: (name: string) => string;
  readonly contentType: RegExp;
  readonly isWritable?: boolean;
  /** What the answer must hold, of `content` and of `other`. */
  readonly words?: readonly [string, string];
  /** Its routes answer, not the file: no version to compare, and no part in what negotiation adds. */
  readonly isRouter?: boolean;
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function workbook(value: string, bookType: 'xlsx' | 'xlsm' = 'xlsx'): Uint8Array {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([['n'], [value]]), 'One');
  return write(book, { type: 'buffer', bookType }) as Uint8Array;
}

function database(value: string): Uint8Array {
  using db = new Database(':memory:');
  db.run('CREATE TABLE One (n TEXT)');
  db.run('INSERT INTO One VALUES (?)', [value]);
  return db.serialize();
}

function legacyWorkbook(value: string): Uint8Array {
  return legacyFile({ sheets: [{ name: 'One', records: [label(0, 0, 'n'), label(1, 0, value)] }] });
}

const script = (value: string): string =>
  `import { Elysia } from 'elysia';\nexport const router = new Elysia().get('/', () => '${value}');\n`;

const python = (value: string): string => `
from fastapi import APIRouter
router = APIRouter()

@router.get("/")
def root():
    return "${value}"
`;

function parquet(value: string): Uint8Array {
  return new Uint8Array(
    parquetWriteBuffer({ columnData: [{ name: 'n', data: [value], type: 'STRING' }] }),
  );
}

const api = (name: string): string => `/api/${name}/`;
const bare = (name: string): string => `/${name}`;
const media = (name: string): string => `/media/${name}`;
const JSON_TYPE = /^application\/json$/;

function fileCase(
  type: string,
  extension: string,
  contentType: RegExp,
  address = bare,
  content: string | Uint8Array = 'first',
): KindCase {
  return { type, extension, contentType, address, content, other: 'second, longer' };
}

/** A dataset whose only column `n` holds one value. */
function tableCase(
  type: string,
  extension: string,
  content: (value: string) => string | Uint8Array,
  isWritable = true,
): KindCase {
  return {
    type,
    extension,
    content: content('first'),
    other: content('second'),
    address: api,
    contentType: JSON_TYPE,
    isWritable,
    words: ['first', 'second'],
  };
}

function handlerCase(extension: string, program: (value: string) => string): KindCase {
  return {
    type: 'handler',
    extension,
    content: program('first'),
    other: program('second'),
    address: api,
    contentType: /^(text\/plain;charset=utf-8|application\/json)$/,
    words: ['first', 'second'],
    isRouter: true,
  };
}

const cases: readonly KindCase[] = [
  {
    type: 'csv',
    extension: '.csv',
    content: 'n\nfirst\n',
    other: 'n\nsecond\n',
    address: api,
    contentType: JSON_TYPE,
    isWritable: true,
    words: ['first', 'second'],
  },
  ...['.tsv', '.psv'].map((extension) => tableCase('csv', extension, (value) => `n\n${value}\n`)),
  { ...tableCase('sqlite', '.db', database, false), sheet: 'One' },
  tableCase('csv', '.csv.gz', (value) => gzipSync(`n\n${value}\n`), false),
  tableCase('json', '.jsonl.zst', (value) => zstdCompressSync(`{"n":"${value}"}\n`), false),
  ...['.ndjson', '.jsonl'].map((extension) =>
    tableCase('json', extension, (value) => `{"n":"${value}"}\n`),
  ),
  {
    type: 'excel',
    extension: '.xlsx',
    sheet: 'One',
    content: workbook('first'),
    other: workbook('second'),
    address: api,
    contentType: JSON_TYPE,
    isWritable: true,
    words: ['first', 'second'],
  },
  {
    type: 'excel',
    extension: '.xlsm',
    sheet: 'One',
    content: workbook('first', 'xlsm'),
    other: workbook('second', 'xlsm'),
    address: api,
    contentType: JSON_TYPE,
    isWritable: true,
    words: ['first', 'second'],
  },
  {
    type: 'excel',
    extension: '.xls',
    sheet: 'One',
    content: legacyWorkbook('first'),
    other: legacyWorkbook('second'),
    address: api,
    contentType: JSON_TYPE,
    words: ['first', 'second'],
  },
  {
    type: 'parquet',
    extension: '.parquet',
    content: parquet('first'),
    other: parquet('second'),
    address: api,
    contentType: JSON_TYPE,
    isWritable: true,
    words: ['first', 'second'],
  },
  {
    type: 'html',
    extension: '.html',
    content: '<p>first</p>',
    other: '<p>second</p>',
    address: bare,
    contentType: /^text\/html; charset=utf-8$/,
    words: ['<p>first</p>', '<p>second</p>'],
  },
  {
    type: 'markdown',
    extension: '.md',
    content: '# first',
    other: '# second',
    address: bare,
    contentType: /^text\/html; charset=utf-8$/,
    words: ['<h1 id="first">first</h1>', '<h1 id="second">second</h1>'],
  },
  fileCase('file', '.txt', /^text\/plain; charset=utf-8$/),
  fileCase('file', '.json', JSON_TYPE, bare, '{"a":1}'),
  fileCase('file', '.xml', /^application\/xml$/, bare, '<a/>'),
  fileCase('file', '.pdf', /^application\/pdf$/),
  fileCase('file', '.svg', /^image\/svg\+xml$/, bare, '<svg xmlns="http://www.w3.org/2000/svg"/>'),
  fileCase('file', '.png', /^image\/png$/, bare, PNG),
  fileCase('file', '.jpg', /^image\/jpeg$/),
  fileCase('file', '.jpeg', /^image\/jpeg$/),
  fileCase('file', '.gif', /^image\/gif$/),
  fileCase('file', '.webp', /^image\/webp$/),
  fileCase('file', '.tif', /^image\/tiff$/),
  fileCase('file', '.heic', /^image\/heic$/),
  fileCase('media', '.mp4', /^video\/mp4$/, media),
  fileCase('media', '.avi', /^video\/x-msvideo$/, media),
  fileCase('media', '.mkv', /^video\/x-matroska$/, media),
  fileCase('media', '.webm', /^video\/webm$/, media),
  fileCase('media', '.mp3', /^audio\/mpeg$/, media),
  fileCase('media', '.ogg', /^audio\/ogg$/, media),
  fileCase('media', '.wav', /^audio\/wav$/, media),
  handlerCase('.ts', script),
  handlerCase('.js', script),
  handlerCase('.mjs', script),
  ...(hasPythonHandlers() ? [handlerCase('.py', python)] : []),
];

const HOSTILE_STEMS = ['ünï códe', `"quo'te<b>&amp`, '100% {x}*?', 'b#c;d=e', '日本語'];
const stemsOf = ({ isRouter }: KindCase): readonly string[] =>
  // The runtime cannot load a module whose path has a question mark.
  isRouter === true ? HOSTILE_STEMS.map((stem) => stem.replace('?', '')) : HOSTILE_STEMS;

const kindName = ({ type, extension }: KindCase): string => `${type} (${extension.slice(1)})`;
const fileOf = ({ extension }: KindCase, stem: string): string => `${stem}${extension}`;
const nameOf = ({ sheet }: KindCase, name: string): string =>
  sheet === undefined ? name : `${name}/${sheet}`;
const encoded = (name: string): string => name.split('/').map(encodeURIComponent).join('/');

let service: Service;
let reader: Client;
let stranger: Client;
let superuser: Client;

beforeAll(async () => {
  const files: Record<string, string | Uint8Array> = {};
  for (const one of cases) {
    const folder = one.extension.slice(1);
    files[`${folder}/${fileOf(one, 'plain')}`] = one.content;
    files[`${folder}/${fileOf(one, 'changing')}`] = one.content;
    files[`${folder}/.hidden/${fileOf(one, 'in')}`] = one.content;
    files[`${folder}/${fileOf(one, '~$open')}`] = one.content;
    for (const stem of stemsOf(one)) files[`${folder}/${fileOf(one, stem)}`] = one.content;
  }
  service = await startService({ files });
  const { accounts } = service;
  await accounts.user('root', { superuser: true });
  await accounts.user('stranger');
  await accounts.grant('reader', '*', 'read');
  await accounts.grant('writer', '*', 'write');
  [reader, stranger, superuser] = await Promise.all([
    service.as('reader'),
    service.as('stranger'),
    service.as('root'),
  ]);
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

describe.each(cases.map((one) => [kindName(one), one] as const))('%s', (_, one) => {
  const folder = one.extension.slice(1);
  const rel = `${folder}/${fileOf(one, 'plain')}`;
  const canonical = nameOf(one, `${folder}/plain`);
  const address = one.address(encoded(canonical));
  const longAddress = one.address(encoded(nameOf(one, rel)));

  test('answers those who may read it, by both of its names and with a slash (DS-4, DS-25)', async () => {
    const bodies: string[] = [];
    for (const path of [address, longAddress, address.replace(/\/?$/, '/')]) {
      for (const client of [reader, superuser]) {
        const response = await answering(client, path);
        expect(response.headers.get('content-type')).toMatch(one.contentType);
        const text = await response.text();
        if (one.words !== undefined) expect(text).toContain(one.words[0]);
        if (client === reader) bodies.push(one.type === 'markdown' ? one.type : text);
      }
    }
    expect(new Set(bodies).size).toBe(1);
  });

  test('refuses everybody else before it says whether it exists (DS-12, DS-130)', async () => {
    const absent = one.address(encoded(nameOf(one, `${folder}/absent`)));
    for (const path of [address, absent]) {
      expect((await service.fetch(path)).status).toBe(401);
      const page = await service.fetch(path, { headers: { Accept: 'text/html' } });
      expect(page.status).toBe(302);
      expect(page.headers.get('location')).toBe(`/auth/login?next=${path}`);
      expect((await stranger.fetch(path)).status).toBe(403);
    }
    expect(await (await stranger.fetch(address)).json()).toEqual({
      detail: `Permission denied: read on ${canonical}`,
    });
    expect((await reader.fetch(absent)).status).toBe(404);
  });

  test('HEAD says what GET says, without a body (DS-6)', async () => {
    const [get, head] = [
      await reader.fetch(address),
      await reader.fetch(address, { method: 'HEAD' }),
    ];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of ['content-type', 'etag', 'vary', 'cache-control', 'last-modified']) {
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
    }
    expect(get.headers.get('cache-control')).toBe('private, no-cache');
    if (one.isRouter !== true) expect(get.headers.get('vary')).toBe('Accept, Accept-Encoding');
  });

  test('OPTIONS tells the methods, and only those who may read it (DS-6, DS-7)', async () => {
    const options = await reader.fetch(address, { method: 'OPTIONS' });
    expect(options.status).toBe(204);
    const allowed =
      one.isWritable === true ? 'GET, HEAD, OPTIONS, POST, PATCH, DELETE' : 'GET, HEAD, OPTIONS';
    expect(options.headers.get('allow')).toBe(allowed);
    expect((await stranger.fetch(address, { method: 'OPTIONS' })).status).toBe(403);
    expect((await service.fetch(address, { method: 'OPTIONS' })).status).toBe(401);
  });

  const testVersions = one.isRouter === true ? () => {} : test;
  testVersions('a known version is 304, by tag (DS-46, DS-157, DS-160)', async () => {
    const plain = { 'Accept-Encoding': 'identity' };
    const first = await reader.fetch(address, { headers: plain });
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const header of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await reader.fetch(address, {
        headers: { ...plain, 'If-None-Match': header },
      });
      expect([header, again.status, await again.text()]).toEqual([header, 304, '']);
      expect(again.headers.get('etag')).toBe(etag);
    }
    const other = await reader.fetch(address, { headers: { 'If-None-Match': '"other"' } });
    expect(other.status).toBe(200);
  });

  test('what cannot be written is 405 for those who may write, 403 for others (DS-7, DS-8)', async () => {
    const writer = await service.as('writer');
    for (const method of one.isWritable === true ? ['PUT'] : ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await writer.fetch(address, { method, body: '{}' });
      expect([method, response.status]).toEqual([method, 405]);
      expect(response.headers.get('allow')).toStartWith('GET, HEAD, OPTIONS');
      const denied = await reader.fetch(address, { method, body: '{}' });
      expect([method, denied.status]).toEqual([method, 403]);
    }
  });

  test('is listed for those who may read it, on the start page with its link (DS-182, DS-183)', async () => {
    const listed = (await (await reader.fetch('/')).json()) as { resources: string[] };
    expect(listed.resources).toContain(rel);
    expect(((await (await stranger.fetch('/')).json()) as typeof listed).resources).toEqual([]);
    const page = await (await reader.fetch('/', { headers: { Accept: 'text/html' } })).text();
    const shown = pageOf(one, canonical);
    const links = [...page.matchAll(/href="([^"]*)"/g)].map((match) =>
      match[1]!.replace(/\/$/, ''),
    );
    expect(links).toContain(shown.replace(/\/$/, ''));
    const opened = await reader.fetch(shown, { headers: { Accept: 'text/html' } });
    expect(opened.status).toBe(200);
  });

  test('hidden names answer as names that do not exist (DS-24)', async () => {
    for (const hidden of [`${folder}/.hidden/in`, `${folder}/~$open`]) {
      for (const name of [hidden, `${hidden}${one.extension}`]) {
        const response = await reader.fetch(one.address(encoded(nameOf(one, name))));
        expect([name, response.status]).toEqual([name, 404]);
      }
    }
  });

  test('any name is an address and plain text in headers and pages (DS-31, DS-184)', async () => {
    const page = await reader.fetch('/', { headers: { Accept: 'text/html' } });
    expect(boldElements(await page.text())).toBe(0);
    for (const stem of stemsOf(one)) {
      const name = nameOf(one, `${folder}/${stem}`);
      const response = await answering(reader, one.address(encoded(name)));
      const disposition = response.headers.get('content-disposition');
      if (disposition !== null) expect(disposition).toMatch(/^[\x20-\x7e]*$/);
      const shown = pageOf(one, name);
      const view = await reader.fetch(shown, { headers: { Accept: 'text/html' } });
      expect([name, view.status]).toEqual([name, 200]);
      expect(boldElements(await view.text())).toBe(0);
    }
  });

  test('reading leaves the file as it is', async () => {
    const path = join(service.docroot, rel);
    const before = [digest(path), statSync(path).mtimeMs, statSync(path).ino];
    for (const query of ['', '?download=true', '?metadata=1', '?format=csv', '?raw=true']) {
      await (await reader.fetch(address + query)).arrayBuffer();
    }
    expect([digest(path), statSync(path).mtimeMs, statSync(path).ino]).toEqual(before);
  });

  test('a replaced, rewritten, deleted and recreated file is followed (DS-33)', async () => {
    const file = `${folder}/${fileOf(one, 'changing')}`;
    const path = join(service.docroot, file);
    const at = one.address(encoded(nameOf(one, `${folder}/changing`)));
    /** The first answer with the status that is about another version than `known`. */
    const become = (status: number, word = '', known: string | null = null) =>
      eventually(async () => {
        const response = await reader.fetch(at);
        const etag = response.headers.get('etag');
        expect({ status: response.status, text: await response.text() }).toEqual({
          status,
          text: expect.stringContaining(word),
        });
        expect(etag).not.toBe(known ?? '');
        return etag;
      }, 20_000);
    const [first = '', second = ''] = one.words ?? [];
    const begun = await become(200, first);
    service.write(`${file}.next`, one.other);
    renameSync(`${path}.next`, path);
    const replaced = await become(200, second, begun);
    service.write(file, one.content);
    await become(200, first, replaced);
    rmSync(path);
    await become(404);
    service.write(file, one.other);
    await become(200, second);
  });
});

test('a handler whose path has a question mark says why it cannot be loaded (DS-171)', async () => {
  service.write('asked?.ts', script('first'));
  await eventually(async () => {
    const answer = await superuser.fetch('/api/asked%3F/');
    expect(await answer.json()).toEqual({
      detail: "Handler unavailable: a module whose path has a '?' cannot be loaded",
    });
  });
});

/** The page that shows a resource of this name. */
function pageOf({ address, isRouter }: KindCase, name: string): string {
  if (isRouter === true) return api(encoded(name));
  return address === bare ? `/${encoded(name)}` : `/ui/${encoded(name)}`;
}

/** The answer with status 200, for which a router that is only now being loaded is waited for. */
function answering(client: Client, path: string): Promise<Response> {
  return eventually(async () => {
    const response = await client.fetch(path);
    expect([path, response.status]).toEqual([path, 200]);
    return response;
  }, 20_000);
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** What a name with markup in it would make. */
function boldElements(page: string): number {
  let found = 0;
  new HTMLRewriter().on('b', { element: () => void (found += 1) }).transform(page);
  return found;
}

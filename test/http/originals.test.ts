/** The file behind a dataset or media, by its own name: bytes, length, ranges, rights (DS-26, DS-157, DS-161). */
import { beforeAll, describe, expect, test } from 'bun:test';
import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as XLSX from 'xlsx';
import type { Client } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { sharedService } from './shared-service.ts';

const CSV = `name,price\r\n${Array.from({ length: 500 }, (_, i) => `"item ${i}",${i}.50`).join('\r\n')}\r\n`;

function workbook(): Buffer {
  const book = XLSX.utils.book_new();
  for (const name of ['Stock', 'Costs'])
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet([['a'], [name]]), name);
  return XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
}

const shared = sharedService({
  files: {
    'sales.csv': CSV,
    'broken.csv': 'a\n"open',
    'both.csv': 'x\n1\n',
    'both.csv.md': '# page',
    'media/clip.mp4': 'not really a film',
    'media/list.csv': 'y\n2\n',
    'run.py': 'SECRET = 1\n',
  },
});

let sheetReader: Client;
let bookReader: Client;
let nobody: Client;
beforeAll(async () => {
  const { service } = shared;
  writeFileSync(join(service.docroot, 'Bericht März.xlsx'), workbook());
  await service.accounts.grant('sheet-reader', 'Bericht März/Stock', 'read');
  await service.accounts.grant('sheet-reader', 'Bericht März/Costs', 'read');
  await service.accounts.grant('book-reader', 'Bericht März.xlsx/*', 'read');
  await service.accounts.grant('elsewhere', 'other', 'read');
  sheetReader = await service.as('sheet-reader');
  bookReader = await service.as('book-reader');
  nobody = await service.as('elsewhere');
  await eventually(async () => {
    const { status } = await shared.reader.fetch('/api/Bericht%20M%C3%A4rz/Stock/');
    expect(status).toBe(200);
  });
});

describe('an original', () => {
  test('is the bytes, with length, time and strong tag, also where compression is accepted', async () => {
    const answer = await shared.reader.fetch('/sales.csv', {
      headers: { 'Accept-Encoding': 'gzip' },
    });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(CSV);
    const { headers } = answer;
    expect(headers.get('content-encoding')).toBeNull();
    expect(headers.get('content-length')).toBe(String(CSV.length));
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('accept-ranges')).toBe('bytes');
    expect(headers.get('content-disposition')).toContain('inline');
    const { mtimeMs } = statSync(join(shared.service.docroot, 'sales.csv'));
    expect(Date.parse(headers.get('last-modified')!)).toBe(Math.floor(mtimeMs / 1000) * 1000);
    const etag = headers.get('etag')!;
    expect(etag).toMatch(/^"[^"]+"$/);
    const again = await shared.reader.fetch('/sales.csv', { headers: { 'If-None-Match': etag } });
    expect(again.status).toBe(304);
    const head = await shared.reader.fetch('/sales.csv', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
      200,
      String(CSV.length),
      etag,
    ]);
  });

  test('is sent in parts, and its tag changes with its bytes', async () => {
    const part = await shared.reader.fetch('/sales.csv', { headers: { Range: 'bytes=5-14' } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
      206,
      CSV.slice(5, 15),
      `bytes 5-14/${CSV.length}`,
    ]);
    const before = (await shared.reader.fetch('/media/list.csv')).headers.get('etag');
    writeFileSync(join(shared.service.docroot, 'media/list.csv'), 'y\n3\n');
    const after = await shared.reader.fetch('/media/list.csv');
    expect(await after.text()).toBe('y\n3\n');
    expect(after.headers.get('etag')).not.toBe(before);
  });

  test('of a broken file can be had, and of media as well', async () => {
    expect((await shared.reader.fetch('/api/broken/')).status).toBe(422);
    expect(await (await shared.reader.fetch('/broken.csv')).text()).toBe('a\n"open');
    const film = await shared.reader.fetch('/media/clip.mp4');
    expect([film.headers.get('content-type'), await film.text()]).toEqual([
      'video/mp4',
      'not really a film',
    ]);
  });

  test('comes before a page that has the name by leaving out its extension (DS-25)', async () => {
    expect(await (await shared.reader.fetch('/both.csv')).text()).toBe('x\n1\n');
    expect(await (await shared.reader.fetch('/both.csv.md')).text()).toContain('page');
  });

  test('takes the right to read it: of a workbook, to all its sheets, also those to come', async () => {
    const path = '/Bericht%20M%C3%A4rz.xlsx';
    const statuses = async (client: Client) => [
      (await client.fetch('/sales.csv')).status,
      (await client.fetch(path)).status,
    ];
    expect(await statuses(nobody)).toEqual([403, 403]);
    expect(await statuses(sheetReader)).toEqual([403, 403]);
    expect(await statuses(bookReader)).toEqual([403, 200]);
    expect(await statuses(shared.reader)).toEqual([200, 200]);
    expect(await statuses(shared.superuser)).toEqual([200, 200]);
    expect(await statuses(shared.service)).toEqual([401, 401]);
    const bytes = await (await bookReader.fetch(path)).arrayBuffer();
    expect(XLSX.read(bytes).SheetNames).toEqual(['Stock', 'Costs']);
  });

  test('is none of a handler, nor of what is no file', async () => {
    for (const path of ['/run.py', '/sales', '/media', '/absent.csv', '/sales.csv/x'])
      expect([path, (await shared.superuser.fetch(path)).status]).toEqual([path, 404]);
  });

  test('is only read', async () => {
    const answer = await shared.writer.fetch('/sales.csv', { method: 'PUT', body: 'x' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('is read in parts over HTTP by a program that wants one column of a Parquet file', async () => {
    const made = await shared.reader.fetch('/api/sales/?format=parquet');
    writeFileSync(join(shared.service.docroot, 'made.parquet'), await made.bytes());
    const key = await shared.service.accounts.apiKey('reader');
    await eventually(async () =>
      expect((await shared.reader.fetch('/made.parquet')).status).toBe(200),
    );
    const file = await asyncBufferFromUrl({
      url: `${shared.service.url}/made.parquet`,
      requestInit: { headers: { 'X-API-Key': key } },
    });
    const rows = await parquetReadObjects({ file, columns: ['price'], compressors: {} });
    expect(rows.reduce((sum, { price }) => sum + Number(price), 0)).toBe(125_000);
  });
});

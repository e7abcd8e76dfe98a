/** Exports of up to 64 MiB have a length and byte ranges; larger ones are sent as they are made (DS-39, DS-44, DS-161). */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet';
import { sharedService } from './shared-service.ts';

const ROWS = 40_000;
const line = (i: number): string => `${i},"name ${i % 97}",${i / 4}`;
const file = (rows: number): string =>
  `id,name,price\n${Array.from({ length: rows }, (_, i) => line(i)).join('\n')}\n`;

const shared = sharedService({
  files: { 'small.csv': file(20), 'large.csv': file(ROWS), 'empty.csv': 'a,b\n' },
});

const PLAIN = { 'Accept-Encoding': 'identity' };
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  shared.reader.fetch(path, { method, headers: { ...PLAIN, ...headers } });

describe('an export', () => {
  for (const name of ['small', 'large', 'empty']) {
    for (const format of ['csv', 'ndjson', 'xlsx', 'parquet']) {
      test(`of the ${name} file as ${format} has a length, and its parts are those of the whole`, async () => {
        const path = `/api/${name}/?format=${format}`;
        const whole = await get(path);
        expect(whole.status).toBe(200);
        const bytes = await whole.bytes();
        expect(whole.headers.get('content-length')).toBe(String(bytes.length));
        expect(whole.headers.get('accept-ranges')).toBe('bytes');
        const etag = whole.headers.get('etag')!;
        const head = await get(path, {}, 'HEAD');
        for (const header of [
          'content-length',
          'etag',
          'x-total-count',
          'content-type',
          'content-disposition',
        ])
          expect([header, head.headers.get(header)]).toEqual([header, whole.headers.get(header)]);
        if (bytes.length === 0) return;
        const last = await get(path, { Range: 'bytes=-7' });
        expect([last.status, await last.bytes()]).toEqual([206, bytes.subarray(-7)]);
        const middle = bytes.length >> 1;
        const rest = await get(path, { Range: `bytes=${middle}-`, 'If-Range': etag });
        expect([rest.status, Bun.hash(await rest.bytes())]).toEqual([
          206,
          Bun.hash(bytes.subarray(middle)),
        ]);
        const other = await get(path, { Range: 'bytes=0-0', 'If-Range': '"another"' });
        expect([other.status, Bun.hash(await other.bytes())]).toEqual([200, Bun.hash(bytes)]);
        const past = await get(path, { Range: `bytes=${bytes.length}-` });
        expect([past.status, past.headers.get('content-range')]).toEqual([
          416,
          `bytes */${bytes.length}`,
        ]);
        expect((await get(path, { 'If-None-Match': etag })).status).toBe(304);
      });
    }
  }

  test('is another one after each change of its file', async () => {
    const path = '/api/changing/?format=csv';
    const at = join(shared.service.docroot, 'changing.csv');
    for (let round = 0; round < 5; round++) {
      writeFileSync(at, file(round + 1));
      let text = await (await get(path)).text();
      for (let tries = 0; tries < 100 && text.startsWith('{'); tries++) {
        await Bun.sleep(20);
        text = await (await get(path)).text();
      }
      expect(text.split('\n')).toHaveLength(round + 3);
    }
  });

  test('that many ask for at once is the same for all', async () => {
    const path = '/api/large/?format=csv&sort=-id';
    const all = await Promise.all(
      Array.from({ length: 20 }, async () => Bun.hash(await (await get(path)).bytes())),
    );
    expect(new Set(all).size).toBe(1);
  });

  test('is compressed where the client takes it, and then has no ranges', async () => {
    const answer = await get('/api/large/?format=csv', { 'Accept-Encoding': 'gzip' });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(answer.headers.get('accept-ranges')).toBeNull();
    const text = await answer.text();
    expect(text.split('\n')).toHaveLength(ROWS + 2);
  });

  test('is not for who may not read, kept or not', async () => {
    await shared.service.accounts.grant('elsewhere', 'other', 'read');
    const stranger = await shared.service.as('elsewhere');
    await (await get('/api/large/?format=parquet')).bytes();
    const answer = await stranger.fetch('/api/large/?format=parquet', {
      headers: { Range: 'bytes=-8' },
    });
    expect(answer.status).toBe(403);
  });

  test('as Parquet is read in parts over HTTP', async () => {
    const key = await shared.service.accounts.apiKey('reader');
    const made = await asyncBufferFromUrl({
      url: `${shared.service.url}/api/large/?format=parquet`,
      requestInit: { headers: { 'X-API-Key': key } },
    });
    const rows = await parquetReadObjects({
      file: made,
      columns: ['id'],
      rowStart: ROWS - 2,
      rowEnd: ROWS,
    });
    expect(rows.map(({ id }) => Number(id))).toEqual([ROWS - 2, ROWS - 1]);
  });
});

describe('an export for which there is no room', () => {
  const cramped = sharedService({
    files: { 'large.csv': file(ROWS) },
    config: { limits: { spool_bytes: 600_000 } },
  });
  const ask = (headers: Record<string, string> = {}, method = 'GET') =>
    cramped.reader.fetch('/api/large/?format=csv', { method, headers: { ...PLAIN, ...headers } });

  test('is sent as it is made, whole, without length and parts', async () => {
    for (const headers of [{}, { Range: 'bytes=0-9' }] as Record<string, string>[]) {
      const answer = await ask(headers);
      expect([answer.status, answer.headers.get('accept-ranges')]).toEqual([200, null]);
      expect(answer.headers.get('content-length')).toBeNull();
      // The format is that of the file.
      const text = await answer.text();
      expect(Bun.hash(text.replaceAll('"', ''))).toBe(Bun.hash(file(ROWS).replaceAll('"', '')));
    }
    const head = await ask({}, 'HEAD');
    expect([head.status, head.headers.get('x-total-count')]).toEqual([200, String(ROWS)]);
  });

  test('gives its room back, whether it is read, given up or many at once', async () => {
    const give = async (): Promise<void> => {
      const answer = await ask();
      await answer.body!.cancel();
    };
    await Promise.all(Array.from({ length: 20 }, give));
    const all = await Promise.all(Array.from({ length: 8 }, async () => (await ask()).text()));
    expect(new Set(all.map((text) => text.length)).size).toBe(1);
    // What is kept makes room for what is asked for later: each of these fits, two do not.
    for (let limit = 9_990; limit < 10_000; limit++) {
      const one = await cramped.reader.fetch(`/api/large/?format=csv&limit=${limit}`, {
        headers: PLAIN,
      });
      expect([limit, one.headers.get('content-length')]).toEqual([
        limit,
        String((await one.bytes()).length),
      ]);
    }
    const small = await cramped.reader.fetch('/api/large/?format=csv&limit=5000', {
      headers: PLAIN,
    });
    expect(small.headers.get('content-length')).toBe(String((await small.bytes()).length));
  });
});

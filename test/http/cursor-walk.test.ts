/**
 * Walking a list page by page (DS-41): every row once, whatever is written elsewhere meanwhile.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Client } from '../support/service.ts';
import { address, columnOf, get, idsOf, list, listNoticed, walk } from './listing.ts';
import type { JsonRow, Query } from './listing.ts';
import { seeded } from './seed.ts';
import { sharedService } from './shared-service.ts';

const LONG = 'x'.repeat(20_000);

const shared = sharedService({
  files: {
    'seven.csv': 'n,word\n3,c\n1,a\n2,b\n,\n3,a\n1,b\n2,\n',
    'other.csv': 'n,word\n3,c\n1,a\n2,b\n,\n3,a\n1,b\n2,\n',
    'folder/späte daten {1}.csv': 'n\n1\n2\n3\n',
    'long.csv': `n,text\n1,${LONG}b\n2,${LONG}a\n3,${LONG}\n4,${LONG}c\n5,${LONG}a\n6,short\n`,
    'floats.csv': 'x\n0.1\n0.30000000000000004\n0.3\n-0\n1e300\n5e-324\n9007199254740991\n',
    'signs.csv': 'x\n"💥"\n"\uffee"\n"z"\n"Z"\n"é"\n"e\u0301"\n""\n"\u200b"\n',
  },
});

async function walked(name: string, query: Query): Promise<JsonRow[]> {
  const pages = await walk(shared.reader, address(name, query));
  return pages.flatMap(({ rows }) => rows);
}

const write = (client: Client, name: string, method: string, body: object) =>
  client.fetch(`/api/${name}/`, { method, body: JSON.stringify(body) });

describe('the link to the next page', () => {
  test('holds the same path and parameters, without offset, with a cursor (DS-41)', async () => {
    const asked =
      '/api/seven/?limit=2&offset=1&sort=word,-n&filter=%7B%22n%22%3A%7B%22%24gt%22%3A0%7D%7D&columns=n&columns=word&q=&x=1';
    const { next } = await get(shared.reader, asked);
    const [path, search] = next!.split('?');
    expect(path).toBe('/api/seven/');
    const parameters = [...new URLSearchParams(search)].filter(([name]) => name !== 'cursor');
    expect(parameters).toEqual([
      ['limit', '2'],
      ['sort', 'word,-n'],
      ['filter', '{"n":{"$gt":0}}'],
      ['columns', 'n'],
      ['columns', 'word'],
      ['q', ''],
      ['x', '1'],
    ]);
    expect(new URLSearchParams(search).get('cursor')).toMatch(/^[\w.~-]+$/);
  });

  test('is there exactly when a limit leaves rows behind (DS-41)', async () => {
    const nextOf = async (query: Query) =>
      (await list(shared.reader, 'seven', query)).next !== null;
    expect(await nextOf({})).toBe(false);
    expect(await nextOf({ offset: 2 })).toBe(false);
    expect(await nextOf({ limit: 6 })).toBe(true);
    expect(await nextOf({ limit: 7 })).toBe(false);
    expect(await nextOf({ limit: 2, offset: 4 })).toBe(true);
    expect(await nextOf({ limit: 2, offset: 5 })).toBe(false);
    expect(await nextOf({ limit: 2, offset: 700 })).toBe(false);
    expect(await nextOf({ limit: 2, filter: { n: 3 } })).toBe(false);
    expect(await nextOf({ limit: 1, filter: { n: 3 } })).toBe(true);
    expect(await nextOf({ limit: 1, filter: { n: 99 } })).toBe(false);
  });

  test('is a valid reference whatever is in the name and the parameters (DS-31, DS-41)', async () => {
    const query = { limit: 1, q: '>\r\nSet-Cookie: a=b', x: '">;,é\u0000' };
    const { status } = await list(shared.reader, 'folder/späte daten {1}', query);
    expect(status).toBe(200);
    const found = await walked('folder/späte daten {1}', { limit: 1, x: '">;,é\r\n' });
    expect(columnOf(found, 'n')).toEqual([1, 2, 3]);
  });

  test('keeps the form of the name that was asked for (DS-25, DS-41)', async () => {
    for (const path of ['/api/seven', '/api/seven/', '/api/seven.csv', '/api/seve%6E.csv/']) {
      const { next } = await get(shared.reader, `${path}?limit=1`);
      expect(next).toStartWith(`${path}?`);
      expect(idsOf((await get(shared.reader, next!)).rows)).toEqual([2]);
    }
  });

  test('is written in every format (DS-41, DS-44)', async () => {
    for (const format of ['json', 'ndjson', 'csv']) {
      const pages = await walk(shared.reader, address('seven', { limit: 3, sort: 'n', format }));
      expect(pages.length).toBe(3);
    }
  });
});

describe('a walk', () => {
  const queries: Query[] = [
    {},
    { sort: 'n' },
    { sort: 'n', order: 'desc' },
    { sort: '-n' },
    { sort: 'word,-n' },
    { sort: '-word,_row_id' },
    { sort: '-_row_id' },
    { sort: 'n', filter: { word: { $ne: 'a' } } },
    { sort: 'word', q: 'a' },
    { offset: 2, sort: '-word' },
  ];
  test.each(queries)('%j gives each row of the list once, in its order (DS-41)', async (query) => {
    const all = await list(shared.reader, 'seven', query);
    for (const limit of [1, 2, 3, 100]) {
      expect(await walked('seven', { ...query, limit })).toEqual([...all.rows]);
    }
  });

  test('tells the same total on each page (DS-40)', async () => {
    const pages = await walk(
      shared.reader,
      address('seven', { limit: 2, filter: { n: { $gt: 1 } } }),
    );
    expect(pages.map(({ total }) => total)).toEqual([4, 4]);
  });

  test('may change limit, columns and format on its way (DS-41)', async () => {
    const { next } = await list(shared.reader, 'seven', { sort: 'n', limit: 3 });
    const rest = await list(shared.reader, 'seven', { sort: 'n' });
    const changed = next!.replace('limit=3', 'limit=4&columns=word');
    expect(idsOf((await get(shared.reader, changed)).rows)).toEqual(idsOf(rest.rows.slice(3)));
    const { text } = await get(shared.reader, `${next}&format=csv&columns=_row_id`);
    expect(text.trim().split('\n').slice(1).map(Number)).toEqual(
      idsOf(rest.rows.slice(3, 6)) as number[],
    );
  });

  test('gets past equal texts that are longer than a cursor may be (DS-41)', async () => {
    for (const sort of ['text', '-text', 'text,-n']) {
      const all = await list(shared.reader, 'long', { sort, columns: 'n' });
      expect(columnOf(await walked('long', { sort, columns: 'n', limit: 1 }), 'n')).toEqual(
        columnOf(all.rows, 'n'),
      );
    }
  });

  test.each(['floats', 'signs'])('loses nothing of the sort values of %s (DS-41)', async (name) => {
    for (const sort of ['x', '-x']) {
      const all = await list(shared.reader, name, { sort });
      expect(all.total).toBeGreaterThan(6);
      expect(await walked(name, { sort, limit: 1 })).toEqual([...all.rows]);
    }
  });
});

describe('a cursor of another list', () => {
  test.each([
    { filter: '{"n":{"$gt": 0}}' },
    { q: 'a' },
    { sort: 'word' },
    { sort: '-n' },
    { sort: 'n,word' },
    { sort: '' },
    { order: 'desc' },
  ])('is refused when the request says %j (DS-41)', async (change) => {
    const query = { sort: 'n', limit: 2, filter: { n: { $gt: 0 } } };
    const { next } = await list(shared.reader, 'seven', query);
    const cursor = new URLSearchParams(next!.split('?')[1]).get('cursor')!;
    const { status, detail } = await list(shared.reader, 'seven', { ...query, ...change, cursor });
    expect({ status, detail }).toEqual({ status: 422, detail: 'Invalid cursor' });
  });

  test('is refused when it comes from another file (B-Q)', async () => {
    const { next } = await list(shared.reader, 'seven', { limit: 2 });
    const { status } = await get(shared.reader, next!.replace('/seven/', '/other/'));
    expect(status).toBe(422);
  });

  test('is refused or harmless when its bytes were changed (S-Q1)', async () => {
    const { next } = await list(shared.reader, 'seven', { limit: 2, sort: 'word' });
    const cursor = new URLSearchParams(next!.split('?')[1]).get('cursor')!;
    const json = Buffer.from(cursor, 'base64url').toString();
    const forged = ['9', `'; DROP TABLE rows; --`, '{"a":1}', '1e999', '[]'].map((value) =>
      Buffer.from(json.replace(/"[^"]*"\]$/, `${value}]`)).toString('base64url'),
    );
    for (const value of [...forged, cursor.slice(1), cursor.slice(0, -2), `${cursor}AAAA`]) {
      const { status } = await list(shared.reader, 'seven', {
        limit: 2,
        sort: 'word',
        cursor: value,
      });
      expect([200, 422]).toContain(status);
    }
    expect((await list(shared.reader, 'seven')).total).toBe(7);
  });
});

describe('writes between the pages', () => {
  test('rows that nobody touched come once, in order, whatever is added, changed and deleted (DS-41)', async () => {
    const { service, writer } = shared;
    const cell = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(''));
    const change = fc.oneof(
      fc.record({
        action: fc.constant('create' as const),
        n: cell,
        w: fc.constantFrom('a', 'b', ''),
      }),
      fc.record({ action: fc.constant('update' as const), row: fc.nat(), n: cell }),
      fc.record({ action: fc.constant('delete' as const), row: fc.nat() }),
    );
    const scenario = fc.record({
      rows: fc.array(fc.tuple(cell, fc.constantFrom('a', 'b', 'c', '')), {
        minLength: 3,
        maxLength: 12,
      }),
      sort: fc.constantFrom('', 'n', '-n', 'w', '-w', 'n,-w', '-w,n', '-_row_id'),
      limit: fc.integer({ min: 1, max: 4 }),
      changes: fc.array(change, { minLength: 1, maxLength: 6 }),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ rows, sort, limit, changes }) => {
        const name = `walked${++run % 4}`;
        // The type of a column must not depend on what is changed.
        const lines = rows.map(([n, w]) => `${n},${w},k`);
        service.write(`${name}.csv`, `n,w,k\n0,t,k\n${lines.join('\n')}\n`);
        const before = await listNoticed(writer, name, { sort });
        const touched = new Set<unknown>();
        const pending = [...changes];
        const pages = await walk(writer, address(name, { sort, limit }), async () => {
          const next = pending.shift();
          if (next === undefined) return;
          if (next.action === 'create') {
            const answer = await write(writer, name, 'POST', {
              action: 'create',
              data: [{ n: next.n, w: next.w }],
            });
            const { row_ids } = (await answer.json()) as { row_ids: number[] };
            for (const id of row_ids) touched.add(id);
            return;
          }
          // The first row stays: without its values the columns would get other types.
          const ids = idsOf((await list(writer, name)).rows).filter((id) => id !== 1);
          if (ids.length < 2) return;
          const id = ids[next.row % ids.length];
          touched.add(id);
          const answer =
            next.action === 'delete'
              ? await write(writer, name, 'DELETE', { action: 'delete', data: { _row_id: id } })
              : await write(writer, name, 'PATCH', {
                  action: 'update',
                  data: { _row_id: id, n: next.n },
                });
          expect(answer.status).toBe(200);
        });
        const untouched = (listed: readonly JsonRow[]) =>
          idsOf(listed).filter((id) => !touched.has(id));
        expect(untouched(pages.flatMap((page) => page.rows))).toEqual(untouched(before.rows));
      }),
      seeded('writes between the pages', 40),
    );
  });

  test('an edit by another program leaves the walk usable (DS-41)', async () => {
    const { service, reader } = shared;
    service.write('edited.csv', 'n\n1\n2\n3\n4\n');
    const { next } = await listNoticed(reader, 'edited', { sort: 'n', limit: 2 });
    service.write('edited.csv', 'n\n5\n4\n3\n2\n1\n0\n');
    const rest = await get(reader, next!.replace('limit=2', 'limit=9'));
    expect(rest.status).toBe(200);
    expect(columnOf(rest.rows, 'n')).toEqual(expect.arrayContaining([3, 4, 5]));
    expect(columnOf(rest.rows, 'n')).not.toContain(1);
  });
});

/**
 * Lists of a table that is asked again and again are put together from kept rows; nobody can tell, but by the time (DS-35,
 * DS-39, DS-40, DS-41, DS-46).
 */
import { expect, test } from 'bun:test';
import { change } from './changes.ts';
import { get, list, type Query, walk } from './listing.ts';
import { sharedService } from './shared-service.ts';

const TEXTS = ['', 'a', 'é😀', '"q", "r"', 'back\\slash', 'two\nlines', '\u2028', '=1+1'];
const NUMBERS = ['', '0', '1.5', '1e21', '1e-7', '9007199254740991', '99.99', '-0.25', '7'];
const ROWS = 600;

const shared = sharedService({
  files: {
    'wild.csv': `7,__proto__,number,flag,day\n${Array.from({ length: ROWS }, (_, index) =>
      [
        `"${TEXTS[index % TEXTS.length]!.replaceAll('"', '""')}${index % 5}"`,
        index,
        NUMBERS[index % NUMBERS.length]!,
        ['true', 'FALSE', ''][index % 3]!,
        ['2024-02-29', '', '1999-12-31T23:59:59Z'][index % 3]!,
      ].join(','),
    ).join('\n')}\n`,
  },
});

/** More pages than are read before rows are kept, then every one of them again as others see it. */
const QUERIES: Query[] = [
  ...Array.from({ length: 20 }, (_, page) => ({ limit: 50, offset: page * 37 })),
  ...['', '_row_id', '-_row_id', 'number', '-__proto__'].map((sort) => ({ sort, limit: 100 })),
  ...[2, 1.5, 99.99, 0, 1000].flatMap((bound) =>
    ['$gt', '$gte', '$lt', '$lte'].map((operator) => ({
      filter: `{"number":{"${operator}":${bound}}}`,
      sort: 'number',
      limit: 30,
    })),
  ),
  { filter: '{"_row_id":{"$gt":590}}', limit: 30 },
  { filter: '{"_row_id":{"$gt":5000}}', limit: 30 },
  { limit: 10, columns: 'day,7' },
  { limit: 10, offset: 10_000 },
];

/** NDJSON is always written from the rows themselves. */
async function requireTrue(query: Query): Promise<void> {
  const answer = await list(shared.reader, 'wild', query);
  const written = await list(shared.reader, 'wild', { ...query, format: 'ndjson' });
  const lines = written.text.split('\n').slice(0, -1);
  expect([query, answer.status, answer.text]).toEqual([query, 200, `[${lines.join(',')}]`]);
  expect([answer.total, answer.next === null]).toEqual([written.total, written.next === null]);
}

test('every list is what its rows are, before and after rows are kept', async () => {
  for (let round = 0; round < 3; round++) for (const query of QUERIES) await requireTrue(query);
});

test('the pages of kept rows are walked by cursors to their end', async () => {
  for (const sort of ['', 'number', '-__proto__']) {
    const pages = await walk(shared.reader, `/api/wild/?limit=100&sort=${sort}`);
    const whole = await list(shared.reader, 'wild', { sort });
    expect(pages.flatMap(({ rows }) => rows)).toEqual([...whole.rows]);
  }
});

test('an edit is in the next list, and in its entity tag, also with rows that are kept', async () => {
  const page = { filter: '{"_row_id":{"$gte":5}}', limit: 3 };
  for (let round = 0; round < 25; round++) {
    const before = await list(shared.reader, 'wild', { ...page, offset: round });
    const data = { _row_id: 6, '7': `v${round}` };
    const edit = await change(shared.writer, 'PATCH', 'wild', { action: 'update', data });
    expect(edit.status).toBe(200);
    const after = await list(shared.reader, 'wild', page);
    expect(after.rows[1]).toMatchObject({ _row_id: 6, '7': `v${round}` });
    expect(after.etag).not.toBe(before.etag);
    for (const query of QUERIES.slice(0, round)) await requireTrue(query);
  }
  const { etag } = await list(shared.reader, 'wild', page);
  const headers = { 'If-None-Match': etag };
  const path = `/api/wild/?filter=${encodeURIComponent(page.filter)}&limit=3`;
  expect((await get(shared.reader, path, { headers })).status).toBe(304);
});

/**
 * Aggregates over a large dataset come from columns beside its copy (SL-150, SL-153): the same answer as over its rows,
 * also after an edit and after damage, for those only who may read the file.
 */
import { beforeAll, expect, test } from 'bun:test';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { sharedService } from './shared-service.ts';

const ROWS = 60_000;
const NAMES = ['ä', 'b', '', 'c d'];
const lines = Array.from({ length: ROWS }, (_, at) => {
  const v = at % 11 === 0 ? 'none' : String(((at * 7_919) % 100_003) / 7);
  const n = at % 13 === 0 ? '' : (((at * 31) % 9_973) / 100).toFixed(2);
  return `${NAMES[(at * 7) % 4]},${v},${n},2026-0${1 + (at % 9)}-11`;
});
const shared = sharedService({
  files: { 'big.csv': `g,v,n,day\n${lines.join('\n')}\n` },
  config: { events: { throttle: { search: '' } } },
});

beforeAll(async () => {
  await eventually(async () => {
    expect((await shared.reader.fetch('/api/big/?limit=1')).status).toBe(200);
  }, 25_000);
});

const QUERIES = [
  'from big | stats count, avg(v), sum(n), min(n), max(n), median(n), dc(v) by g',
  'from big | where n > 50 AND g != "b" | stats avg(n), p95(n) by day',
  'from big | search g="c d" none | stats count by day',
  'from big | timechart span=1mon field=day avg(n) by g',
  'from big | top limit=3 n',
];

async function run(query: string, client = shared.reader) {
  const response = await client.fetch('/search2/api/run/', {
    method: 'POST',
    body: JSON.stringify({ query, explain: true }),
  });
  const { rows, meta, ...other } = (await response.json()) as Record<string, any>;
  return {
    status: response.status,
    other,
    answer: { rows, notices: meta?.notices, scanned: meta?.scanned },
    isByColumns: meta?.plan.columns_used as boolean | undefined,
  };
}

function columnFolders(): string[] {
  const tables = join(shared.service.stateDir, 'tables');
  return readdirSync(tables)
    .filter((name) => name.endsWith('.sqlite-columns'))
    .map((name) => join(tables, name));
}

/** Over the rows, because a file stands where the columns would be. */
async function withoutColumns<Found>(ask: () => Promise<Found>): Promise<Found> {
  const [folder] = columnFolders();
  rmSync(folder!, { recursive: true });
  writeFileSync(folder!, '');
  const found = await ask();
  rmSync(folder!);
  return found;
}

async function overRows(query: string) {
  const found = await withoutColumns(() => run(query));
  expect({ query, isByColumns: found.isByColumns }).toEqual({ query, isByColumns: false });
  return found.answer;
}

test('from columns and over rows, the first time and the second, answers are the same', async () => {
  for (const query of QUERIES) {
    const first = await run(query);
    const second = await run(query);
    expect({ query, ...first }).toMatchObject({ query, status: 200, isByColumns: true });
    expect(first.answer.rows.length).toBeGreaterThan(2);
    expect(second).toEqual(first);
    expect({ query, ...(await overRows(query)) }).toEqual({ query, ...first.answer });
  }
}, 60_000);

test('facets and charts are the same from columns and over rows', async () => {
  const wishes = [
    ...['g', 'v', 'n', 'day'].map((column) => `summary=facets&column=${column}`),
    'summary=chart&type=bar&x=g&y=n&measure=mean',
    'summary=chart&type=line&x=day&y=n&measure=sum',
    'summary=chart&type=histogram&x=n',
    'summary=chart&type=scatter&x=n&y=n',
    'summary=facets&column=n&filter={"g":"b"}',
  ];
  const ask = async () => {
    const answers: unknown[] = [];
    for (const wish of wishes) {
      const response = await shared.reader.fetch(`/ui/big/?${wish}`);
      answers.push({ wish, status: response.status, json: await response.json() });
    }
    return answers;
  };
  const found = await ask();
  expect(
    readdirSync(columnFolders()[0]!)
      .map((name) => name.split('.')[1])
      .sort(),
  ).toEqual(['c0', 'c1', 'c2', 'c3']);
  expect(found).toEqual(await ask());
  expect(await withoutColumns(ask)).toEqual(found);
  expect(JSON.stringify(found[0])).toContain(`"rows":${ROWS},"blanks":${ROWS / 4}`);
}, 60_000);

test('an edit is in the next answer', async () => {
  const [query] = QUERIES;
  const before = await run(query!);
  const response = await shared.writer.fetch('/api/big/', {
    method: 'PATCH',
    body: JSON.stringify({ action: 'update', data: { _row_id: 2, n: 1e6 } }),
  });
  expect(response.status).toBe(200);
  const after = await run(query!);
  expect(after.isByColumns).toBe(true);
  expect(after.answer.rows).not.toEqual(before.answer.rows);
  expect(await overRows(query!)).toEqual(after.answer);
}, 60_000);

test('damaged columns are made anew within the query', async () => {
  const query = QUERIES[1]!;
  const before = await run(query);
  const [folder] = columnFolders();
  for (const name of readdirSync(folder!)) {
    const path = join(folder!, name);
    const bytes = new Uint8Array(await Bun.file(path).arrayBuffer());
    bytes[bytes.length >> 2]! ^= 1;
    writeFileSync(path, bytes);
  }
  expect(await run(query)).toEqual(before);
}, 60_000);

test('who may not read the file learns nothing of it', async () => {
  await shared.service.accounts.user('nobody');
  const refused = await run(QUERIES[0]!, await shared.service.as('nobody'));
  const missing = await run(QUERIES[0]!.replace('big', 'gib'), await shared.service.as('nobody'));
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused)).toBe(JSON.stringify(missing).replaceAll('gib', 'big'));
}, 60_000);

test('the columns go with the file', async () => {
  expect(columnFolders()).toHaveLength(1);
  rmSync(join(shared.service.docroot, 'big.csv'));
  await eventually(() => expect(columnFolders().filter(existsSync)).toEqual([]), 25_000);
}, 60_000);

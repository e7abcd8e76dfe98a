/**
 * Every workbook, legacy workbook and Parquet file of the corpora, damaged, hostile or odd, is read as it should or
 * refused with its reason, and nothing else suffers (B-X, B-L, B-P; F9, F17).
 */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'bun:test';
import { refusedLegacyWorkbooks } from '../plugins/legacy-workbook-corpus.ts';
import { goodParquet, refusedParquetFiles } from '../plugins/parquet-corpus.ts';
import { acceptedWorkbooks, refusedWorkbooks } from '../plugins/workbook-corpus.ts';
import { eventually } from './eventually.ts';
import { address, get, list } from './listing.ts';
import { childrenOf, forgetPeak, memoryOf } from './process-memory.ts';
import { sharedService } from './shared-service.ts';

const MIB = 1024 * 1024;
/** Resident bytes of a worker that has read all this, garbage included; one that expands a bomb has twice as many. */
const WORKER_BYTES = 512 * MIB;

const refusals = [
  ...refusedWorkbooks.map((one) => [`${one[0]}.xlsx`, ...one] as const),
  ...refusedLegacyWorkbooks.map((one) => [`${one[0]}.xls`, ...one] as const),
  ...refusedParquetFiles.map((one) => [`${one[0]}.parquet`, ...one] as const),
];

const shared = sharedService({
  files: { 'good.csv': 'a\n1\n', 'good.parquet': goodParquet },
});

let before: number;
const placed = new Map<string, string>();

/** All at once, so that finding them costs one look at the folder. */
beforeAll(async () => {
  const { service } = shared;
  before = memoryOf(service.pid)!.resident;
  forgetPeak(service.pid);
  const put = (rel: string, content: Uint8Array) => {
    service.write(rel, content);
    placed.set(rel, stateOf(rel));
  };
  for (const [name, make] of acceptedWorkbooks) put(`read/${name}.xlsx`, make());
  for (const [rel, , make] of refusals) put(`refused/${rel}`, make());
});

function stateOf(rel: string): string {
  const path = join(shared.service.docroot, rel);
  const { ino, mtimeMs, ctimeMs } = statSync(path);
  const digest = createHash('sha1').update(readFileSync(path)).digest('hex');
  return [ino, mtimeMs, ctimeMs, digest].join(' ');
}

/** What the file is called: by itself when its sheets cannot be told, else by its first one. */
function nameOf(rel: string): Promise<string> {
  const names = rel.endsWith('.parquet') ? [rel] : [rel, `${rel}/Data`, `${rel}/A`, `${rel}/S`];
  return eventually(async () => {
    for (const name of names) {
      if ((await list(shared.reader, name, { limit: 1 })).status !== 404) return name;
    }
    throw new Error(`${rel} is not noticed`);
  }, 40_000);
}

describe('a file that is', () => {
  test.each(refusals)('%s is refused with its reason everywhere', async (rel, _, _make, reason) => {
    const file = `refused/${rel}`;
    const name = await nameOf(file);
    const rows = await list(shared.reader, name);
    const schema = await get(shared.reader, address(name, {}, 'schema'));
    const edit = await get(shared.writer, address(name), {
      method: 'PATCH',
      body: '{"action":"update","data":{"_row_id":1,"a":2}}',
    });
    const prefix = `Cannot read '${file}': `;
    for (const answer of rel.endsWith('.xls') ? [rows, schema] : [rows, schema, edit]) {
      const { status, detail, text } = answer;
      expect({ status, detail }).toEqual({ status: 422, detail: expect.stringContaining(prefix) });
      expect(String(detail).slice(prefix.length)).toMatch(reason);
      expect(text).not.toMatch(/docroot|\/tmp|\bat \S+:\d+|SQLITE|SELECT |root:/);
    }
    expect(stateOf(file)).toBe(placed.get(file)!);
  });

  test.each(acceptedWorkbooks)('%s is read', async (what) => {
    const name = await nameOf(`read/${what}.xlsx`);
    const { status, rows } = await list(shared.reader, name);
    expect({ status, rows: rows.slice(0, 1) }).toMatchObject({ status: 200, rows: [{ a: 1 }] });
    expect(stateOf(`read/${what}.xlsx`)).toBe(placed.get(`read/${what}.xlsx`)!);
  });
});

test('all of it took little memory, and the rest of the service never noticed (F9)', async () => {
  const { pid } = shared.service;
  // The rows of the list are answered by the server itself; a file is never in its memory.
  expect(memoryOf(pid)!.peak - before).toBeLessThan(128 * MIB);
  for (const child of childrenOf(pid)) {
    expect(memoryOf(child.pid)?.peak ?? 0).toBeLessThan(WORKER_BYTES);
  }
  expect((await list(shared.reader, 'good.csv')).rows).toEqual([{ _row_id: 1, a: 1 }]);
  expect((await list(shared.reader, 'good.parquet')).rows).toHaveLength(3);
  expect((await get(shared.service, '/health')).status).toBe(200);
});

test('the listing has the problem of every refused file, and of no other (DS-34, DS-182)', async () => {
  const { body } = await get(shared.reader, '/');
  const { problems } = body as { problems: { resource: string; problem: string }[] };
  const expected = refusals.map(([rel]) => `refused/${rel}`);
  expect(problems.map(({ resource }) => resource).toSorted()).toEqual(expected.toSorted());
});

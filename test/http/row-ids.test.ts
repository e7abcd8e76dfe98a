/**
 * What rows are called: numbers given before anything else, kept over changes made here, given anew after changes made
 * elsewhere (DS-47 to DS-49).
 */
import { beforeEach, expect, test } from 'bun:test';
import { appendFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { idsOf, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService();

let runs = 0;
let name = '';
beforeEach(async () => {
  name = `ids ${++runs}`;
  shared.service.write(`${name}.csv`, 'n\n10\n20\n30\n40\n');
  await eventually(async () => expect(await ids()).toEqual([1, 2, 3, 4]));
});

const ids = async () => idsOf((await list(shared.reader, name)).rows);
const file = () => join(shared.service.docroot, `${name}.csv`);

async function change(method: string, body: object): Promise<{ row_ids: number[] }> {
  const answer = await shared.writer.fetch(`/api/${encodeURIComponent(name)}/`, {
    method,
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { row_ids: number[] };
}

const remove = (id: number) => change('DELETE', { action: 'delete', data: { _row_id: id } });
const create = async (n: number) =>
  (await change('POST', { action: 'create', data: [{ n }] })).row_ids[0];

test('filters, sorts and pages change nothing about them (DS-47)', async () => {
  const { rows } = await list(shared.reader, name, { filter: { n: { $gt: 10 } }, sort: '-n' });
  expect(rows).toEqual([
    { _row_id: 4, n: 40 },
    { _row_id: 3, n: 30 },
    { _row_id: 2, n: 20 },
  ]);
});

test('they stay with their rows when others are deleted, and are not given again (DS-48)', async () => {
  await remove(2);
  expect(await ids()).toEqual([1, 3, 4]);
  await remove(4);
  expect(await create(50)).toBe(5);
  await remove(5);
  expect(await create(60)).toBe(6);
  expect(await ids()).toEqual([1, 3, 6]);
  const { rows } = await list(shared.reader, name, { filter: { _row_id: 3 } });
  expect(rows).toEqual([{ _row_id: 3, n: 30 }]);
});

test('pages count rows, not numbers, once some are missing (DS-36, DS-48)', async () => {
  await remove(1);
  await remove(3);
  expect(idsOf((await list(shared.reader, name, { offset: 1 })).rows)).toEqual([4]);
  expect(idsOf((await list(shared.reader, name, { offset: 1, sort: '-_row_id' })).rows)).toEqual([
    2,
  ]);
  expect(await list(shared.reader, name, { limit: 1 })).toMatchObject({ total: 2 });
});

test('they survive a restart, with the highest ever given (DS-48)', async () => {
  await remove(2);
  expect(await create(50)).toBe(5);
  await remove(5);
  await shared.service.restart();
  expect(await ids()).toEqual([1, 3, 4]);
  expect(await create(60)).toBe(6);
});

test('an edit from outside numbers the rows anew (DS-49)', async () => {
  await remove(2);
  appendFileSync(file(), '50\n');
  expect(await ids()).toEqual([1, 2, 3, 4]);
  expect(await create(60)).toBe(5);
});

test('a replacement from outside numbers the rows anew, also with the same rows in it (DS-49)', async () => {
  await remove(2);
  writeFileSync(`${file()}.new`, 'n\n10\n30\n40\n41\n');
  renameSync(`${file()}.new`, file());
  expect(await ids()).toEqual([1, 2, 3, 4]);
});

test('other times alone are no edit (DS-49)', async () => {
  await remove(2);
  utimesSync(file(), 1_000_000, 1_000_000);
  expect(await ids()).toEqual([1, 3, 4]);
});

test('a column that gets another type is no edit (DS-48, DS-60)', async () => {
  await remove(2);
  await change('PATCH', { action: 'update', data: { _row_id: 3, n: '' } });
  expect((await list(shared.reader, name)).rows).toEqual([
    { _row_id: 1, n: 10 },
    { _row_id: 3, n: '' },
    { _row_id: 4, n: 40 },
  ]);
  expect(await create(50)).toBe(5);
});

test('a number that no row can have is that of no row, however long it is (DS-79)', async () => {
  const ask = async (method: string, body: string) => {
    const path = `/api/${encodeURIComponent(name)}/`;
    const answer = await shared.writer.fetch(path, { method, body });
    return [answer.status, ((await answer.json()) as { detail: string }).detail];
  };
  const long = '9'.repeat(40);
  for (const id of ['9007199254740992', '9007199254740993', long]) {
    for (const sent of [id, `"${id}"`]) {
      const missing = [404, `Row ${id} not found`];
      const update = `{"action":"update","data":{"_row_id":${sent},"n":1}}`;
      expect(await ask('PATCH', update)).toEqual(missing);
      const remove = `{"action":"delete","data":{"_row_id":${sent}}}`;
      expect(await ask('DELETE', remove)).toEqual(missing);
    }
  }
  const change = `{"resource":"${name}","action":"delete","data":{"_row_id":${long}}}`;
  const params = `{"name":"write_resource","arguments":${change}}`;
  const told = await shared.writer.fetch('/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
  });
  expect(await told.text()).toContain(`Row ${long} not found`);
  const wrong = '{"action":"update","data":{"_row_id":9007199254740993,"x":1}}';
  expect((await ask('PATCH', wrong))[0]).toBe(422);
  expect(await ids()).toEqual([1, 2, 3, 4]);
});

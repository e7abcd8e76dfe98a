/**
 * Values that are put back: with `Prefer: handling=lenient` a column that only had an inferred type takes what it lost that
 * type with (DS-59), and everything else is checked as ever (DS-75 to DS-78).
 */
import { expect, test } from 'bun:test';
import { bytesOf, change, create, currentTag, remove, update, versionOf } from './changes.ts';
import { list } from './listing.ts';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: {
    'words.csv': 'n\n1\nmany\n3\n',
    'fractions.csv': 'n,t\n1,a\n2.5,b\n',
    'last.csv': 'n,on\n7,true\n,\n',
    'declared.csv': 'n\n1\n',
    '.svc/declared.schema.json': '{"columns":{"n":{"type":"integer"}}}',
  },
});
const LENIENT = { Prefer: 'return=minimal, handling=lenient' };
const PREFIX = 'Schema validation failed: ';

test('a row that was the only one of its kind is deleted and put back', async () => {
  const { writer, service } = shared;
  const cases: [string, number, object, string][] = [
    ['words', 2, { n: 'many' }, 'n\n1\n3\nmany\n'],
    ['fractions', 2, { n: 2.5, t: 'b' }, 'n,t\n1,a\n2.5,b\n'],
    ['last', 1, { n: 7, on: true }, 'n,on\n,\n7,true\n'],
  ];
  for (const [name, id, row, after] of cases) {
    const before = (await list(writer, name)).rows.find(({ _row_id }) => _row_id === id);
    expect(before).toEqual({ _row_id: id, ...row });
    expect((await remove(writer, name, id)).status).toBe(200);
    // As the contract has it: what does not fit the type of what is left is refused.
    expect(await create(writer, name, [row])).toMatchObject({ status: 422 });
    const tag = await currentTag(writer, name);
    const body = { action: 'create', data: [row] };
    const back = await change(writer, 'POST', name, body, { ...LENIENT, 'If-Match': tag });
    expect(back.status).toBe(200);
    expect(bytesOf(service, `${name}.csv`)).toBe(after);
    const [newId] = back.rowIds;
    expect((await list(writer, name)).rows.at(-1)).toEqual({ _row_id: newId, ...row });
    expect(versionOf(await currentTag(writer, name))).toBe(versionOf(back.etag));
  }
});

test('a cell that was the only one of its kind is overwritten and put back', async () => {
  const { writer } = shared;
  const { rows } = await list(writer, 'words', { filter: { n: 'many' } });
  const id = Number(rows[0]!['_row_id']);
  expect((await update(writer, 'words', { _row_id: id, n: '2' })).status).toBe(200);
  expect((await list(writer, 'words')).rows.map(({ n }) => n)).toEqual([1, 3, 2]);
  const body = { action: 'update', data: { _row_id: id, n: 'many' } };
  expect(await change(writer, 'PATCH', 'words', body)).toMatchObject({
    status: 422,
    detail: `${PREFIX}column 'n': expected integer, received string`,
  });
  expect((await change(writer, 'PATCH', 'words', body, LENIENT)).status).toBe(200);
  expect((await list(writer, 'words')).rows.map(({ n }) => n)).toEqual(['1', '3', 'many']);
});

test('declared types, unknown columns and values that no cell can hold stay refused', async () => {
  const { writer } = shared;
  const cases: [string, object, string][] = [
    ['declared', { n: 'x' }, "column 'n': expected integer, received string"],
    ['words', { x: 1 }, "unknown column 'x'"],
    ['words', { n: [1] }, "column 'n': expected string, received array"],
    ['words', { n: 'a\u0000b' }, "column 'n': a text may not contain NUL"],
  ];
  for (const [name, row, text] of cases) {
    const body = { action: 'create', data: [row] };
    expect(await change(writer, 'POST', name, body, LENIENT)).toMatchObject({
      status: 422,
      detail: PREFIX + text,
    });
  }
});

test('an answer tells that the preference was honoured, and only then (DS-215)', async () => {
  const { writer } = shared;
  const body = JSON.stringify({ action: 'create', data: [{ n: 'told' }] });
  const lenient = await writer.fetch('/api/words/', { method: 'POST', body, headers: LENIENT });
  expect(lenient.headers.get('Preference-Applied')).toBe('handling=lenient');
  const strict = await writer.fetch('/api/words/', { method: 'POST', body });
  expect([strict.status, strict.headers.get('Preference-Applied')]).toEqual([200, null]);
});

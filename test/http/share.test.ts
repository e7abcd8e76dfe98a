/** A share of a hundred files is served with the right types and values, and edited without touching anything else (DS-59 to DS-72, DS-84). */
import { beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { change } from './changes.ts';
import { eventually } from './eventually.ts';
import { get, list } from './listing.ts';
import { type SharedFile, sharedFiles } from './share-files.ts';
import { sharedService } from './shared-service.ts';

const files = await sharedFiles();
const shared = sharedService();
const pathOf = ({ rel }: SharedFile): string => join(shared.service.docroot, rel);

beforeAll(async () => {
  for (const file of files) {
    mkdirSync(dirname(pathOf(file)), { recursive: true });
    writeFileSync(pathOf(file), file.bytes);
  }
  await eventually(async () => {
    const { resources } = (await get(shared.reader, '/')).body as { resources: string[] };
    expect(files.filter(({ rel }) => !resources.includes(rel)).map(({ rel }) => rel)).toEqual([]);
  });
}, 60_000);

test('has a hundred files', () => expect(files.length).toBeGreaterThanOrEqual(100));

describe.each(files.map((file) => [file.rel, file] as const))('%s', (_, file) => {
  const address = file.name.split('/').map(encodeURIComponent).join('/');

  test('has its types and values', async () => {
    const { columns } = (await get(shared.reader, `/schema/${address}/`)).body as {
      columns: Record<string, { type: string; format?: string }>;
    };
    const types = Object.entries(columns).map(([name, { type, format }]) => [name, format ?? type]);
    expect(Object.fromEntries(types)).toEqual({ ...file.types });
    const { rows } = await list(shared.reader, file.name);
    expect(rows.map(({ _row_id: _, ...row }) => row)).toEqual(file.rows as never);
  });

  test('is edited in its own spelling, or says why not', async () => {
    const { edit } = file;
    const ids = (await list(shared.reader, file.name)).rows.map(({ _row_id: id }) => id);
    const sent = {
      _row_id: ids[(edit?.row ?? 1) - 1],
      [edit?.column ?? Object.keys(file.types)[0]!]: edit?.value ?? 'x',
    };
    const { status, headers } = await change(shared.writer, 'PATCH', file.name, {
      action: 'update',
      data: sent,
    });
    if (edit === undefined) {
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(Bun.hash(readFileSync(pathOf(file)))).toBe(Bun.hash(file.bytes));
      return;
    }
    expect(status).toBe(200);
    if (edit.after !== undefined)
      expect(readFileSync(pathOf(file)).toString('latin1')).toBe(
        Buffer.from(edit.after).toString('latin1'),
      );
    const expected = file.rows.map((row, i) =>
      i === edit.row - 1 ? { ...row, [edit.column]: edit.shown ?? edit.value } : row,
    );
    const { rows } = await list(shared.reader, file.name);
    expect(rows.map(({ [edit.column]: value }) => value)).toEqual(
      expected.map((row) => row[edit.column]),
    );
  });
});

/**
 * Other programs, other requests and edits of the same files, each come in where one of them waits: no answer is of another
 * version, no row loses its id, and nobody is told of what others met.
 */
import { Database } from 'bun:sqlite';
import { readdirSync, rmSync } from 'node:fs';
import { expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { AppError } from '../../src/base/errors.ts';
import { until } from '../support/database.ts';
import { docrootInPlace } from '../support/docroot-in-place.ts';

test('more tables than are kept open are edited and read at the same time', async () => {
  const names = Array.from({ length: 120 }, (_, index) => `t${index}`);
  await using place = await docrootInPlace(
    Object.fromEntries(names.map((name) => [`${name}.csv`, 'n\n1\n'])),
  );
  for (const name of names) await place.table(name);
  for (let round = 2; round < 5; round++) {
    const data = { _row_id: 1, n: round };
    await Promise.all(names.map((name) => place.change(name, { action: 'update', data })));
    const rows = await Promise.all(names.map(async (name) => (await place.table(name)).row(1)));
    expect(rows.flat()).toEqual(names.map(() => round));
  }
  // Those whose content is compared just now stay open until they are asked for again.
  await until(async () => {
    for (const name of names) await place.table(name);
    return place.docroot.tables.size === 64;
  });
});

test('a table is read while as many others as are kept open are being written', async () => {
  const names = Array.from({ length: 66 }, (_, index) => `t${index}`);
  await using place = await docrootInPlace(
    Object.fromEntries(names.map((name) => [`${name}.csv`, 'n\n1\n'])),
  );
  const gate = Promise.withResolvers<void>();
  const writing: Promise<void>[] = [];
  for (const name of names) {
    const table = await place.table(name);
    expect(table.isClosed).toBe(false);
    writing.push(table.exclusive.run(() => gate.promise));
  }
  gate.resolve();
  await Promise.all(writing);
});

test('what is written while a table is built anew has rows of its own (DS-49)', async () => {
  await using place = await docrootInPlace({ 'a.csv': 'n\n1\n2\n3\n' });
  await place.change('a', { action: 'delete', data: { _row_id: 1 } });
  expect(await place.ids('a')).toEqual([2, 3]);
  place.beforeJob = (job) => {
    if (job === 'load') place.folder.write('a.csv', 'n\nx\ny\n');
  };
  place.folder.write('.svc/a.csv.schema.json', '{"columns":{"n":{"type":"string"}}}');
  expect(await place.ids('a')).toEqual([1, 2]);
});

test('rows whose file is given another time while its companion changes keep their ids (DS-48)', async () => {
  await using place = await docrootInPlace({ 'a.csv': 'n\n1\n2\n3\n' });
  await place.change('a', { action: 'delete', data: { _row_id: 1 } });
  // As a program does that copies a folder over itself, before the table is looked at and while it is built.
  place.folder.write('a.csv', 'n\n2\n3\n');
  place.folder.write('.svc/a.csv.schema.json', '{"columns":{"n":{"type":"string"}}}');
  place.beforeJob = (job) => {
    if (job === 'load') place.folder.write('a.csv', 'n\n2\n3\n');
  };
  expect(await place.ids('a')).toEqual([2, 3]);
  expect((await place.table('a')).columns[0]!.type).toBe('string');
  place.folder.write('.svc/a.csv.schema.json', '{"columns":{"n":{"type":"number"}}}');
  place.beforeJob = (job) => {
    if (job === 'load') place.folder.write('a.csv', 'n\n2\n4\n');
  };
  expect(await place.ids('a')).toEqual([1, 2]);
});

test('what is written after an edit changed the types is not taken for its version (DS-82)', async () => {
  await using place = await docrootInPlace({ 'a.csv': 'n\n1\n2\nx\n' });
  const { version } = await place.change('a', { action: 'delete', data: { _row_id: 3 } });
  expect(place.docroot.tables.peek(place.targetOf('a'))!.outdated).toBe('types');
  place.beforeJob = (job) => {
    if (job === 'load') place.folder.write('a.csv', 'n\n8\n9\n');
  };
  expect((await place.table('a')).version()).not.toBe(version);
});

test('an edit that changed the types has the version it told, when nobody came in between (DS-74)', async () => {
  await using place = await docrootInPlace({ 'a.csv': 'n\n1\n2\nx\n' });
  const { version } = await place.change('a', { action: 'delete', data: { _row_id: 1 } });
  expect((await place.table('a')).version()).toBe(version);
  const { version: next } = await place.change('a', { action: 'delete', data: { _row_id: 3 } });
  expect(await place.ids('a')).toEqual([2]);
  expect((await place.table('a')).version()).toBe(next);
});

test('a file that is deleted while an edit of it is written is not found (DS-33)', async () => {
  await using place = await docrootInPlace({ 'a.csv': 'n\n1\n' });
  const target = place.targetOf('a');
  const table = await place.table('a');
  const journal = table.journal.bind(table);
  // The new bytes are on the disk under another name.
  table.journal = (...entry) => {
    rmSync(target.path);
    place.docroot.tables.drop(target);
    journal(...entry);
  };
  const edit = place.change('a', { action: 'update', data: { _row_id: 1, n: 2 } });
  await expect(edit).rejects.toMatchObject({ code: 'not-found' });
  expect(readdirSync(place.folder.path)).toEqual(['.svc']);
});

async function workbook(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  for (const name of ['One', 'Two']) {
    const sheet = book.addWorksheet(name);
    for (const value of ['n', 1, 2, 3]) sheet.addRow([value]);
  }
  return new Uint8Array(await book.xlsx.writeBuffer());
}

test('an edit that is on disk is not refused for the copy of another worksheet (DS-74, DS-48)', async () => {
  await using place = await docrootInPlace({ 'w.xlsx': await workbook() });
  await place.change('w/Two', { action: 'delete', data: { _row_id: 1 } });
  await place.table('w/One');
  const copy = (await place.table('w/Two')).path;
  // Somebody looks into the copies with a tool that locks them, once the new file is about to take its place.
  const other = new Database(copy, { readwrite: true });
  const { tables } = place.docroot;
  const journalSiblings = tables.journalSiblings.bind(tables);
  tables.journalSiblings = async (...siblings) => {
    await journalSiblings(...siblings);
    other.run('BEGIN IMMEDIATE');
  };
  const made = await place.change('w/One', { action: 'update', data: { _row_id: 1, n: 11 } });
  expect(made.rowIds).toEqual([1]);
  other.close(true);
  expect(await place.ids('w/Two')).toEqual([2, 3]);
});

test('a workbook that is written while an edit of it is planned is not told to be broken (DS-84)', async () => {
  const whole = await workbook();
  await using place = await docrootInPlace({ 'w.xlsx': whole });
  await place.table('w/One');
  const jobs: string[] = [];
  place.beforeJob = (job) => {
    jobs.push(job);
    // Another program writes it, slowly and in place; by the time of the next look it is done.
    if (jobs.length === 1) place.folder.write('w.xlsx', whole.subarray(0, 500));
    if (job === 'load') place.folder.write('w.xlsx', whole);
  };
  const made = await place.change('w/One', { action: 'update', data: { _row_id: 1, n: 11 } });
  expect(made.isChanged).toBe(true);
  expect(jobs).toEqual(['edit', 'load', 'edit']);
});

test('whoever comes too late is told the version that his sheet has then (DS-82)', async () => {
  await using place = await docrootInPlace({ 'w.xlsx': await workbook(), 'a.csv': 'n\n1\nx\n' });
  for (const [name, data] of [
    ['w/One', { _row_id: 2, n: 5 }],
    // Without its only text the column is one of integers.
    ['a', { _row_id: 2, n: '2' }],
  ] as const) {
    const ifMatch = [(await place.table(name)).version()];
    const first = place.change(name, { action: 'update', data, ifMatch });
    const late = place.change(name, { action: 'update', data: { _row_id: 1, n: '7' }, ifMatch });
    const refusal = (await late.catch((error: unknown) => error)) as AppError;
    const { version } = await first;
    expect(refusal.code).toBe('precondition-failed');
    expect(refusal.headers).toEqual({ etag: `"${version}"` });
    expect((await place.table(name)).version()).toBe(version);
  }
});

test('edits that stand in line behind one that waits for the lock wait no longer than it (DS-90)', async () => {
  await using place = await docrootInPlace({ 'w.xlsx': await workbook() });
  await place.table('w/One');
  const { locks } = place.docroot;
  const acquire = locks.acquire.bind(locks);
  const waited: number[] = [];
  const isAsked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  locks.acquire = async (request) => {
    waited.push(request.waitedMs!);
    if (waited.length > 1) return acquire(request);
    isAsked.resolve();
    await gate.promise;
    throw new AppError('locked', 'by somebody who does not give it back');
  };
  const edit = (sheet: string) =>
    place.change(`w/${sheet}`, { action: 'update', data: { _row_id: 1, n: 9 } });
  const [first, second] = [edit('One'), edit('Two')];
  await isAsked.promise;
  await Bun.sleep(50);
  gate.resolve();
  await expect(first).rejects.toMatchObject({ code: 'locked' });
  await second;
  expect(waited[0]).toBe(0);
  expect(waited[1]).toBeGreaterThanOrEqual(49);
  // What stood in line for other reasons has all of its time.
  await edit('Two');
  expect(waited[2]).toBe(0);
});

test('a workbook that a start cannot look into at once keeps the ids of its rows (DS-48)', async () => {
  const before = await docrootInPlace({ 'w.xlsx': await workbook() });
  await before.change('w/One', { action: 'delete', data: { _row_id: 1 } });
  await before.stop();
  let listings = 0;
  await using place = await docrootInPlace({}, before.folder, (job) => {
    const isFirst = job === 'sheets' && listings++ === 0;
    if (isFirst) throw new AppError('unavailable', 'The work broke off; try again later');
  });
  await until(() => place.docroot.registry.lookup('dataset', 'w/One') !== null);
  expect(listings).toBeGreaterThan(1);
  expect(await place.ids('w/One')).toEqual([2, 3]);
});

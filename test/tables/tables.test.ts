/**
 * Tables of one file whose copies were set aside, and an edit of another table of that file at the same time: nobody
 * loses the ids of his rows (DS-48).
 */
import { Database } from 'bun:sqlite';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import { sourceOf } from '../../src/base/files/file-source.ts';
import { type FileStamp, hashFile, statFile } from '../../src/base/files/file-stamp.ts';
import type { BuildOrder } from '../../src/tables/copy/copy-lineage.ts';
import { CopyFile } from '../../src/tables/copy/copy-file.ts';
import { sealCopy } from '../../src/tables/copy/copy-seal.ts';
import { PLAIN_CONTEXT } from '../../src/tables/infer/reading.ts';
import { initialiseMeta, TABLE_FORMAT } from '../../src/tables/copy/table-meta.ts';
import { companionFingerprint, type TableTarget } from '../../src/tables/copy/table-target.ts';
import { Tables } from '../../src/tables/copy/tables.ts';
import { testLog } from '../support/database.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts';

async function openSource(path: string) {
  const handle = await open(path, 'r');
  const { size } = await handle.stat();
  return { ...sourceOf(handle.fd, size), close: () => handle.close() };
}

async function hashOf(path: string): Promise<string> {
  const source = await openSource(path);
  try {
    return await hashFile(source);
  } finally {
    await source.close();
  }
}

/** A finished copy without rows, as the worker leaves one. */
async function build({ target, out, generation, sequence, ids }: BuildOrder): Promise<void> {
  const hash = await hashOf(target.path);
  await new CopyFile(out, ['c0']).finish([]);
  const db = new Database(out, { readwrite: true, create: false });
  initialiseMeta(
    db,
    {
      format: TABLE_FORMAT,
      rel: target.rel,
      sheet: target.sheet,
      generation,
      numbering: undefined,
      blank: 'empty',
      companion: companionFingerprint(target),
      companionProblem: null,
      companionSchema: null,
      columns: [],
      bodyOffset: 0,
      context: PLAIN_CONTEXT,
    },
    {
      stamp: statFile(target.path)!,
      stampTakenAt: Date.now(),
      hash,
      sequence,
      rowCount: 0,
      lastRowId: ids?.lastRowId ?? 7,
      counts: [],
      forms: [],
      dialect: {},
    },
  );
  db.close(true);
  await sealCopy(out);
}

/** The copies in a folder that outlives them, and what was built. */
function openTables(
  folder: TemporaryFolder,
  beforeBuild = async () => {},
  isRead: (copy: string) => boolean = () => false,
) {
  const built: BuildOrder[] = [];
  const tables = new Tables({
    dir: folder.at('copies'),
    build: async (order) => {
      built.push(order);
      await beforeBuild();
      await build(order);
    },
    open: ({ path }) => openSource(path),
    onProblem: () => {},
    isRead,
    onSuperseded: async () => {},
    now: () => Date.now(),
    log: testLog().log,
  });
  return { tables, built };
}

function sheetOf(folder: TemporaryFolder): TableTarget {
  const companions = { schema: [folder.at('schemas/w.json')], options: [] };
  return { rel: 'w.xlsx', sheet: 'B', path: folder.at('w.xlsx'), companions };
}

/** A workbook whose sheet was read by an earlier run, and its new version, ready to take its place. */
async function setAside(): Promise<{
  folder: TemporaryFolder;
  sheet: TableTarget;
  before: FileStamp;
  prepared: FileStamp;
}> {
  const folder = temporaryFolder({ 'w.xlsx': 'old', 'new.xlsx': 'newer' });
  mkdirSync(folder.at('copies'));
  const sheet = sheetOf(folder);
  const { tables } = openTables(folder);
  await tables.current(sheet);
  await tables.close();
  const before = statFile(sheet.path)!;
  return { folder, sheet, before, prepared: statFile(folder.at('new.xlsx'))! };
}

test('the first read of a sheet during an edit of another one takes its copy into use (DS-48)', async () => {
  const { folder, sheet, before, prepared } = await setAside();
  using _ = folder;
  const { tables, built } = openTables(folder);
  const [, table] = await Promise.all([
    tables.journalSiblings([sheet], before, prepared),
    tables.current(sheet),
  ]);
  expect(built).toEqual([]);
  expect(table.isClosed).toBe(false);
  expect(table.unfinished()).toMatchObject({ stamp: prepared, lastRowId: 7 });
  expect(await tables.current(sheet)).toBe(table);
  await tables.close();
});

test('an edit of another sheet during the first read of one knows of its copy (DS-48)', async () => {
  const { folder, sheet, before, prepared } = await setAside();
  using _ = folder;
  const { tables, built } = openTables(folder);
  const hash = await hashOf(folder.at('new.xlsx'));
  const reading = tables.current(sheet);
  await tables.journalSiblings([sheet], before, prepared);
  renameSync(folder.at('new.xlsx'), sheet.path);
  const stamp = statFile(sheet.path)!;
  await tables.restampSiblings([sheet], before, { stamp, hash });
  await reading;
  expect((await tables.current(sheet)).state).toMatchObject({ stamp, lastRowId: 7 });
  expect(built).toEqual([]);
  await tables.close();
});

test('an edit of another sheet reaches the copy that took the place of the one it waited for (DS-48)', async () => {
  const { folder, sheet, before, prepared } = await setAside();
  using _ = folder;
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { tables, built } = openTables(folder, () => {
    started.resolve();
    return gate.promise;
  });
  folder.write('schemas/w.json', '{}');
  const reading = tables.current(sheet);
  await started.promise;
  const journalled = tables.journalSiblings([sheet], before, prepared);
  gate.resolve();
  await Promise.all([reading, journalled]);
  expect(built.map(({ ids }) => ids?.lastRowId)).toEqual([7]);
  expect((await tables.current(sheet)).unfinished()).toMatchObject({ stamp: prepared });
  await tables.close();
});

test('an edit of another sheet, cut off before, is finished in a copy before the next one (DS-48)', async () => {
  const { folder, sheet, before, prepared } = await setAside();
  using _ = folder;
  const killed = openTables(folder);
  await killed.tables.journalSiblings([sheet], before, prepared);
  renameSync(folder.at('new.xlsx'), sheet.path);
  await killed.tables.close();

  const { tables, built } = openTables(folder);
  const between = statFile(sheet.path)!;
  const next = folder.write('next.xlsx', 'newest');
  const hash = await hashOf(next);
  await tables.journalSiblings([sheet], between, statFile(next)!);
  renameSync(next, sheet.path);
  await tables.restampSiblings([sheet], between, { stamp: statFile(sheet.path)!, hash });
  await tables.current(sheet);
  expect(built.map(({ ids }) => ids?.lastRowId)).toEqual([7]);
  await tables.close();
});

test('a replaced copy stays while the search reads it, and then goes; a later start takes the newer one (DS-152)', async () => {
  using folder = temporaryFolder({ 'w.xlsx': 'old' });
  mkdirSync(folder.at('copies'));
  const sheet = sheetOf(folder);
  const copies = () => readdirSync(folder.at('copies')).filter((name) => name.endsWith('.sqlite'));
  const { tables } = openTables(folder, undefined, () => true);
  const old = basename((await tables.current(sheet)).path);
  folder.write('w.xlsx', 'newer');
  const present = basename((await tables.current(sheet)).path);
  expect(copies().sort()).toEqual([old, present].sort());
  tables.release(present);
  expect(copies().sort()).toEqual([old, present].sort());
  await tables.close();

  const later = openTables(folder);
  expect(basename((await later.tables.current(sheet)).path)).toBe(present);
  expect(later.built).toEqual([]);
  expect(copies()).toEqual([present]);
  await later.tables.close();

  const { tables: again } = openTables(folder, undefined, () => true);
  await again.current(sheet);
  folder.write('w.xlsx', 'newest');
  const last = basename((await again.current(sheet)).path);
  again.release(present);
  expect(copies()).toEqual([last]);
  await again.close();
});

test('what was found wrong with a version before a call is not told to it (DS-33, DS-143)', async () => {
  using folder = temporaryFolder({ 'w.xlsx': 'broken' });
  mkdirSync(folder.at('copies'));
  const sheet = sheetOf(folder);
  const isRead = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { tables, built } = openTables(folder, async () => {
    if (built.length > 1) return;
    isRead.resolve();
    await gate.promise;
    throw new AppError('unreadable-file', 'it is broken');
  });
  const before = tables.current(sheet);
  await isRead.promise;
  folder.write('w.xlsx', 'mended');
  const after = Promise.all([tables.current(sheet), tables.current(sheet)]);
  gate.resolve();
  await expect(before).rejects.toMatchObject({ code: 'unreadable-file' });
  const [one, other] = await after;
  expect(one).toBe(other);
  expect(one.state.stamp).toEqual(statFile(sheet.path)!);
  expect(built).toHaveLength(2);
  await tables.close();
});

test('a copy whose own facts are damaged is built again, whichever they are', async () => {
  const { folder, sheet } = await setAside();
  using _ = folder;
  const facts = factsIn(copyIn(folder));
  const damages = [...facts].flatMap(([key, text]) =>
    damagedTexts(text).map((damaged) => ({ key, damaged })),
  );
  expect(damages.length).toBeGreaterThan(30);
  for (const { key, damaged } of damages) {
    const db = new Database(copyIn(folder), { readwrite: true });
    db.query('UPDATE meta SET value = ? WHERE key = ?').run(damaged, key);
    db.close(true);
    const { tables, built } = openTables(folder);
    const table = await tables.current(sheet).catch((error: unknown) => `${damaged}: ${error}`);
    expect(table).toHaveProperty('head.rel', 'w.xlsx');
    expect(built).toHaveLength(1);
    await tables.close();
  }
}, 60_000);

function copyIn(folder: TemporaryFolder): string {
  const [name] = [...new Bun.Glob('*.sqlite').scanSync(folder.at('copies'))];
  return folder.at(`copies/${name}`);
}

function factsIn(path: string): Map<string, string> {
  const db = new Database(path, { readonly: true });
  const rows = db.query('SELECT key, value FROM meta').values() as [string, string][];
  db.close(true);
  return new Map(rows);
}

/** A JSON object with each of its names, numbers and digits wrong in turn, by one bit. */
function damagedTexts(text: string): string[] {
  return [...text.matchAll(/"\w+":|[0-9]+/g)].map(({ 0: found, index }) => {
    const at = index + Math.floor(found.length / 2);
    const isNumber = /^[0-9]+$/.test(found) && text[index - 1] !== '"';
    const wrong = isNumber ? '1' : String.fromCharCode(text.charCodeAt(at) ^ 0x40);
    return text.slice(0, at) + wrong + text.slice(at + 1);
  });
}

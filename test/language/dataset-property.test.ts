/**
 * A planned query over datasets, with lookups and joins, gives what the naive interpreter gives on the cells of the CSV file
 * (SL-40, SL-150): typed columns, blank and missing cells, names that stand twice. `SEED` repeats a run, `CASES` sets its
 * length.
 */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCsv } from '../../plugins/csv/reader.ts';
import { loadTable } from '../../src/tables/copy/load.ts';
import { parseQuery } from '../../src/language/syntax/parse.ts';
import { planPrefix } from '../../src/language/plan/plan.ts';
import { Problem } from '../../src/language/syntax/problem.ts';
import { createContext } from '../../src/language/plan/query-context.ts';
import { checkQuery, runQuery, type RunWatch } from '../../src/language/run/run.ts';
import { Schema } from '../../src/language/run/schema.ts';
import { datasetSource } from '../../src/language/sources/dataset.ts';
import type { Source } from '../../src/language/sources/source.ts';
import { jsonOf, type Row } from '../../src/language/expressions/value.ts';
import { writeMeta } from '../../src/tables/copy/table-meta.ts';
import { STRATEGY as TABLE_STRATEGY } from '../../src/tables/limits.ts';
import { lowered } from '../support/lowered.ts';
import { encoded } from '../plugins/csv-table.ts';
import { sourceOf } from '../plugins/byte-source.ts';
import { memorySource } from './fixture.ts';
import { DatasetQueries, HEADER, type RandomTable } from './random-dataset-query.ts';
import { randomFrom } from './random-query.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_122);
const CASES = Number(process.env['CASES'] ?? 400);
/** Tables change every so many queries. */
const PER_TABLES = 100;
const NOW = '2026-11-20T10:15:00.000000Z';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-datasets-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A dataset as a worker reads it, and as its file says. */
interface Pair {
  readonly db: Database;
  /** Made anew for each run: it learns which columns are used. */
  readonly planned: () => Source;
  /** From columns beside the copy; counts how often it was so. */
  readonly columnar: () => Source;
  readonly naive: () => Source;
}

async function pairOf(name: string, table: RandomTable, id: string): Promise<Pair> {
  const path = join(folder, `${id}-${name}.sqlite`);
  const { columns } = await loadTable({
    path,
    companion: null,
    read: (sink) => readCsv(sourceOf(encoded(table.csv)), { delimiter: ',' }, sink),
  });
  const names = columns.map((column) => column.name);
  expect([names[0], new Set(names).size]).toEqual(['k', HEADER.length]);
  const schema = new Schema([
    ...names.map((column) => ({ name: column, type: 'json' as const })),
    { name: '_row_id', type: 'int', isHidden: true },
  ]);
  const rows = table.rows.map((row, at): Row => [...row, at + 1]);
  const db = new Database(path);
  const order = { name, path, columns, blank: 'empty', sequence: 0 } as const;
  // As `loadTable` leaves it to others.
  writeState(db, rows.length);
  return {
    db,
    planned: () => datasetSource(db, order),
    columnar: () => {
      using _lowered = lowered(TABLE_STRATEGY, { columnsFromRows: 0 });
      return datasetSource(db, order, (isUsed) => void (byColumns += isUsed ? 1 : 0));
    },
    naive: () => memorySource(name, schema, rows),
  };
}

interface Run {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly notices: readonly string[];
  readonly problem: string | null;
}

let plannedInSql = 0;
let byColumns = 0;

function run(text: string, sources: Readonly<Record<string, Source>>, isPlanned: boolean): Run {
  const watch: RunWatch = {
    meter: { tick: () => {}, hold: () => {} },
    onRead: () => {},
    isOutermost: true,
    ...(isPlanned && {
      plan: (read) => {
        const prefix = planPrefix(read);
        if (prefix && prefix.stages > 1) plannedInSql++;
        return prefix;
      },
    }),
  };
  const { context, notices } = createContext({
    now: NOW,
    parameters: { n: 5 },
    implicitTerms: true,
    joinMaxRows: 1000,
    source: (name) => (name.kind === 'dataset' ? (sources[name.name] ?? null) : null),
    datasetNames: Object.keys(sources),
    readableIndexes: () => null,
    savedSearch: () => ({ kind: 'missing' }),
    extract: () => null,
    watch,
  });
  const query = parseQuery(text, { implicitTerms: true });
  try {
    checkQuery(query, context).useShown();
    const { schema, batches } = runQuery(query, context, watch);
    const { shown } = schema;
    return {
      rows: [...batches]
        .flat()
        .map((row) => shown.map(({ index }) => jsonOf(row[index] ?? null)).join('|')),
      columns: shown.map(({ column }) => `${column.name}:${column.type}`),
      notices,
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { rows: [], columns: [], notices: [], problem: JSON.stringify(error.told(text)) };
  }
}

/** What columns are made by. */
function writeState(db: Database, rows: number): void {
  db.run('CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID');
  const stamp = { size: 1, mtimeNs: '1', ctimeNs: '1', inode: '1' };
  writeMeta(db, 'state', {
    stamp,
    stampTakenAt: 0,
    hash: null,
    sequence: 0,
    rowCount: rows,
    lastRowId: rows,
    counts: [],
    forms: [],
    dialect: {},
  });
}

test(`planned and naive runs over datasets agree (seed ${SEED}, ${CASES} cases)`, async () => {
  const queries = new DatasetQueries(randomFrom(SEED));
  const figures = { withRows: 0, problems: 0, joins: 0 };
  for (let at = 0; at < CASES; at += PER_TABLES) {
    const tables = { d: queries.table(), e: queries.table() };
    using _batches = lowered(TABLE_STRATEGY, {
      columnBatchRows: queries.pick([1, 4, 1_000]),
      columnShare: 1_000,
    });
    const d = await pairOf('d', tables.d, String(at));
    const e = await pairOf('e', tables.e, String(at));
    for (let index = at; index < Math.min(CASES, at + PER_TABLES); index++) {
      const text = queries.query();
      const naive = run(text, { d: d.naive(), e: e.naive() }, false);
      const planned = run(text, { d: d.planned(), e: e.planned() }, true);
      const columnar = run(text, { d: d.columnar(), e: e.columnar() }, true);
      const told = { seed: SEED, index, text };
      if (JSON.stringify(columnar) !== JSON.stringify(naive))
        expect({ ...told, ...tables, ...columnar }).toEqual({ ...told, ...tables, ...naive });
      if (JSON.stringify(planned) !== JSON.stringify(naive))
        expect({ ...told, ...tables, ...planned }).toEqual({ ...told, ...tables, ...naive });
      if (naive.rows.length > 0) figures.withRows++;
      if (naive.problem !== null) figures.problems++;
      if (naive.rows.length > 0 && /\| (?:join|lookup|append)/.test(text)) figures.joins++;
    }
    for (const { db } of [d, e]) db.close();
  }
  // A property over queries that find nothing would prove little.
  expect(figures.withRows).toBeGreaterThan(CASES * 0.25);
  expect(figures.joins).toBeGreaterThan(CASES * 0.06);
  expect(figures.problems).toBeLessThan(CASES * 0.6);
  expect(plannedInSql).toBeGreaterThan(CASES * 0.02);
  expect(byColumns).toBeGreaterThan(CASES * 0.15);
}, 600_000);

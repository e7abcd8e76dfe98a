/** Typed copies of made-up rows, and what a search reads them through. */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { Datasets } from '../../src/fulltext/datasets.ts';
import { RowCopies } from '../../src/fulltext/row-copies.ts';
import type { TextSources } from '../../src/fulltext/rank.ts';
import type { RowTexts } from '../../src/tables/copy/copy-rows.ts';
import { initialiseMeta } from '../../src/tables/copy/table-meta.ts';
import { emptyCounts } from '../../src/tables/infer/infer.ts';

/** `name` is the copy's file name. */
export function writeCopy(
  folder: string,
  name: string,
  columns: readonly string[],
  rows: readonly RowTexts[],
): void {
  const db = new Database(join(folder, name), { create: true });
  db.run('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  db.run(`CREATE TABLE rows (_row_id INTEGER PRIMARY KEY, ${columns.map((_, n) => `c${n}`)})`);
  const insert = db.query(`INSERT INTO rows VALUES (?, ${columns.map(() => '?')})`);
  db.transaction(() => rows.forEach((row) => insert.run(...row)))();
  const forms = { formatted: 0, pointed: 0 } as never;
  initialiseMeta(
    db,
    {
      ...{
        format: 1,
        rel: name,
        sheet: null,
        numbering: undefined,
        generation: 'g',
        blank: 'empty',
        companion: '',
      },
      ...{ companionProblem: null, companionSchema: null, bodyOffset: 0, context: {} as never },
      columns: columns.map((column, position) => ({
        ...{ name: column, type: 'string', position, declared: false, extra: false },
        ...{ counts: emptyCounts(), forms },
      })),
    },
    {
      stamp: { size: 1, mtimeNs: '1', ctimeNs: '1', inode: '1' },
      ...{ stampTakenAt: 0, hash: null, sequence: 0, rowCount: rows.length, lastRowId: 0 },
      ...{ counts: [], forms: [], dialect: {} },
    },
  );
  db.close();
}

/** For searches without typing mistakes. Dispose of it. */
export function sourcesIn(folder: string): TextSources & Disposable {
  const copies = new RowCopies();
  return {
    catalogue: () => {
      throw new Error('nothing is to be guessed');
    },
    datasets: new Datasets(),
    copyAt: (name) => copies.at(folder, name),
    [Symbol.dispose]: () => copies.close(),
  };
}

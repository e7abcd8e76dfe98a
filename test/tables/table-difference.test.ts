/** Whatever others do to a file, its rows before are made again of those after (DS-254, DS-255). */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from 'bun:sqlite';
import { CopyFile } from '../../src/tables/copy/copy-file.ts';
import {
  initialiseMeta,
  type TableHead,
  type TableState,
} from '../../src/tables/copy/table-meta.ts';
import { pastJobs } from '../../src/tables/history/past-copy.ts';
import { differenceJobs, type TableDifference } from '../../src/tables/history/table-difference.ts';
import type { Column } from '../../src/tables/types.ts';
import { randomFrom } from '../language/random-query.ts';

type Row = [id: number, ...cells: (string | number | null)[]];

const counts = { integer: 0, number: 0, boolean: 0, string: 0 };
const forms = { forms: null, odd: 0, pointed: 0, formatted: 0, units: {} };
const columns: Column[] = ['a', 'b', 'c'].map((name, position) => ({
  name,
  position,
  type: 'string',
  declared: true,
  extra: false,
  counts,
  forms,
}));

async function copyOf(path: string, rows: readonly Row[], generation: string): Promise<void> {
  const file = new CopyFile(path, ['c0', 'c1', 'c2']);
  for (const [id, ...cells] of rows) {
    for (const cell of cells) file.add(cell);
    file.endRow(id);
  }
  await file.finish([]);
  const db = new Database(path, { readwrite: true });
  const head = {
    format: 12,
    rel: 't.csv',
    sheet: null,
    generation,
    blank: 'empty',
    companion: '',
    companionProblem: null,
    companionSchema: '{}',
    columns,
    bodyOffset: 0,
    context: { spellsNumbers: false },
  } as unknown as TableHead;
  const state = {
    stamp: { size: 1, mtimeNs: '1', ctimeNs: '1', inode: '1' },
    stampTakenAt: 1,
    hash: null,
    sequence: 0,
    rowCount: rows.length,
    lastRowId: rows.at(-1)?.[0] ?? 0,
    counts: columns.map(() => counts),
    forms: columns.map(() => forms),
    dialect: {},
  } as TableState;
  initialiseMeta(db, head, state);
  db.close();
}

function rowsIn(path: string): Row[] {
  const db = new Database(path, { readonly: true });
  try {
    return db.query('SELECT _row_id, c0, c1, c2 FROM rows ORDER BY _row_id').values() as Row[];
  } finally {
    db.close();
  }
}

const signal = new AbortController().signal;

test('of any rows before and after', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-difference-'));
  try {
    for (let round = 0; round < 60; round++) {
      const random = randomFrom(round + 1);
      const integer = (most: number): number => Math.floor(random() * most);
      const cell = (): string => `v${integer(round % 3 === 0 ? 4 : 400)}`;
      let id = 0;
      // Every other table has gaps in its ids.
      const before: Row[] = Array.from({ length: integer(30) }, () => [
        (id += 1 + (round % 2) * integer(2)),
        cell(),
        cell(),
        cell(),
      ]);
      const changed = before.map(([, ...cells]) => cells as (string | number | null)[]);
      for (let change = integer(6); change > 0; change--) {
        const at = integer(changed.length + 1);
        const kind = integer(4);
        if (kind === 0) changed.splice(at, 0, [cell(), cell(), cell()]);
        else if (kind === 1) changed.splice(at, 1 + integer(3));
        else if (kind === 2 && changed[at]) changed[at]![integer(3)] = cell();
        else if (kind === 3) changed.push(...changed.splice(at, 2));
      }
      const after = changed.map((cells, at): Row => [at + 1, ...cells]);
      const path = (name: string): string => join(folder, `${round}-${name}`);
      await copyOf(path('before'), before, 'one');
      await copyOf(path('after'), after, 'two');
      const order = {
        before: path('before'),
        after: path('after'),
        out: path('out'),
        maxBytes: 1e6,
      };
      const compared = await differenceJobs()['compare']!(order, signal);
      const found = (await compared.json()) as TableDifference;
      const past = await pastJobs()['past']!(
        {
          base: path('after'),
          generation: 'two',
          sequence: 0,
          parts: path('out'),
          steps: [
            {
              id: 1,
              mapBytes: found.kept!.mapBytes,
              pieces: found.kept!.pieces.map(({ bytes }) => bytes),
            },
          ],
          out: path('past'),
          name: 'past',
        },
        signal,
      );
      expect(await past.json()).toEqual({ isMade: true });
      expect({ round, rows: rowsIn(path('past')) }).toEqual({ round, rows: before });
      if (JSON.stringify(before.map(([, ...c]) => c)) === JSON.stringify(changed)) {
        expect(found.rowCount).toBe(0);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);

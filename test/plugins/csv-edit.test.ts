/** Edits of CSV files: DS-86, and what an edit must leave as it was. */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import type { Dialect } from '../../plugins/csv/dialect.ts';
import { editCsv } from '../../plugins/csv/editor.ts';
import { decodeText } from '../../plugins/csv/encoding.ts';
import { RowSpans } from '../../plugins/csv/tokenizer.ts';
import { classOf, emptyCounts } from '../../src/tables/infer/infer.ts';
import { MAX_CELL_CHARACTERS, MAX_COLUMNS } from '../../src/tables/limits.ts';
import type {
  Cell,
  ClassCounts,
  EditPlan,
  ReadOptions,
  TableChanges,
  TableLayout,
} from '../../src/tables/types.ts';
import {
  changesFor,
  changesForRows,
  edited,
  edits,
  fileBytes,
  type FileModel,
  files,
  segmentsOf,
  valuesOf,
} from './csv-edit-model.ts';
import { encoded, readTable } from './csv-table.ts';
import { applied, sourceOf } from './byte-source.ts';

function optionsOf(file: FileModel): ReadOptions {
  return {
    delimiter: file.delimiter,
    headerRow: file.above.length + 1,
    ...(file.encoding === 'latin1' ? { encoding: 'latin1' as const } : {}),
  };
}

/** What a reader finds in the new file must be what the plan and the model say. */
async function expectFreshRead(plan: EditPlan, bytes: Uint8Array, next: FileModel): Promise<void> {
  const fresh = await readTable(bytes, optionsOf(next));
  expect(fresh.rows).toEqual(valuesOf(next));
  expect(plan.layout.dialect).toEqual(fresh.layout.dialect);
  expect(plan.layout.bodyOffset).toBe(fresh.layout.bodyOffset);
  let offset = plan.layout.bodyOffset;
  for (const segment of plan.layout.segments) {
    const { encoding, delimiter } = plan.layout.dialect as unknown as Dialect;
    const text = decodeText(bytes.subarray(offset, offset + segment.bytes), encoding, offset);
    const spans = new RowSpans();
    const options = { delimiter: delimiter.charCodeAt(0), isFinal: true, stopAt: text.length };
    spans.scan(text, 0, options);
    expect([spans.state, spans.count]).toEqual(['stop', segment.rows]);
    offset += segment.bytes;
  }
  expect(offset).toBe(bytes.length);
}

/** Class counts by column position. */
function countsOf(rows: readonly (readonly string[])[]): ClassCounts[] {
  const counts: ClassCounts[] = Array.from({ length: 12 }, emptyCounts);
  for (const row of rows) row.forEach((cell, position) => addTo(counts, position, cell, 1));
  return counts;
}

function addTo(counts: ClassCounts[], position: number, cell: Cell, step: number): void {
  const found = classOf(cell);
  if (found !== 'blank') counts[position]![found] += step;
}

/** Where rows go after a segment that lost all of its own, among its blank lines, is left open. */
function endsWithRows({ segments }: TableLayout): boolean {
  return segments.length < 2 || segments.at(-1)!.rows > 0;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

test('an edit gives exactly the predicted bytes, whatever the file and the changes (DS-86)', async () => {
  const rounds = fc.array(edits, { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(
    files,
    rounds,
    fc.integer({ min: 1, max: 4 }),
    async (start, roundsOfEdits, segmentRows) => {
      let file = start;
      let bytes = fileBytes(file);
      const read = await readTable(bytes, optionsOf(file));
      expect(read.rows).toEqual(valuesOf(file));
      let layout: TableLayout = { ...read.layout, ...segmentsOf(file, segmentRows) };
      for (const round of roundsOfEdits) {
        const changes = changesFor(file, round);
        const plan = await editCsv(sourceOf(bytes), layout, changes);
        const next = edited(file, changes);
        const nextBytes = applied(plan, bytes);
        const isExact = changes.creates.length === 0 || endsWithRows(layout);
        if (!isExact) {
          expect((await readTable(nextBytes, optionsOf(next))).rows).toEqual(valuesOf(next));
          return;
        }
        expect(latin1(nextBytes)).toBe(latin1(fileBytes(next)));
        await expectFreshRead(plan, nextBytes, next);
        const counts = countsOf(valuesOf(file));
        for (const { position, before, after } of plan.cells) {
          if (before !== undefined) addTo(counts, position, before, -1);
          if (after !== undefined) addTo(counts, position, after, 1);
        }
        expect(counts).toEqual(countsOf(valuesOf(next)));
        [file, bytes, layout] = [next, nextBytes, plan.layout];
      }
    },
  );
  await fc.assert(property, { numRuns: 400 });
});

/** The text of a UTF-8 file after changes. */
async function edit(
  text: string,
  changes: Partial<TableChanges>,
  options: ReadOptions = {},
): Promise<string> {
  const bytes = encoded(text);
  const { layout } = await readTable(bytes, options);
  const plan = await editCsv(sourceOf(bytes), layout, {
    updates: new Map(),
    deletes: new Set(),
    creates: [],
    ...changes,
  });
  return Buffer.from(applied(plan, bytes)).toString();
}

function cells(...entries: [number, Cell][]): ReadonlyMap<number, Cell> {
  return new Map(entries);
}

function update(row: number, ...entries: [number, Cell][]): Partial<TableChanges> {
  return { updates: new Map([[row, cells(...entries)]]) };
}

function create(...entries: [number, Cell][]): Partial<TableChanges> {
  return { creates: [cells(...entries)] };
}

function remove(...rows: number[]): Partial<TableChanges> {
  return { deletes: new Set(rows) };
}

test.each<[string, string, Partial<TableChanges>, string]>([
  [
    'only the touched cell changes',
    'a,b,c\n 1 ,"x",2.50\n',
    update(0, [0, 7]),
    'a,b,c\n7,"x",2.50\n',
  ],
  ['a quoted cell stays quoted', 'a,b\n"x",1\n', update(0, [0, 'y']), 'a,b\n"y",1\n'],
  ['a quoted cell made blank too', 'a,b\n"x",1\n', update(0, [0, null]), 'a,b\n"",1\n'],
  ['quotes where necessary', 'a,b\n1,2\n', update(0, [0, 'x,"y"\n']), 'a,b\n"x,""y""\n",2\n'],
  ['outer spaces need no quotes', 'a,b\n1,2\n', update(0, [0, ' x ']), 'a,b\n x ,2\n'],
  ['numbers as their shortest text', 'a,b\n1,2\n', update(0, [0, 1e21], [1, -0]), 'a,b\n1e+21,0\n'],
  ['a row of no bytes is written ""', 'a\nx\n', update(0, [0, '']), 'a\n""\n'],
  ['a blank row of one column too', 'a\nx\n', create(), 'a\nx\n""\n'],
  ['a blank row of several columns is delimiters', 'a,b,c\n', create(), 'a,b,c\n,,\n'],
  [
    'a short row grows to the written cell',
    'a,b,c\n1\n2,3\n',
    update(0, [2, 'x']),
    'a,b,c\n1,,x\n2,3\n',
  ],
  ['blank past the end grows nothing', 'a,b,c\n1\n', update(0, [1, ''], [2, null]), 'a,b,c\n1\n'],
  ['a column_N cell extends only its row', 'a\n1\n2\n', update(1, [2, 'x']), 'a\n1\n2,,x\n'],
  [
    'a new row takes the prevailing line end',
    'a\r\n1\r\n2\n',
    create([0, 3]),
    'a\r\n1\r\n2\n3\r\n',
  ],
  ['CR is a line end like others', 'a\r1\r', create([0, 2]), 'a\r1\r2\r'],
  ['a missing final line end stays missing', 'a\n1', create([0, 2]), 'a\n1\n2'],
  ['after a header alone too', 'a,b', create([1, 2]), 'a,b\n,2'],
  ['after a header with its line end', 'a,b\r\n', create([1, 2]), 'a,b\r\n,2\r\n'],
  ['new rows stand before blank lines at the end', 'a\n1\n\n\n', create([0, 2]), 'a\n1\n2\n\n\n'],
  ['a deleted row goes with its line end', 'a\n1\r\n2\n', remove(0), 'a\n2\n'],
  ['blank lines stay', 'a\n\n1\n\n2\n\n', remove(0), 'a\n\n\n2\n\n'],
  ['the last row without line end takes the one before', 'a\n1\r\n2', remove(1), 'a\n1'],
  ['also when it is the only one', 'a\n1', remove(0), 'a'],
  ['also when several go', 'a\n1\n2\n3', remove(1, 2), 'a\n1'],
  ['unless a new row follows', 'a\n1\n2', { ...remove(1), ...create([0, 3]) }, 'a\n1\n3'],
  ['a byte order mark stays', '\uFEFFa\n1\n', remove(0), '\uFEFFa\n'],
])('%s: %j (DS-86)', async (_, before, changes, after) => {
  expect(await edit(before, changes)).toBe(after);
});

test('booleans follow the prevailing spelling of their column (DS-86)', async () => {
  const text = 'a,b,c,d\nTRUE,true,x,1\nFALSE,False,y,2\nfalse, True,z,3\n';
  const all = cells([0, true], [1, false], [2, true], [3, true]);
  expect(await edit(text, { creates: [all] })).toBe(`${text}TRUE,False,true,true\n`);
});

test('the prevailing spelling and line end follow the edits', async () => {
  const bytes = encoded('a\nTRUE\nTRUE\ntrue\r\n');
  const first = await editCsv(sourceOf(bytes), (await readTable(bytes)).layout, {
    updates: new Map([[0, cells([0, 'x'])]]),
    deletes: new Set([1]),
    creates: [],
  });
  const changed = applied(first, bytes);
  const second = await editCsv(sourceOf(changed), first.layout, {
    updates: new Map(),
    deletes: new Set([0]),
    creates: [cells([0, false])],
  });
  expect(Buffer.from(applied(second, changed)).toString()).toBe('a\ntrue\r\nfalse\n');
});

test('rows above the header, and options, hold for edits (DS-72, DS-86)', async () => {
  const text = 'Report, "2024\n\na;b\n1;2\n';
  const options = { headerRow: 3, delimiter: ';' } as const;
  expect(await edit(text, update(0, [1, 'x,y;z']), options)).toBe(
    'Report, "2024\n\na;b\n1;"x,y;z"\n',
  );
});

test('new cells are quoted where they would change the guess of the delimiter', async () => {
  const creates = ['x;y', 'z;w', 'p;q'].map((text) => cells([0, text]));
  const after = await edit('name\nBob\n', { creates });
  expect(after).toBe('name\nBob\n"x;y"\n"z;w"\n"p;q"\n');
  expect((await readTable(after)).rows.at(-1)).toEqual(['p;q']);
  expect(await edit('a,b\n1,2\n', create([0, 'x;y']))).toBe('a,b\n1,2\nx;y,\n');
});

test('text that the encoding cannot hold is refused and names the character', async () => {
  const bytes = encoded('a\n\u00e9\n', 'latin1');
  const { layout } = await readTable(bytes, { encoding: 'latin1' });
  const write = (text: string) =>
    editCsv(sourceOf(bytes), layout, {
      updates: new Map(),
      deletes: new Set(),
      creates: [cells([0, text])],
    });
  await expect(write('5 €')).rejects.toMatchObject({
    code: 'schema-mismatch',
    message:
      "Schema validation failed: the file's encoding latin1 cannot hold the character € (U+20AC)",
  });
  expect(Buffer.from(applied(await write('ÿ'), bytes)).toString('latin1')).toBe(
    'a\n\u00e9\n\u00ff\n',
  );
});

test.each<[string, Cell]>([
  ['NUL', 'a\0b'],
  ['a lone surrogate', 'x\ud800'],
  ['more characters than a cell may have', 'x'.repeat(MAX_CELL_CHARACTERS + 1)],
])('%s is refused, because it could not be read again', async (_, cell) => {
  await expect(edit('a\n1\n', create([0, cell]))).rejects.toMatchObject({
    code: 'schema-mismatch',
  });
});

test('a column beyond the limit, or rows under no header, are refused', async () => {
  const code = 'schema-mismatch';
  await expect(edit('a\n1\n', update(0, [MAX_COLUMNS, 'x']))).rejects.toMatchObject({ code });
  await expect(edit('', create())).rejects.toMatchObject({ code });
});

test('a file that is not the one of the layout is a conflict', async () => {
  const { layout } = await readTable('a\n1\n2\n');
  const changes = {
    updates: new Map([[0, cells([0, 'x'])]]),
    deletes: new Set<number>(),
    creates: [],
  };
  for (const other of ['a\n1\n2\n3\n', 'a\n1\n2\xff', 'a\n"1\n2', 'a\n1234']) {
    const source = sourceOf(Buffer.from(other, 'latin1'));
    await expect(editCsv(source, layout, changes)).rejects.toMatchObject({ code: 'conflict' });
  }
});

test('an edit of a large file reads one segment and keeps the rest by reference', async () => {
  const bytes = encoded(`a,b\n${'12345,abcdefgh\n'.repeat(200_000)}`);
  const { layout } = await readTable(bytes);
  const source = sourceOf(bytes);
  const plan = await editCsv(source, layout, {
    updates: new Map([[100_000, cells([0, 9])]]),
    deletes: new Set(),
    creates: [],
  });
  expect(source.readBytes).toBeLessThan(70_000);
  expect(plan.pieces).toHaveLength(3);
  const written = plan.pieces.filter((piece) => piece instanceof Uint8Array);
  expect(written.map((piece) => Buffer.from(piece).toString())).toEqual(['9,abcdefgh']);
});

test('many new rows make new segments at the end and leave the others as they are', async () => {
  const bytes = encoded(`a,b\n${'12345,abcdefgh\n'.repeat(5_000)}\n\n`);
  const { layout } = await readTable(bytes);
  const creates = Array.from({ length: 20_000 }, (_, row) => cells([0, row], [1, 'x,y']));
  const plan = await editCsv(sourceOf(bytes), layout, {
    updates: new Map(),
    deletes: new Set(),
    creates,
  });
  const old = layout.segments.length;
  expect(plan.layout.segments.slice(0, old - 1)).toEqual(layout.segments.slice(0, old - 1));
  expect(plan.layout.segments.length).toBeGreaterThan(old + 3);
  for (const { bytes: size } of plan.layout.segments) expect(size).toBeLessThan(40_000);
  const after = applied(plan, bytes);
  const { rows } = await readTable(after);
  expect(rows).toHaveLength(25_000);
  expect(rows.at(-1)).toEqual(['19999', 'x,y']);
  expect(Buffer.from(after).toString().endsWith('"x,y"\n\n\n')).toBe(true);
});

test('whatever bytes could be read, an edit of them reads back as the model says', async () => {
  const parts = fc.constantFrom('a', '12', ',', ',', '"', '""', '\n', '\n', '\r', '\r\n', ' ', 'é');
  const texts = fc.array(parts, { maxLength: 40 }).map((all) => `h,i\n${all.join('')}`);
  const property = fc.asyncProperty(texts, edits, async (text, list) => {
    const bytes = encoded(text);
    const read = await readTable(bytes, { delimiter: ',' }).catch(() => null);
    if (!read) return;
    const expected = read.rows.map((row) => [...row]) as (string[] | null)[];
    const changes = changesForRows(expected.length, list);
    for (const [row, values] of changes.updates) expected[row] = written(expected[row]!, values);
    for (const row of changes.deletes) expected[row] = null;
    for (const values of changes.creates) expected.push(written(['', ''], values));
    const plan = await editCsv(sourceOf(bytes), read.layout, changes);
    const after = await readTable(applied(plan, bytes), { delimiter: ',' });
    expect(after.rows).toEqual(expected.filter((row) => row !== null));
    expect(after.names).toEqual(read.names);
  });
  await fc.assert(property, { numRuns: 2_000 });
});

function written(row: readonly string[], values: ReadonlyMap<number, Cell>): string[] {
  const result = [...row];
  for (const [position, cell] of [...values].sort((a, b) => a[0] - b[0])) {
    const text = cell === null ? '' : cell === -0 ? '0' : String(cell);
    if (position >= result.length && text === '') continue;
    while (result.length <= position) result.push('');
    result[position] = text;
  }
  return result;
}

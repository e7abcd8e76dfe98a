/** Edits of JSON lists and lines: what an edit must leave as it was (DS-86). */
import { expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { editJson } from '../../plugins/json/editor.ts';
import { readJson } from '../../plugins/json/reader.ts';
import type { Cell, ColumnSink, Segment, TableLayout } from '../../src/tables/types.ts';
import { cases } from '../support/long.ts';
import { applied, sourceOf } from './byte-source.ts';

interface Read {
  readonly names: readonly string[];
  readonly rows: Cell[][];
  readonly layout: TableLayout;
}

async function read(bytes: Uint8Array, extension: string): Promise<Read> {
  let names: readonly string[] = [];
  let layout = { dialect: {}, bodyOffset: 0 };
  const rows: Cell[][] = [];
  const segments: Segment[] = [];
  const sink: ColumnSink = {
    header: (found) => void (names = found),
    segment: (segment, found) => {
      expect(found.length).toBe(segment.rows);
      segments.push(segment);
      rows.push(...(found as Cell[][]));
    },
    segmentByColumn: () => expect.unreachable(),
    layout: (dialect, bodyOffset) => void (layout = { dialect, bodyOffset }),
  };
  await readJson(sourceOf(bytes), { extension }, sink);
  return { names, rows, layout: { ...layout, segments } };
}

const value = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.string({ unit: 'binary' }).map((text) => text.toWellFormed().replaceAll('\0', '')),
  fc.constantFrom('5', 'true', '}', ']', ',', '"', '\\', 'ä😀'),
);
type Row = Record<string, unknown>;
const row: fc.Arbitrary<Row> = fc
  .tuple(value, value, fc.boolean())
  .map(([a, ä, hasBoth]) => ({ id: 1, ...(hasBoth ? { a, ä } : { ä }) }));
/** Many rows make several segments. */
const rows = fc.tuple(fc.array(row, { minLength: 1, maxLength: 6 }), fc.constantFrom(1, 1, 700));

const style = fc.record({
  isList: fc.boolean(),
  indent: fc.constantFrom(0, 2, '\t'),
  isClosed: fc.boolean(),
  hasMark: fc.boolean(),
  lineEnd: fc.constantFrom('\n', '\r\n'),
});
type Style = typeof style extends fc.Arbitrary<infer S> ? S : never;

function written(
  list: readonly Row[],
  { isList, indent, isClosed, hasMark, lineEnd }: Style,
): string {
  const mark = hasMark ? '\ufeff' : '';
  const end = isClosed ? lineEnd : '';
  if (isList) return mark + JSON.stringify(list, null, indent).replaceAll('\n', lineEnd) + end;
  return mark + list.map((one) => JSON.stringify(one)).join(lineEnd) + end;
}

function parsed(text: string, { isList }: Style): Row[] {
  const plain = text.replace(/^\ufeff/, '');
  if (isList) return JSON.parse(plain) as Row[];
  return plain.split(/\r?\n/).flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]));
}

const change = fc.tuple(fc.nat(), fc.constantFrom('update', 'delete'), value);

test('an edit gives the rows it should, and leaves all others as they are written', async () => {
  await fc.assert(
    fc.asyncProperty(
      ...([
        rows,
        style,
        fc.array(change, { maxLength: 5 }),
        fc.array(value, { maxLength: 2 }),
      ] as const),
      async ([some, times], how, changes, created) => {
        const list = Array.from({ length: times }, () => some).flat();
        const bytes = Buffer.from(written(list, how));
        const before = await read(bytes, how.isList ? '.json' : '.ndjson');
        expect(before.rows).toHaveLength(list.length);
        const position = before.names.indexOf('ä');
        const next: (Row | null)[] = list.map((one) => ({ ...one }));
        const updates = new Map<number, Map<number, Cell>>();
        const deletes = new Set<number>();
        for (const [at, action, to] of changes) {
          const index = at % list.length;
          if (next[index] === null) continue;
          if (action === 'delete') {
            next[index] = null;
            deletes.add(index);
            updates.delete(index);
          } else {
            updates.set(index, new Map([[position, to as Cell]]));
            next[index]!['ä'] = to;
          }
        }
        const creates = created.map((to) => new Map([[position, to as Cell]]));
        const plan = await editJson(sourceOf(bytes), before.layout, { updates, deletes, creates });
        const file = applied(plan, bytes);
        const kept = next.filter((one) => one !== null);
        const found = parsed(file.toString(), how);
        expect(found.slice(0, kept.length).map(loose)).toEqual(kept.map(loose));
        expect(found.slice(kept.length).map((one) => loose(one)['ä'])).toEqual(
          created.map((to) => loose({ ä: to })['ä']),
        );
        // With one style throughout, the file is as if it had been written so at once. One line tells no line end.
        const isKnown = how.isList || how.isClosed || list.length > 1;
        if (isKnown && found.length > 0) expect(file.toString()).toBe(written(found, how));
        const fresh = await read(file, how.isList ? '.json' : '.ndjson').catch(() => null);
        if (found.length === 0 || fresh === null) return;
        const { segments, bodyOffset, dialect } = plan.layout;
        const end = segments.reduce((sum, segment) => sum + segment.bytes, bodyOffset);
        expect(end + (dialect as { tail: number }).tail).toBe(file.length);
        expect(segments.reduce((sum, segment) => sum + segment.rows, 0)).toBe(found.length);
        expect({ ...dialect, keys: [], types: [] }).toEqual({
          ...fresh.layout.dialect,
          keys: [],
          types: [],
        });
      },
    ),
    { numRuns: cases(300) },
  );
}, 60_000);

/** A text in the spelling of a number may take the place of one as a number. */
function loose(one: Row): Row {
  return Object.fromEntries(
    Object.entries(one).map(([key, each]) => [key, each === null ? null : String(each)]),
  );
}

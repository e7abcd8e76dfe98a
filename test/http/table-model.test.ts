/**
 * Random tables, filters, sorts and pages over HTTP against a naive model (DS-36 to DS-60).
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { address, get, list, listNoticed, walk } from './listing.ts';
import type { Listing, Query } from './listing.ts';
import { seeded } from './seed.ts';
import { sharedService } from './shared-service.ts';
import { modelRows, modelTable } from './table-model.ts';
import type { ModelTable, ModelType } from './table-model.ts';

const shared = sharedService();

const NAMES = ['a', 'b', '10', '2', 'x y', '-n'];

/** Texts of each type that meet often, and what must not be taken for them. */
const TEXTS: Record<ModelType, readonly string[]> = {
  integer: ['0', '1', '5', '-3', '10', ' 7 ', '-0', '2147483648', '9007199254740991'],
  number: ['0', '1', '1.5', '-0.25', '2.0', '1e2', '1E-3', '10', '-3', '123456.789'],
  boolean: ['true', 'false', 'TRUE', 'False', ' true '],
  string: [
    'a',
    'A',
    'ab',
    'abc',
    'B',
    'é',
    'É',
    'z',
    '😀',
    '\uffee',
    '"q"',
    'a,b',
    'two\nlines',
    'cr\rlf',
    ' a',
    'a ',
    '10',
    '007',
    '1.5',
    'true',
    '%',
    '_',
    '\\',
    "'",
    '0x10',
    '+5',
    '\t',
    'x;y|z',
  ],
};

const cellOf = (type: ModelType): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...TEXTS[type]) },
    { weight: 2, arbitrary: fc.constantFrom('', '', '  ') },
  );

interface Sketch {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly layout: {
    readonly delimiter: string;
    readonly ending: string;
    readonly mark: string;
    readonly isLastEnded: boolean;
  };
}

const types = fc.constantFrom<ModelType>('integer', 'number', 'boolean', 'string');

const sketches: fc.Arbitrary<Sketch> = fc
  .array(types, { minLength: 2, maxLength: 4 })
  .chain((columns) =>
    fc.record({
      names: fc.shuffledSubarray(NAMES, { minLength: columns.length, maxLength: columns.length }),
      rows: fc.array(fc.tuple(...columns.map(cellOf)), { maxLength: 14 }),
      layout: fc.record({
        delimiter: fc.constantFrom(',', ';', '\t', '|'),
        ending: fc.constantFrom('\n', '\r\n', '\r'),
        mark: fc.constantFrom('', '\ufeff'),
        isLastEnded: fc.boolean(),
      }),
    }),
  );

/** The file; every text is quoted, so that the delimiter stands between cells only. */
function csvOf({ names, rows, layout }: Sketch): string {
  const { delimiter, ending, mark, isLastEnded } = layout;
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = [names, ...rows].map((cells) => cells.map(quoted).join(delimiter));
  return mark + lines.join(ending) + (isLastEnded ? ending : '');
}

/** Operands that a column of the type takes. */
function operandFor(type: ModelType, isRange: boolean): fc.Arbitrary<unknown> {
  const blank = isRange ? [] : [fc.constantFrom<unknown>('', null)];
  switch (type) {
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.constantFrom<unknown>(
          0,
          1,
          5,
          -3,
          10,
          7,
          1.5,
          2,
          100,
          0.001,
          '1',
          ' 5 ',
          '1.50',
          '1e2',
          9007199254740991,
        ),
        ...blank,
      );
    case 'boolean':
      return fc.oneof(
        fc.constantFrom<unknown>(true, false, 0, 1, 'yes', 'NO', 'True', '0'),
        ...blank,
      );
    default:
      return isRange
        ? fc.constantFrom<unknown>(...TEXTS.string, '')
        : fc.oneof(fc.constantFrom<unknown>(...TEXTS.string, 10, true), ...blank);
  }
}

const PATTERNS = ['', '^$', '^a', 'b$', '[0-9]+', '^.$', '[^a-z]', 'x|1', '^-', 'e$', '(a|b)+'];

function testFor(type: ModelType): fc.Arbitrary<Record<string, unknown>> {
  const one = (operators: string[], operand: fc.Arbitrary<unknown>) =>
    fc
      .tuple(fc.constantFrom(...operators), operand)
      .map(([operator, value]) => ({ [operator]: value }));
  return fc.oneof(
    one(['$eq', '$ne'], operandFor(type, false)),
    one(['$gt', '$gte', '$lt', '$lte'], operandFor(type, true)),
    one(['$in', '$nin'], fc.array(operandFor(type, false), { maxLength: 4 })),
    one(
      ['$contains', '$icontains', '$startswith', '$endswith'],
      fc.constantFrom('', 'a', 'A', '1', '.', 'e', '-', ' ', '%', '_', '\\'),
    ),
    one(['$regex'], fc.constantFrom(...PATTERNS)),
    one(['$null'], fc.boolean()),
  );
}

function filtersFor({ columns }: ModelTable): fc.Arbitrary<object> {
  const test = fc.constantFrom(...columns).chain(({ name, type }) =>
    fc
      .tuple(fc.array(testFor(type), { minLength: 1, maxLength: 2 }), fc.boolean())
      .map(([tests, isNegated]) => {
        const operators = Object.assign({}, ...tests) as object;
        return { [name]: isNegated ? { $not: operators } : operators };
      }),
  );
  const some = fc.array(test, { maxLength: 3 });
  return fc.oneof(
    test,
    fc
      .array(test, { minLength: 2, maxLength: 2 })
      .map((tests) => Object.assign({}, ...tests) as object),
    fc.tuple(fc.constantFrom('$and', '$or'), some).map(([key, tests]) => ({ [key]: tests })),
    fc.tuple(test, some).map(([own, tests]) => ({ ...own, $or: tests })),
    fc.tuple(some, test).map(([tests, own]) => ({ $not: { $or: tests, $and: [own] } })),
  );
}

const sortsFor = ({ columns }: ModelTable) =>
  fc.array(
    fc.record({
      column: fc.constantFrom(...columns.map(({ name }) => name)),
      descending: fc.boolean(),
    }),
    { maxLength: 3 },
  );

const tableOf = ({ names, rows }: Sketch): ModelTable => modelTable(names, rows);

const cases = sketches.chain((sketch) =>
  fc.record({
    sketch: fc.constant(sketch),
    questions: fc.array(
      fc.record({
        filter: fc.option(filtersFor(tableOf(sketch)), { nil: undefined }),
        sort: sortsFor(tableOf(sketch)),
        offset: fc.constantFrom(0, 0, 1, 3, 20),
        limit: fc.constantFrom(1, 2, 3, 5, 100),
      }),
      { minLength: 3, maxLength: 3 },
    ),
  }),
);

let run = 0;

test('every list is what the model says: rows, order, types, total, page and walk', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ sketch, questions }) => {
      const table = tableOf(sketch);
      const name = `table ${++run % 5}`;
      shared.service.write(`${name}.csv`, csvOf(sketch));
      const whole = await listNoticed(shared.reader, name);
      expect(whole.rows).toEqual([...table.rows]);
      expect(keysOf(whole)).toEqual(whole.rows.length === 0 ? [] : ['_row_id', ...sketch.names]);
      const { columns } = (await get(shared.reader, address(name, {}, 'schema'))).body as {
        columns: Record<string, { type: string }>;
      };
      for (const { name: column, type } of table.columns.slice(1)) {
        expect({ column, type: columns[column]!.type }).toEqual({ column, type });
      }
      for (const { filter, sort, offset, limit } of questions) {
        const { all, page } = modelRows(table, { filter, sort, offset, limit });
        const query: Query = { filter, sort: sortText(sort), offset, limit };
        const answer = await list(shared.reader, name, query);
        expect({ status: answer.status, rows: answer.rows }).toEqual({ status: 200, rows: page });
        expect(answer.total).toBe(all.length);
        expect(answer.next !== null).toBe(offset + limit < all.length);
        const pages = await walk(shared.reader, address(name, query));
        expect(pages.flatMap(({ rows }) => rows)).toEqual(all.slice(offset));
      }
    }),
    seeded('lists against the model', 120),
  );
});

function sortText(sort: readonly { column: string; descending: boolean }[]): string {
  // Quoted, so that a name that begins with - is no descending one.
  return sort.map(({ column, descending }) => `${descending ? '-' : ''}"${column}"`).join(',');
}

/** Names of the first row as they stand in the text. */
function keysOf({ text }: Listing): string[] {
  const first = /^\[(\{.*?\})(?:,\{"_row_id"|\]$)/.exec(text)?.[1] ?? '{}';
  return [...first.matchAll(/(?<=[{,])"((?:[^"\\]|\\.)*)":/g)].map(([, name]) => name!);
}

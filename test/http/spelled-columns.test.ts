/**
 * Dates and numbers as files spell them: the tables of DS-212 and DS-213 row by row, read, filtered and sorted.
 */
import { describe, expect, test } from 'bun:test';
import { address, columnOf, get, idsOf, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

/** Values of a column, the delimiter of their file, and what they are. */
interface DateCase {
  readonly values: readonly string[];
  readonly format: 'date' | 'date-time' | null;
  /** Row ids in ascending order; descending has the same blanks last. */
  readonly order?: readonly number[];
  readonly blanks?: number;
}

const DATES: readonly DateCase[] = [
  { values: ['2024-01-01 00:02:56', '2023-12-31 23:00'], format: 'date-time', order: [2, 1] },
  {
    values: ['2024-01-01T00:02:56Z', '2024-01-01T01:00:00+01:00'],
    format: 'date-time',
    order: [2, 1],
  },
  {
    values: ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.500Z'],
    format: 'date-time',
    order: [1, 2],
  },
  { values: ['2024-01-31', '', '2023-12-31'], format: 'date', order: [3, 1, 2], blanks: 1 },
  { values: ['31.12.2023', '1.2.2024'], format: 'date', order: [1, 2] },
  { values: ['01/03/2024', '13/02/2024'], format: 'date', order: [2, 1] },
  { values: ['01/02/2024', '03/04/2024'], format: null },
  { values: ['5-Jan-2024 3:04 PM', '5-Jan-2024 11:00 AM'], format: 'date-time', order: [2, 1] },
  { values: ['2024-01-01', 'n/a'], format: null },
  { values: ['2024-01-01T10:00Z', '2024-01-02 11:00'], format: null },
  { values: ['0000-00-00'], format: null },
  { values: ['2024-05'], format: null },
  { values: ['10:30'], format: null },
  // Not in the table, but in the text above it.
  { values: ['12/31/2023', '1/2/2024'], format: 'date', order: [1, 2] },
  { values: ['13/01/2024', '01/13/2024'], format: null },
  { values: ['2024/01/02', '2023/12/31'], format: 'date', order: [2, 1] },
  { values: ['2024/01/02', '2023-12-31'], format: null },
  { values: ['2024.01.02 ', ' 2023.12.31'], format: 'date', order: [2, 1] },
  { values: ['2024-02-01', ' 2024-03-01 ', '2024-01-01  '], format: 'date', order: [3, 1, 2] },
  { values: [' 2024-3-5', '2024-1-31 ', '2024-01-1 '], format: 'date', order: [3, 2, 1] },
  { values: ['Jan 5, 2024', 'dec 31, 2023', 'MARCH 1, 2022'], format: 'date', order: [3, 2, 1] },
  { values: ['5 January 2024', '31 Dec 2023'], format: 'date', order: [2, 1] },
  { values: ['2024-02-29', '2023-02-29'], format: null },
  { values: ['31.04.2024'], format: null },
  { values: ['01.02.24'], format: null },
  { values: ['2024-01-01 24:00'], format: null },
  { values: ['2024-01-01 13:00 PM'], format: null },
  { values: ['2024-01-01 12:00AM', '2024-01-01 12:00PM'], format: 'date-time', order: [1, 2] },
  {
    values: ['2024-01-01 00:00:00,5 +0130', '2023-12-31 22:30:00 UTC'],
    format: 'date-time',
    order: [1, 2].toReversed(),
  },
  { values: ['2024-01-01T10:00:00Z', '2024-01-01'], format: null },
  { values: ['2024-01-01 10:00', '2024-01-01'], format: 'date-time', order: [2, 1] },
  {
    values: ['9999-12-31T23:00:00-05:00', '9999-12-31T23:00:00Z'],
    format: 'date-time',
    order: [2, 1],
  },
  {
    values: ['0001-01-01T01:00:00+05:00', '0001-01-01T00:00:00Z'],
    format: 'date-time',
    order: [1, 2],
  },
  { values: ['2024-01-01T10:00:00z', '2024-01-01T10:00:00Z'], format: null },
];

interface NumberCase {
  readonly file: ';' | ',' | '\t';
  readonly values: readonly string[];
  readonly type: 'integer' | 'number' | 'string';
  readonly read?: readonly (number | string)[];
}

const any = (values: readonly string[], type: NumberCase['type'], read?: NumberCase['read']) =>
  ([';', ',', '\t'] as const).map((file) => ({ file, values, type, read }) as NumberCase);

const NUMBERS: readonly NumberCase[] = [
  { file: ';', values: ['7,50', '12,00'], type: 'number', read: [7.5, 12] },
  { file: ';', values: ['7,5', '12', '-0,25'], type: 'number', read: [7.5, 12, -0.25] },
  ...any(['1.234,50', '7,00'], 'number', [1234.5, 7]),
  ...any(['1.020.300', '1.234'], 'integer', [1020300, 1234]),
  { file: ',', values: ['1,234.50', '99.00'], type: 'number', read: [1234.5, 99] },
  ...any(["1'234", "56'789"], 'integer', [1234, 56789]),
  ...any(['1\u00a0234', '56\u00a0789'], 'integer', [1234, 56789]),
  ...any(['1\u202f234,5', '-6'], 'number', [1234.5, -6]),
  ...any(['1.234', '2.500'], 'number', [1.234, 2.5]),
  ...any(['1,234', '56,789'], 'string'),
  { file: ',', values: ['1,5', '2,5'], type: 'string' },
  { file: '\t', values: ['1,5', '2,5'], type: 'string' },
  ...['12 %', '7,50 €', '$5', '+5,0', '5,00-', '007,5'].flatMap((value) => any([value], 'string')),
  ...any(['1.234,5', '1234,5'], 'string'),
  // Not in the table, but in the rules above it.
  ...any(['1 234', '56 789'], 'string'),
  ...any(['1 234,50', '56 789'], 'number', [1234.5, 56789]),
  ...any(['1.234', '2.345.678'], 'string'),
  ...any(['192.168.100.200', '10.212.100.200'], 'string'),
  { file: ';', values: ['1,5', 'true'], type: 'string' },
  { file: ';', values: ['1,5e3', '2'], type: 'number', read: [1500, 2] },
  { file: ';', values: ['1,5', '9007199254740993'], type: 'string' },
  { file: ';', values: [' 1,5 ', '', '2,25'], type: 'number', read: [1.5, '', 2.25] },
];

function csv(values: readonly string[], delimiter: string): string {
  const quoted = (text: string) =>
    /[",;\t|]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const rows = values.map((value, index) => `${quoted(value)}${delimiter}x${index}`);
  return `${['v', 'w'].join(delimiter)}\n${rows.join('\n')}\n`;
}

const shared = sharedService({
  files: {
    ...Object.fromEntries(DATES.map(({ values }, at) => [`d${at}.csv`, csv(values, ';')])),
    ...Object.fromEntries(NUMBERS.map(({ values, file }, at) => [`n${at}.csv`, csv(values, file)])),
    'spaced.csv': 'day\n" 2024-01-31 "\n2024-02-01\n" 2024-2-3 "\n',
    'bare.csv': 'v;w\n20240131;x\n',
    'beside.csv': 'a;b;c;d\n7,5;1.234;1.5;12\n8,25;2.500;2.500;1.234\n',
    'plain.csv': 'day;at\n2024-01-31;2024-01-31 10:00:00\n2023-06-01;2024-02-01 00:00:00\n;\n',
    'german.csv': 'day;sum\n31.12.2023;1.234,50\n1.2.2024;7,00\n;\n',
    'declared.csv':
      'd,n,s\n2024-01-05,"1,5",2024-01-01\n03.01.2024,"2,5",2024-01-02\nsoon,3,\n,,\n',
    '.svc/declared.csv.schema.json':
      '{"columns":{"d":{"type":"string","format":"date"},"n":{"type":"number"},"s":{"type":"string"}}}',
  },
});

const columnsOf = async (name: string) => {
  const { body } = await get(shared.reader, address(name, {}, 'schema'));
  return (body as { columns: Record<string, { type: string; format?: string }> }).columns;
};
const sorted = async (name: string, sort: string) =>
  idsOf((await list(shared.reader, name, { sort })).rows);

describe('dates (DS-212)', () => {
  test.each(DATES.map((one, at) => [one.values.join(' · '), at, one] as const))(
    '%s',
    async (_, at, { values, format, order, blanks = 0 }) => {
      const name = `d${at}`;
      expect((await columnsOf(name))['v']).toEqual({ type: 'string', ...(format && { format }) });
      // Values are shown as the file has them.
      const { rows } = await list(shared.reader, name);
      expect(columnOf(rows, 'v')).toEqual(
        values.map((value) => (value.trim() === '' ? '' : value)),
      );
      if (!order) return;
      expect(await sorted(name, 'v')).toEqual([...order]);
      const end = order.length - blanks;
      expect(await sorted(name, '-v')).toEqual([
        ...order.slice(0, end).toReversed(),
        ...order.slice(end),
      ]);
    },
  );

  test('20240131 is an integer', async () => {
    expect((await columnsOf('bare'))['v']).toEqual({ type: 'integer' });
  });

  test.each<[string, object, number[]]>([
    ['spaced', { day: '2024-01-31' }, [1]],
    ['spaced', { day: { $gte: '2024-02' } }, [2, 3]],
    ['plain', { day: '2024-01-31' }, [1]],
    ['plain', { day: '2024-01-31T00:00:00Z' }, [1]],
    ['plain', { day: '2024-01-31 00:00:00' }, [1]],
    ['plain', { day: '2024-01-31T00:00:00.001Z' }, []],
    ['plain', { day: { $gt: '2024-01-30T23:59:59.5Z' } }, [1]],
    ['plain', { day: { $lt: '2024-01-31T00:00:00.5Z' } }, [1, 2]],
    ['plain', { day: { $gte: '2024' } }, [1]],
    ['plain', { day: { $lt: '2024-01' } }, [2]],
    ['plain', { day: { $gte: '2023-06', $lt: '2023-07' } }, [2]],
    ['plain', { day: '' }, [3]],
    ['plain', { day: { $null: true } }, [3]],
    ['plain', { day: { $ne: '2024-01-31' } }, [2, 3]],
    ['plain', { day: { $in: ['2024-01-31', null, ''] } }, [1, 3]],
    ['plain', { day: { $startswith: '2024' } }, [1]],
    ['plain', { at: '2024-01-31T11:00:00+01:00' }, [1]],
    ['plain', { at: { $gt: '2024-01-31T10:00:00Z' } }, [2]],
    ['plain', { at: { $gt: '2024-01-31 09:59:59.9' } }, [1, 2]],
    ['plain', { at: { $lte: '2024-01-31 10:00:00.1' } }, [1]],
    ['plain', { at: '2024-02-01' }, [2]],
    ['german', { day: '2023-12-31' }, [1]],
    ['german', { day: '01.02.2024' }, [2]],
    ['german', { day: '1.2.2024' }, [2]],
    ['german', { day: { $gt: '31.12.2023' } }, [2]],
    ['german', { day: { $gte: '2024' } }, [2]],
    ['german', { day: { $contains: '12.' } }, [1]],
    ['declared', { d: '2024-01-03' }, [2]],
    ['declared', { d: { $gt: '2000' } }, [1, 2]],
    ['declared', { d: { $lte: '2024-01-04' } }, [2]],
    ['declared', { s: { $gt: '2024-01-01' } }, [2]],
  ])('%s: %j', async (name, filter, ids) => {
    const found = await list(shared.reader, name, { filter });
    expect([found.status, found.detail, idsOf(found.rows)]).toEqual([200, undefined, ids]);
  });

  test.each<[string, object, string]>([
    [
      'plain',
      { day: '31.01.2024' },
      "column 'day': operator $eq expects a date-time, received string",
    ],
    ['plain', { day: '2024' }, "column 'day': operator $eq expects a date-time, received string"],
    [
      'plain',
      { day: { $gt: 5 } },
      "column 'day': operator $gt expects a date-time, received integer",
    ],
    [
      'german',
      { day: { $lt: 'soon' } },
      "column 'day': operator $lt expects a date-time, received string",
    ],
  ])('%s: %j is refused (DS-53, DS-55)', async (name, filter, text) => {
    const { status, detail } = await list(shared.reader, name, { filter });
    expect([status, detail]).toEqual([422, `Invalid filter: ${text}`]);
  });

  test('pages by cursor follow the order of moments (DS-41, DS-58)', async () => {
    for (const [name, sort, ids] of [
      ['german', 'day', [1, 2, 3]],
      ['german', '-day', [2, 1, 3]],
      ['plain', '-at', [2, 1, 3]],
      ['declared', 'd', [2, 1, 3, 4]],
      ['declared', '-d', [3, 1, 2, 4]],
    ] as const) {
      const met: unknown[] = [];
      let page = await list(shared.reader, name, { sort, limit: 1 });
      for (;;) {
        met.push(...idsOf(page.rows));
        if (page.next === null) break;
        page = await get(shared.reader, page.next);
      }
      expect([name, sort, met]).toEqual([name, sort, [...ids]]);
    }
  });

  test('a declared string without a format is plain text (DS-61)', async () => {
    expect(await columnsOf('declared')).toMatchObject({ s: { type: 'string' } });
    expect(await sorted('declared', 's')).toEqual([3, 4, 1, 2]);
  });
});

describe('numbers (DS-213)', () => {
  test.each(
    NUMBERS.map((one, at) => [JSON.stringify(one.file), one.values.join(' · '), at, one] as const),
  )('%s: %s', async (_, __, at, { values, type, read }) => {
    expect((await columnsOf(`n${at}`))['v']).toEqual({ type });
    const { rows } = await list(shared.reader, `n${at}`);
    expect(columnOf(rows, 'v')).toEqual([...(read ?? values)]);
  });

  test('beside decimal commas 1.234 may be either, and stays text', async () => {
    expect(await columnsOf('beside')).toEqual({
      a: { type: 'number' },
      b: { type: 'string' },
      c: { type: 'number' },
      d: { type: 'string' },
    });
    const { rows } = await list(shared.reader, 'beside');
    expect(rows[0]).toEqual({ _row_id: 1, a: 7.5, b: '1.234', c: 1.5, d: '12' });
  });

  test.each<[object, number[]]>([
    [{ sum: 7 }, [2]],
    [{ sum: '7,00' }, [2]],
    [{ sum: '1.234,5' }, [1]],
    [{ sum: '1234.5' }, [1]],
    [{ sum: { $gt: '1.000,00' } }, [1]],
    [{ sum: { $contains: '34.5' } }, [1]],
  ])('operands may be in the spelling of the column: %j (DS-53)', async (filter, ids) => {
    const found = await list(shared.reader, 'german', { filter });
    expect([found.detail, idsOf(found.rows)]).toEqual([undefined, ids]);
  });

  test('an operand that JSON would take for another number is refused', async () => {
    const { status, detail } = await list(shared.reader, 'german', { filter: { sum: '1.234' } });
    const text = "Invalid filter: column 'sum': operator $eq expects a number, received string";
    expect([status, detail]).toEqual([422, text]);
  });

  test('a declared number column is read so without proof', async () => {
    const { rows } = await list(shared.reader, 'declared');
    expect(columnOf(rows, 'n')).toEqual([1.5, 2.5, 3, '']);
  });
});

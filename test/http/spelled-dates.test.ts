/** Dates as files spell them, in typed exports (DS-44, DS-212, EV-97) and in the search language (SL-40, SL-120). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import ExcelJS from 'exceljs';
import { duckRows } from '../plugins/parquet-table.ts';
import { startService, type Client, type Service } from '../support/service.ts';

const CSV = `region;day;at;zoned;betrag;fine
Nord;31.12.2023;05-Jan-2024 3:04 PM;2024-01-01T01:00:00+01:00;1.234,50;2024-01-01 00:00:00.1234567
Süd;1.2.2024;06-Jan-2024 11:00 AM;2024-01-01T00:00:00Z;7,00;2024-01-01 00:00:00.0000000
Nord;;;;;
Süd;15.02.2024;06-Feb-2024 12:00 AM;2024-02-01T00:00:00.5Z;-0,50;2024-01-01 00:00:00.5000000
`;
const MIXED = `when,what\n2024-03-01,a\nsoon,b\n,c\n`;

let service: Service;
let client: Client;

beforeAll(async () => {
  service = await startService({
    files: {
      'umsatz.csv': CSV,
      'mixed.csv': MIXED,
      '.svc/mixed.csv.schema.json': JSON.stringify({
        columns: { when: { type: 'string', format: 'date' }, what: { type: 'string' } },
      }),
    },
  });
  await service.accounts.user('boss', { superuser: true });
  client = await service.as('boss');
});
afterAll(() => service[Symbol.asyncDispose]());

async function bytesOf(answer: Response): Promise<Uint8Array> {
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
}

function run(query: string, format = 'json'): Promise<Response> {
  const body = JSON.stringify({ query, format });
  return client.fetch('/search2/api/run/', { method: 'POST', body });
}

const listed = async (name: string, format: string): Promise<Uint8Array> =>
  bytesOf(await client.fetch(`/api/${name}/?format=${format}`));
const queried = async (name: string, format: string): Promise<Uint8Array> =>
  bytesOf(await run(`from ${name}`, format));

describe.each([
  ['rows', listed],
  ['a query', queried],
])('an export of %s', (_of, exported) => {
  test('as Parquet has dates and timestamps where all texts are such', async () => {
    const file = await exported('umsatz', 'parquet');
    const types = await duckRows(file, 'DESCRIBE SELECT * FROM file');
    expect(types.map(([name, type]) => [name, type])).toEqual([
      ['region', 'VARCHAR'],
      ['day', 'DATE'],
      ['at', 'TIMESTAMP'],
      ['zoned', 'TIMESTAMP WITH TIME ZONE'],
      ['betrag', 'DOUBLE'],
      ['fine', 'VARCHAR'],
    ]);
    const rows = await duckRows(
      file,
      `SELECT CAST(day AS VARCHAR), CAST("at" AS VARCHAR), epoch_us(zoned), betrag FROM file`,
    );
    expect(rows).toEqual([
      ['2023-12-31', '2024-01-05 15:04:00', '1704067200000000', 1234.5],
      ['2024-02-01', '2024-01-06 11:00:00', '1704067200000000', 7],
      [null, null, null, null],
      ['2024-02-15', '2024-02-06 00:00:00', '1706745600500000', -0.5],
    ]);
  });

  test('as Parquet has texts where one is no date', async () => {
    const file = await exported('mixed', 'parquet');
    expect(await duckRows(file, `SELECT nullif("when", ''), what FROM file`)).toEqual([
      ['2024-03-01', 'a'],
      ['soon', 'b'],
      [null, 'c'],
    ]);
  });

  test('as a workbook has date cells, and the text of what is no date', async () => {
    const sheetOf = async (name: string): Promise<ExcelJS.Worksheet> => {
      const book = new ExcelJS.Workbook();
      await book.xlsx.load(Buffer.from(await exported(name, 'xlsx')) as unknown as ArrayBuffer);
      return book.worksheets[0]!;
    };
    const sheet = await sheetOf('umsatz');
    const cell = (place: string): unknown => {
      const { value, numFmt } = sheet.getCell(place);
      return value instanceof Date ? [value.toISOString(), numFmt] : value;
    };
    expect(cell('B2')).toEqual(['2023-12-31T00:00:00.000Z', 'yyyy-mm-dd']);
    expect(cell('B4')).toBeNull();
    expect(cell('C2')).toEqual(['2024-01-05T15:04:00.000Z', 'yyyy-mm-dd hh:mm:ss']);
    expect(cell('C5')).toEqual(['2024-02-06T00:00:00.000Z', 'yyyy-mm-dd hh:mm:ss']);
    expect(cell('D2')).toEqual(['2024-01-01T00:00:00.000Z', 'yyyy-mm-dd hh:mm:ss']);
    expect(cell('E2')).toBe(1234.5);
    expect(cell('F2')).toBe('2024-01-01 00:00:00.1234567');
    const mixed = await sheetOf('mixed');
    expect(mixed.getCell('A2').value).toBeInstanceOf(Date);
    expect(mixed.getCell('A3').value).toBe('soon');
  });

  test('as text keeps the spelling', async () => {
    const csv = new TextDecoder().decode(await exported('umsatz', 'csv'));
    expect(csv).toContain('31.12.2023,05-Jan-2024 3:04 PM,2024-01-01T01:00:00+01:00,1234.5,');
  });
});

describe('the search language', () => {
  const rowsOf = async (query: string): Promise<unknown> => {
    const { rows, error } = (await (await run(query)).json()) as {
      rows?: unknown;
      error?: string;
    };
    return rows ?? error;
  };

  test('has time charts, buckets, parts and formats of dates', async () => {
    expect(await rowsOf('from umsatz | timechart span=1mon field=day sum(betrag) AS s')).toEqual([
      { _time: '2023-12-01T00:00:00.000000Z', s: 1234.5 },
      { _time: '2024-01-01T00:00:00.000000Z', s: null },
      { _time: '2024-02-01T00:00:00.000000Z', s: 6.5 },
    ]);
    expect(await rowsOf('from umsatz | table day, betrag | timechart span=1y count')).toEqual([
      { _time: '2023-01-01T00:00:00.000000Z', count: 1 },
      { _time: '2024-01-01T00:00:00.000000Z', count: 2 },
    ]);
    expect(await rowsOf('from umsatz | bin span=1mon at | stats count BY at')).toEqual([
      { at: null, count: 1 },
      { at: '2024-01-01T00:00:00.000000Z', count: 2 },
      { at: '2024-02-01T00:00:00.000000Z', count: 1 },
    ]);
    expect(
      await rowsOf(
        'from umsatz | where isnotnull(epoch(zoned)) | eval y=date_part("year",day), d=strftime(at,"%F %H:%M"), e=epoch(zoned), r=relative_time(day,"@mon") | table y, d, e, r | head 1',
      ),
    ).toEqual([
      { y: 2023, d: '2024-01-05 15:04', e: 1704067200, r: '2023-12-01T00:00:00.000000Z' },
    ]);
    expect(
      await rowsOf(`search --model=dataset.umsatz --select='["m=TruncMonth(day)"]' --limit=1`),
    ).toEqual([{ m: '2023-12-01T00:00:00.000000Z' }]);
  });

  test.each([
    ['where day >= "2024-01-01"', 2],
    ['where day < "2024-01-01"', 1],
    ['where day = "2024-02-01"', 1],
    ['where day = "1.2.2024"', 1],
    ['where day = "01.02.2024"', 1],
    ['where day != "31.12.2023" AND day != ""', 2],
    ['where day IN ("2023-12-31", "15.2.2024")', 2],
    ['where day > fromepoch(0) AND day < now()', 3],
    ['where at < "2024-01-06 11:00"', 1],
    ['where zoned = "2024-01-01"', 2],
    ['search day>=2024-01-01', 2],
    ['search day=31.12.2023', 1],
    ['search day=*2024', 2],
    ['search day<now', 3],
    ['search at>="6-Feb-2024 12:00 AM"', 1],
    [`filter --condition='day__gte=2024-02-01'`, 2],
    [`filter --condition='day__range=["2023-12-31","1.2.2024"]'`, 2],
    [`filter --condition='day__in=["2024-02-01"]'`, 1],
    [`filter --condition='day__startswith=31'`, 1],
  ])('compares dates as times: %s', async (stage, count) => {
    expect(await rowsOf(`from umsatz | ${stage} | stats count`)).toEqual([{ count }]);
  });

  test('says where dates are sorted and compared as text, and what sorts by time', async () => {
    const answerOf = async (query: string) =>
      (await (await run(query)).json()) as { rows: unknown; meta: { notices: string[] } };
    const sorted = await answerOf('from umsatz | where day!="" | sort day | table day');
    expect(sorted.meta.notices).toEqual([
      "'day' is sorted as text, not by time; bin span=1s day AS t makes times to sort by",
    ]);
    const right = await answerOf(
      'from umsatz | where day!="" | bin span=1s day AS t | sort -t | table day',
    );
    expect(right.meta.notices).toEqual([]);
    expect(right.rows).toEqual([{ day: '15.02.2024' }, { day: '1.2.2024' }, { day: '31.12.2023' }]);
    expect((await answerOf('from umsatz | stats max(day), max(betrag)')).meta.notices).toEqual([
      'max(day) compares texts, not times; bin span=1s day AS t makes times',
    ]);
    expect((await answerOf('from umsatz | sort fine')).meta.notices).toEqual([]);
  });

  test('reads spelled numbers as numbers, and shows dates as they are spelled', async () => {
    expect(
      await rowsOf('from umsatz | where betrag > 1 | stats sum(betrag*2) AS s, values(day) AS d'),
    ).toEqual([{ s: 2483, d: ['1.2.2024', '31.12.2023'] }]);
  });
});

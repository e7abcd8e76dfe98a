/**
 * Edits keep the spelling of a column: the writes in the tables of DS-212 and DS-213, what is refused (DS-77, DS-78), and
 * edits that change what a column is.
 */
import { describe, expect, test } from 'bun:test';
import { bytesOf, change, create, currentTag, remove, update, versionOf } from './changes.ts';
import { address, columnOf, get, idsOf, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

interface Write {
  readonly delimiter: string;
  readonly values: readonly string[];
  readonly value: unknown;
  /** As it stands in the file; null: refused. */
  readonly written: string | null;
  readonly expected?: string;
}

const date = (
  values: readonly string[],
  value: unknown,
  written: string | null,
  expected?: string,
): Write => ({ delimiter: ';', values, value, written, ...(expected && { expected }) });
const number = (
  delimiter: string,
  values: readonly string[],
  value: unknown,
  written: string | null,
  expected = 'number',
) => ({ delimiter, values, value, written, expected }) as Write;

const ISO = ['2024-01-01 00:02:56', '2023-12-31 23:00'];
const ZONED = ['2024-01-01T00:02:56Z', '2024-01-01T01:00:00+01:00', '2024-01-01T01:00:00Z'];
const GERMAN = ['31.12.2023', '1.2.2024'];
const AMERICAN = ['12/31/2023 3:04 PM', '1/5/2024 11:00 AM'];
const FINE = ['05-Jan-2024 10:00:00.500', '06-FEB-2024 10:00:00.250', '07-MAR-2024 10:00:00.125'];

const WRITES: readonly Write[] = [
  date(ISO, '2024-02-01T10:00:00Z', '2024-02-01 10:00:00'),
  date(ISO, '2024-02-01T10:00:00.25+00:00', '2024-02-01 10:00:00.25'),
  date(ISO, '2024-02-01T10:00:00+01:00', null, 'date-time'),
  date(ISO, 'n/a', null, 'date-time'),
  date(ISO, '1.2.2024', null, 'date-time'),
  date(ISO, 20240201, null, 'date-time'),
  date(ISO, null, ''),
  date(ISO, '', ''),
  date(ZONED, '2024-02-01T10:00:00+02:00', '2024-02-01T10:00:00+02:00'),
  date(ZONED, '2024-02-01', null, 'date-time'),
  date(ZONED, '2024-02-01 10:00:00', null, 'date-time'),
  date(GERMAN, '2024-03-05', '5.3.2024'),
  date(GERMAN, '05.03.2024', '05.03.2024'),
  date(GERMAN, '2024-03-05T00:00:00Z', '5.3.2024'),
  date(GERMAN, '2024-03-05T10:00:00Z', null, 'date'),
  date(GERMAN, '05.03.2024 10:00', null, 'date'),
  date(GERMAN, '31.02.2024', null, 'date'),
  date(GERMAN, '2024-02-30', null, 'date'),
  date(['01.02.2024'], '2024-03-05', '05.03.2024'),
  date(['01/03/2024', '13/02/2024'], '2024-12-01', '01/12/2024'),
  date(['01/03/2024', '13/02/2024'], '12/31/2024', null, 'date'),
  date(
    ['5-Jan-2024 3:04 PM', '5-Jan-2024 11:00 AM'],
    '2024-02-06T00:30:00Z',
    '6-Feb-2024 12:30 AM',
  ),
  date(AMERICAN, '2024-07-04 13:05:09', '7/4/2024 1:05:09 PM'),
  date(AMERICAN, '2024-07-04', '7/4/2024 12:00 AM'),
  date(FINE, '2024-12-24T10:00:00Z', '24-DEC-2024 10:00:00.000'),
  date(['2024-01-31', ''], '2024-02-01', '2024-02-01'),
  date(['2024-01-31', ''], '2024-02-01 00:00', '2024-02-01'),
  number(';', ['7,50', '12,00'], 8, '8,00'),
  number(';', ['7,50', '12,00'], '8,5', '8,50'),
  number(';', ['7,50', '12,00'], '8.5', '8,50'),
  number(';', ['7,50', '12,00'], 8.125, '8,125'),
  number(';', ['7,50', '12,00'], '8;5', null),
  number(';', ['7,50', '12,00'], true, null),
  number(';', ['7,50', '12,00'], 'NaN', null, 'finite number'),
  number(';', ['7,50', '12,00'], 1e300, '1e+300'),
  number(';', ['7,5', '12', '-0,25'], 1234.5, '1234,5'),
  number(';', ['1.234,50', '7,00'], 9876.5, '9.876,50'),
  number(';', ['1.234,50', '7,00'], -1234567, '-1.234.567,00'),
  number(';', ['1.234,50', '7,00'], '1.234', null),
  number(';', ['1.234,50', '7,00'], '1.234,5', '1.234,50'),
  number(',', ['1,234.50', '99.00'], 1234567.5, '"1,234,567.50"'),
  number(',', ['1.020.300', '1.234'], 4000, '4.000', 'integer'),
  number(',', ['1.020.300', '1.234'], '5.678', null, 'integer'),
  number(',', ['1.020.300', '1.234'], 1.5, null, 'integer'),
  number(',', ["1'234", "56'789"], 999, '999', 'integer'),
  number(',', ["1'234", "56'789"], "7'000'000", "7'000'000", 'integer'),
  number(',', ['1\u00a0234', '56\u00a0789'], 7000, '7\u00a0000', 'integer'),
];

function csv({ values, delimiter }: Pick<Write, 'values' | 'delimiter'>): string {
  const quoted = (text: string) => (text.includes(delimiter) ? `"${text}"` : text);
  return `${['v', 'w'].join(delimiter)}\n${values.map((value) => `${quoted(value)}${delimiter}x`).join('\n')}\n`;
}

const shared = sharedService({
  files: {
    ...Object.fromEntries(WRITES.map((one, at) => [`w${at}.csv`, csv(one)])),
    'types.csv': 'd;n;i\r\n"31.12.2023";7,5;1\r\n01.02.2024 ;"8,25";2\r\n\r\nx;9,5;3',
    'order.csv': 'd\n01/02/2024\n03/04/2024\n13/04/2024\n',
    'late.csv': 'n;w\n1;a\n2;b\n',
  },
});

describe('a value is written as its column spells it', () => {
  test.each(
    WRITES.map((one, at) => [one.values.join(' · '), JSON.stringify(one.value), at, one] as const),
  )('%s: %s', async (_, __, at, { values, value, written, expected, delimiter }) => {
    const { writer, service } = shared;
    const name = `w${at}`;
    const before = bytesOf(service, `${name}.csv`);
    const schema = (await get(writer, address(name, {}, 'schema'))).body as Columns;
    const answer = await create(writer, name, [{ v: value, w: 'new' }]);
    if (written === null) {
      const type =
        typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
      expect([answer.status, answer.detail]).toEqual([
        422,
        `Schema validation failed: column 'v': expected ${expected}, received ${type}`,
      ]);
      expect(bytesOf(service, `${name}.csv`)).toBe(before);
      return;
    }
    expect([answer.status, answer.detail]).toEqual([200, undefined]);
    expect(bytesOf(service, `${name}.csv`)).toBe(
      `${before}${Buffer.from(written).toString('latin1')}${delimiter}new\n`,
    );
    // The column stays what it was.
    const after = (await get(writer, address(name, {}, 'schema'))).body as Columns;
    expect(after.columns).toEqual(schema.columns);
    const shown = (await list(writer, name)).rows.at(-1)!['v'];
    if (typeof value === 'number') expect(shown).toBe(value);
    if (typeof shown === 'string') expect(shown).toBe(written);
    // The same value again changes nothing.
    const id = values.length + 1;
    const bytes = bytesOf(service, `${name}.csv`);
    expect((await update(writer, name, { _row_id: id, v: shown })).status).toBe(200);
    expect(bytesOf(service, `${name}.csv`)).toBe(bytes);
  });
});

interface Columns {
  readonly columns: Record<string, { type: string; format?: string }>;
}

const typesOf = async (name: string) => {
  const { columns } = (await get(shared.writer, address(name, {}, 'schema'))).body as Columns;
  return Object.values(columns).map(({ type, format }) => format ?? type);
};

describe('an edit may change what a column is', () => {
  test('the last odd value goes, and comes back; ids and other bytes stay', async () => {
    const { writer, service } = shared;
    expect(await typesOf('types')).toEqual(['string', 'number', 'integer']);
    const tag = await currentTag(writer, 'types');
    const gone = await remove(writer, 'types', 3);
    expect(gone.status).toBe(200);
    expect(versionOf(gone.etag)).not.toBe(versionOf(tag));
    expect(bytesOf(service, 'types.csv')).toBe(
      'd;n;i\r\n"31.12.2023";7,5;1\r\n01.02.2024 ;"8,25";2\r\n',
    );
    expect(await typesOf('types')).toEqual(['date', 'number', 'integer']);
    expect(versionOf(await currentTag(writer, 'types'))).toBe(versionOf(gone.etag));
    expect(idsOf((await list(writer, 'types', { sort: '-d' })).rows)).toEqual([2, 1]);
    const row = { d: 'x', n: '9,5', i: 3 };
    expect((await create(writer, 'types', [row])).detail).toBe(
      "Schema validation failed: column 'd': expected date, received string",
    );
    const lenient = { Prefer: 'handling=lenient' };
    const body = { action: 'create', data: [row] };
    const back = await change(writer, 'POST', 'types', body, lenient);
    expect([back.status, back.rowIds]).toEqual([200, [4]]);
    expect(await typesOf('types')).toEqual(['string', 'number', 'integer']);
    expect(bytesOf(service, 'types.csv')).toBe(
      'd;n;i\r\n"31.12.2023";7,5;1\r\n01.02.2024 ;"8,25";2\r\nx;9,5;3\r\n',
    );
    // A quoted cell stays quoted, its row keeps its line end.
    expect((await update(writer, 'types', { _row_id: 2, n: 10 })).status).toBe(200);
    expect(bytesOf(service, 'types.csv')).toContain('\r\n01.02.2024 ;"10";2\r\n');
  });

  test('the only proof of the order goes', async () => {
    const { writer } = shared;
    expect(await typesOf('order')).toEqual(['date']);
    expect(idsOf((await list(writer, 'order', { sort: 'd' })).rows)).toEqual([1, 2, 3]);
    expect((await remove(writer, 'order', 3)).status).toBe(200);
    expect(await typesOf('order')).toEqual(['string']);
    expect((await create(writer, 'order', [{ d: '04/30/2024' }])).status).toBe(200);
    expect(await typesOf('order')).toEqual(['date']);
    expect(idsOf((await list(writer, 'order', { filter: { d: '2024-01-02' } })).rows)).toEqual([1]);
  });

  test('a decimal comma comes into a column of integers', async () => {
    const { writer, service } = shared;
    const body = { action: 'update', data: { _row_id: 2, n: '2,5' } };
    expect((await change(writer, 'PATCH', 'late', body)).status).toBe(422);
    const lenient = { Prefer: 'handling=lenient' };
    expect((await change(writer, 'PATCH', 'late', body, lenient)).status).toBe(200);
    expect(bytesOf(service, 'late.csv')).toBe('n;w\n1;a\n2,5;b\n');
    expect(await typesOf('late')).toEqual(['number', 'string']);
    expect(columnOf((await list(writer, 'late')).rows, 'n')).toEqual([1, 2.5]);
  });
});

/** What a companion says of marks and dates (DS-72), in place of what would be found (DS-212, DS-213). */
import { expect, test } from 'bun:test';
import { bytesOf, create } from './changes.ts';
import { address, columnOf, get, idsOf, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

interface Case {
  readonly options: object;
  readonly values: readonly string[];
  readonly type: string;
  readonly read?: readonly unknown[];
  /** Ids in ascending order. */
  readonly order?: readonly number[];
  readonly write?: readonly [value: unknown, written: string | null];
}

const CASES: readonly Case[] = [
  {
    options: { decimal: ',' },
    values: ['1,5', '2,25'],
    type: 'number',
    read: [1.5, 2.25],
    write: [3, '3'],
  },
  {
    options: { decimal: ',' },
    values: ['1.234', '2.500'],
    type: 'integer',
    read: [1234, 2500],
    write: [9000, '9.000'],
  },
  { options: { decimal: ',' }, values: ['1.5', '2.5'], type: 'string' },
  { options: { decimal: '.' }, values: ['1,234', '56,789'], type: 'integer', read: [1234, 56789] },
  {
    options: { decimal: '.' },
    values: ['1.50', '2.25'],
    type: 'number',
    read: [1.5, 2.25],
    write: [3, '3.00'],
  },
  { options: { thousands: '.' }, values: ['1.234', '2.500'], type: 'integer', read: [1234, 2500] },
  { options: { thousands: '' }, values: ['1,234', '5,678'], type: 'number', read: [1.234, 5.678] },
  { options: { decimal: ',', thousands: '' }, values: ['1.234', '2.500'], type: 'string' },
  {
    options: { thousands: ' ' },
    values: ['1 234', '5\u00a0678', '9\u202f012'],
    type: 'integer',
    read: [1234, 5678, 9012],
    write: [7000, '7 000'],
  },
  { options: { decimal: ',' }, values: ['x', '1,5'], type: 'string' },
  { options: { decimal: ',' }, values: ['true', 'false'], type: 'boolean', read: [true, false] },
  {
    options: { date_order: 'dmy' },
    values: ['01/02/2024', '03/01/2024'],
    type: 'date',
    order: [2, 1],
    write: ['2024-05-06', '06/05/2024'],
  },
  {
    options: { date_order: 'mdy' },
    values: ['01/02/2024', '03/01/2024'],
    type: 'date',
    order: [1, 2],
    write: ['2024-05-06', '05/06/2024'],
  },
  {
    options: { date_order: 'mdy' },
    values: ['13/02/2024', '14/01/2024'],
    type: 'date',
    order: [2, 1],
  },
  {
    options: { date_format: '%d.%m.%y' },
    values: ['31.12.23', '01.01.24', '05.05.69'],
    type: 'date',
    order: [3, 1, 2],
    write: ['2024-02-09', '09.02.24'],
  },
  { options: { date_format: '%d.%m.%y' }, values: ['31.12.23', 'x'], type: 'string' },
  {
    options: { date_format: '%d.%m.%y' },
    values: ['31.12.2023', '1.1.2024'],
    type: 'date',
    order: [1, 2],
  },
  {
    options: { date_format: '%Y%m%d' },
    values: ['20240131', '20231231'],
    type: 'date',
    order: [2, 1],
    write: ['2024-02-29', '20240229'],
  },
  {
    options: { date_format: '%Y%m%d' },
    values: ['20240131', '20231331'],
    type: 'integer',
    read: [20240131, 20231331],
  },
  {
    options: { date_format: '%d/%b/%Y %I:%M %p' },
    values: ['05/Jan/2024 03:04 PM', '05/jan/2024 11:00 am'],
    type: 'date-time',
    order: [2, 1],
    write: ['2024-01-06T00:30:00Z', '06/Jan/2024 12:30 AM'],
  },
  {
    options: { date_format: '%d/%b/%Y %I:%M %p' },
    values: ['05/Jan/2024 03:04 PM'],
    type: 'date-time',
    write: ['2024-01-06T00:30:05Z', null],
  },
  // Units, of values that all have the same.
  {
    options: { units: 'auto' },
    values: ['12 %', '7 %'],
    type: 'integer %',
    read: [12, 7],
    write: [-3, '-3 %'],
  },
  {
    options: { units: 'auto' },
    values: ['1.234,50 €', '7,00 €'],
    type: 'number EUR',
    read: [1234.5, 7],
    write: [9876.5, '"9.876,50 €"'],
  },
  {
    options: { units: 'auto' },
    values: ['$5', '$1234.5'],
    type: 'number USD',
    read: [5, 1234.5],
    write: ['-$7', '-$7'],
  },
  {
    options: { units: 'auto' },
    values: ['EUR 5.00', 'EUR 7.25'],
    type: 'number EUR',
    read: [5, 7.25],
    write: ['8', 'EUR 8.00'],
  },
  { options: { units: 'auto' }, values: ['5 €', '$5'], type: 'string' },
  { options: { units: 'auto' }, values: ['5 €', '7'], type: 'string' },
  { options: { units: 'auto' }, values: ['SKU 12', 'SKU 13'], type: 'string' },
  { options: { units: 'auto' }, values: ['7,50 €', '8,25 €'], type: 'string' },
  {
    options: { units: 'auto', decimal: ',' },
    values: ['7,50€', '8,25 €'],
    type: 'number EUR',
    read: [7.5, 8.25],
  },
  { options: {}, values: ['12 %', '7 %'], type: 'string' },
];

const shared = sharedService({
  files: {
    ...Object.fromEntries(
      CASES.flatMap(({ options, values }, at) => [
        [`o${at}.csv`, `v,w\n${values.map((value) => `"${value}",x`).join('\n')}\n`],
        [`.svc/o${at}.csv.options.json`, JSON.stringify(options)],
      ]),
    ),
    'declared.csv': 'p;m\n7,5 %;5 €\n12 %;6\n',
    '.svc/declared.csv.schema.json': '{"columns":{"p":{"type":"number"},"m":{"type":"number"}}}',
    'wrong.csv': 'v\n1\n',
    '.svc/wrong.csv.options.json':
      '{"decimal":";","thousands":"x","date_order":"ymd","date_format":"%H:%M"}',
    'same.csv': 'v\n1\n',
    '.svc/same.csv.options.json': '{"decimal":",","thousands":","}',
  },
});

test.each(
  CASES.map((one, at) => [JSON.stringify(one.options), one.values.join(' · '), at, one] as const),
)('%s: %s', async (_, __, at, { values, type, read, order, write }) => {
  const { writer, service } = shared;
  const name = `o${at}`;
  const { body } = await get(writer, address(name, {}, 'schema'));
  const { v } = (body as { columns: { v: { type: string; format?: string; unit?: string } } })
    .columns;
  expect(v.unit ? `${v.type} ${v.unit}` : (v.format ?? v.type)).toBe(type);
  const { rows } = await list(writer, name);
  expect(columnOf(rows, 'v')).toEqual([...(read ?? values)]);
  if (order) {
    expect(idsOf((await list(writer, name, { sort: 'v' })).rows)).toEqual([...order]);
    expect(idsOf((await list(writer, name, { sort: '-v' })).rows)).toEqual(order.toReversed());
    const filter = { v: values[0] };
    expect(idsOf((await list(writer, name, { filter })).rows)).toEqual([1]);
  }
  if (!write) return;
  const before = bytesOf(service, `${name}.csv`);
  const answer = await create(writer, name, [{ v: write[0] }]);
  if (write[1] === null) return expect(answer.status).toBe(422);
  expect([answer.status, answer.detail]).toEqual([200, undefined]);
  expect(bytesOf(service, `${name}.csv`)).toBe(before + asBytes(`${write[1]},\n`));
});

/** As `bytesOf` shows a text. */
const asBytes = (text: string) => Buffer.from(text).toString('latin1');

test('a declared number column has its unit by itself', async () => {
  const { writer, service } = shared;
  const { rows } = await list(writer, 'declared', { filter: { p: { $gte: '7,5 %' } } });
  expect(columnOf(rows, 'p')).toEqual([7.5, 12]);
  expect((await list(writer, 'declared', { filter: { p: 12 } })).total).toBe(1);
  expect((await create(writer, 'declared', [{ p: '3,25 %', m: 1 }])).status).toBe(200);
  expect(bytesOf(service, 'declared.csv')).toBe(asBytes('p;m\n7,5 %;5 €\n12 %;6\n3,25 %;1\n'));
  expect((await create(writer, 'declared', [{ p: '3 €' }])).detail).toBe(
    "Schema validation failed: column 'p': expected number, received string",
  );
  // Not all of its cells have a unit, so they stay text.
  expect(columnOf((await list(writer, 'declared')).rows, 'm')).toEqual(['5 €', 6, 1]);
});

test('a wrong value is left out and told (DS-72)', async () => {
  // Told once the file was read.
  for (const name of ['wrong', 'same']) await list(shared.superuser, name);
  const { problems } = (await get(shared.superuser, '/')).body as {
    problems: { resource: string; problem: string }[];
  };
  const told = Object.fromEntries(problems.map(({ resource, problem }) => [resource, problem]));
  for (const name of ['decimal', 'thousands', 'date_order', 'date_format']) {
    expect(told['wrong.csv']).toContain(`"${name}" must be`);
  }
  expect(told['same.csv']).toContain('"thousands" must be');
});

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import Papa from 'papaparse';
import { cases } from '../support/long.ts';
import { ByteWriter } from '../../src/tables/encode/byte-writer.ts';
import { contentDisposition } from '../../src/tables/encode/download-name.ts';
import { encoders, type Row, type RowShape } from '../../src/tables/encode/encode.ts';
import type { Format } from '../../src/tables/read/format.ts';
import type { ColumnType } from '../../src/tables/infer/file-type.ts';

function textOf(format: Format, shape: RowShape, rows: Iterable<Row>): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return decoder.decode(Buffer.concat([...encoders[format]!(shape, rows)]));
}

function shapeOf(columns: Record<string, ColumnType>, options: Partial<RowShape> = {}): RowShape {
  const list = Object.entries(columns).map(([name, type]) => ({ name, type }));
  return { columns: list, rowIdAt: null, blank: 'empty', ...options };
}

const SHAPE = shapeOf({ n: 'integer', x: 'number', ok: 'boolean', t: 'string' });
const ROWS: Row[] = [
  [1, 5, 1.5, 1, 'a'],
  [3, null, null, null, ''],
  [4, 'misfit', 2, 0, 'say "hi", é\n'],
];

describe('JSON (DS-35, DS-64)', () => {
  test('is an array of objects with _row_id first, blanks as ""', () => {
    expect(textOf('json', SHAPE, ROWS)).toBe(
      '[{"_row_id":1,"n":5,"x":1.5,"ok":true,"t":"a"},' +
        '{"_row_id":3,"n":"","x":"","ok":"","t":""},' +
        '{"_row_id":4,"n":"misfit","x":2,"ok":false,"t":"say \\"hi\\", é\\n"}]',
    );
    expect(textOf('json', SHAPE, [])).toBe('[]');
    expect(textOf('json', shapeOf({}), [[1]])).toBe('[{"_row_id":1}]');
  });

  test('shows Parquet nulls as null and 64-bit integers with all digits', () => {
    const shape = shapeOf({ n: 'integer', ok: 'boolean' }, { blank: 'null' });
    const rows: Row[] = [
      [1n, 9007199254740993n, 1n],
      [2n, null, null],
    ];
    expect(textOf('json', shape, rows)).toBe(
      '[{"_row_id":1,"n":9007199254740993,"ok":true},{"_row_id":2,"n":null,"ok":null}]',
    );
  });

  test('keeps the order of columns with any names', () => {
    const columns = ['10', '__proto__', '2', 'a"b', 'constructor', 'é\u0000'].map((name) => ({
      name,
      type: 'integer' as const,
    }));
    expect(
      textOf('json', { columns, rowIdAt: null, blank: 'empty' }, [[7, 0, 1, 2, 3, 4, 5]]),
    ).toBe('[{"_row_id":7,"10":0,"__proto__":1,"2":2,"a\\"b":3,"constructor":4,"é\\u0000":5}]');
  });

  test('NDJSON has one object a line and nothing for no rows', () => {
    const shape = shapeOf({ t: 'string' });
    expect(
      textOf('ndjson', shape, [
        [1, 'a\nb'],
        [2, ''],
      ]),
    ).toBe('{"_row_id":1,"t":"a\\nb"}\n{"_row_id":2,"t":""}\n');
    expect(textOf('ndjson', shape, [])).toBe('');
  });
});

describe('CSV (DS-44, DS-45)', () => {
  test('has a header, LF, blanks for null, and quotes where RFC 4180 wants them', () => {
    expect(textOf('csv', SHAPE, ROWS)).toBe(
      'n,x,ok,t\n5,1.5,true,a\n,,,\nmisfit,2,false,"say ""hi"", é\n"\n',
    );
    const shape = shapeOf({ 'a,b': 'string', 'c"d': 'string', é: 'string' });
    expect(textOf('csv', shape, [[1, '\r', ' x ', '=1+1']])).toBe(
      '"a,b","c""d",é\n"\r", x ,=1+1\n',
    );
  });

  test('has _row_id only where it was asked for', () => {
    const rows: Row[] = [[7, 1, 2]];
    const columns = shapeOf({ a: 'integer', b: 'integer' }).columns;
    const csv = (rowIdAt: number | null) =>
      textOf('csv', { columns, rowIdAt, blank: 'empty' }, rows);
    expect(csv(null)).toBe('a,b\n1,2\n');
    expect(csv(0)).toBe('_row_id,a,b\n7,1,2\n');
    expect(csv(2)).toBe('a,b,_row_id\n1,2,7\n');
  });

  test('a blank row of a single column is a quoted nothing, since an empty line is no row', () => {
    expect(
      textOf('csv', shapeOf({ a: 'string' }), [
        [1, ''],
        [2, 'x'],
      ]),
    ).toBe('a\n""\nx\n');
    expect(textOf('csv', shapeOf({}), [[1]])).toBe('');
  });
});

const cell = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.toWellFormed()),
  fc.constantFrom(
    '',
    '"',
    ',',
    '\n',
    '\r\n',
    '\u007f',
    'plain',
    'x'.repeat(5_000),
    '"é'.repeat(3_000),
  ),
);

test('what is written reads back, whatever the texts', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 60 }), (cells) => {
      const rows = cells.map(([a, b], index): Row => [index + 1, a, b]);
      const shape = shapeOf({ a: 'string', b: 'string' });
      const objects = cells.map(([a, b], index) => ({ _row_id: index + 1, a, b }));
      expect(JSON.parse(textOf('json', shape, rows))).toEqual(objects);
      const lines = textOf('ndjson', shape, rows).split('\n').slice(0, -1);
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(objects);
      const csv = Papa.parse<string[]>(textOf('csv', shape, rows), {
        newline: '\n',
        delimiter: ',',
      });
      expect(csv.data.slice(1, -1)).toEqual(cells);
    }),
    { numRuns: 200 },
  );
});

test('numbers are written as JSON writes them, which is the shortest form', () => {
  const writer = new ByteWriter(64);
  const written = (value: number) => {
    writer.ensure(32);
    writer.json(new Uint8Array(0), value);
    return Buffer.from(writer.take()).toString();
  };
  const decimals = fc
    .tuple(fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }), fc.integer({ min: 0, max: 12 }))
    .map(([digits, places]) => digits / 10 ** places);
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    decimals,
  );
  fc.assert(
    fc.property(number, (value) => expect(written(value)).toBe(JSON.stringify(value))),
    { numRuns: cases(20_000) },
  );
  for (const value of [
    0, -0, 0.1, 1e-6, 1e-7, 0.000001, 9999999.999999, 1e7, 1e21, 99, 100, 999999, 0.5, 5e-324,
  ]) {
    expect(written(value)).toBe(JSON.stringify(value));
  }
});

test('responses come in chunks of about 64 KiB and are made as they are taken', () => {
  let made = 0;
  function* rows(): Generator<Row> {
    for (made = 0; made < 100_000; made++) yield [made, 'some text'];
  }
  for (const format of ['json', 'ndjson', 'csv'] as const) {
    const chunks = encoders[format]!(shapeOf({ t: 'string' }), rows());
    const first = chunks.next().value as Uint8Array;
    expect(first.length).toBeWithin(64 * 1024, 80 * 1024);
    expect(made).toBeLessThan(10_000);
    chunks.return(undefined);
  }
});

test('what the rows throw comes through', () => {
  function* rows(): Generator<Row> {
    yield [1, 'a'];
    throw new Error('disk');
  }
  expect(() => textOf('json', shapeOf({ t: 'string' }), rows())).toThrow('disk');
});

test('download names are safe in a header (DS-45)', () => {
  expect(contentDisposition('Größe "2"', 'csv')).toBe(
    `attachment; filename="Gro_e _2_.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%222%22.csv`,
  );
  expect(contentDisposition("a'(b)*", 'xlsx')).toBe(
    `attachment; filename="a'(b)*.xlsx"; filename*=UTF-8''a%27%28b%29%2A.xlsx`,
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const value = contentDisposition(name, 'csv');
      expect(value).toMatch(
        /^attachment; filename="[ !#-[\]-~]*\.csv"; filename\*=UTF-8''[\x21-\x7e]*$/,
      );
      const encoded = value.slice(value.indexOf("''") + 2);
      expect(decodeURIComponent(encoded)).toBe(`${name.toWellFormed()}.csv`);
    }),
  );
});

/**
 * Tables in the formats other programs leave them in (DS-23): which rows and types they have, and what an edit does to
 * the file.
 */
import { describe, expect, test } from 'bun:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { utils, type WorkBook, write } from 'xlsx';
import { eventually } from './eventually.ts';
import { listNoticed } from './listing.ts';
import { sharedService } from './shared-service.ts';

type Row = Readonly<Record<string, unknown>>;

const shared = sharedService({ files: {} });

/** Rows, or what the refusal says. */
async function rowsOf(name: string): Promise<unknown> {
  const { status, body } = await listNoticed(shared.reader, name);
  return status === 200 ? body : [status, body];
}

const textOf = (rel: string): string => readFileSync(join(shared.service.docroot, rel), 'utf8');

function numbered(rows: readonly Row[]): Row[] {
  return rows.map((row, index) => ({ _row_id: index + 1, ...row }));
}

describe('text with another delimiter', () => {
  test('.tsv is split at tabs and .psv at bars, whatever else a cell holds (DS-62)', async () => {
    shared.service.write('pandas.tsv', '\tname\tprice\n0\tTea, black\t4.5\n1\t"a ""b""\tc"\t\n');
    expect(await rowsOf('pandas')).toEqual(
      numbered([
        { column_1: 0, name: 'Tea, black', price: 4.5 },
        { column_1: 1, name: 'a "b"\tc', price: '' },
      ]),
    );
    shared.service.write('one.tsv', 'Smith, John\nMiller, Ann; Berlin\n');
    expect(await rowsOf('one')).toEqual(numbered([{ 'Smith, John': 'Miller, Ann; Berlin' }]));
    shared.service.write('bars.PSV', 'a|b,c\n1|2,5\n');
    expect(await rowsOf('bars')).toEqual(numbered([{ a: 1, 'b,c': '2,5' }]));
  });

  test('options overrule the extension, and a row is added in the style of the file (DS-72, DS-86)', async () => {
    shared.service.write('.svc/not-tabs.tsv.options.json', '{"delimiter":";"}');
    shared.service.write('not-tabs.tsv', 'a;b\r\n1;x\r\n');
    expect(await rowsOf('not-tabs')).toEqual(numbered([{ a: 1, b: 'x' }]));
    shared.service.write('tabs.tsv', 'a\tb\r\n1\tx, y');
    await rowsOf('tabs');
    const answer = await shared.writer.fetch('/api/tabs/', {
      method: 'POST',
      body: JSON.stringify({ action: 'create', data: [{ a: 2, b: 'p, "q"\tr' }] }),
    });
    expect(await answer.json()).toMatchObject({ success: true });
    expect(textOf('tabs.tsv')).toBe('a\tb\r\n1\tx, y\r\n2\t"p, ""q""\tr"');
  });
});

/** The schema's types, `name: type`. */
async function typesOf(name: string): Promise<unknown> {
  const response = await shared.reader.fetch(`/schema/${name}/`);
  const { columns } = (await response.json()) as { columns: Record<string, { type: string }> };
  return Object.fromEntries(Object.entries(columns).map(([key, { type }]) => [key, type]));
}

async function change(method: string, name: string, data: unknown): Promise<unknown> {
  const action = { POST: 'create', PATCH: 'update', DELETE: 'delete' }[method];
  const body = JSON.stringify({ action, data });
  const response = await shared.writer.fetch(`/api/${name}/`, { method, body });
  return response.status === 200 ? response.status : [response.status, await response.json()];
}

/** What DuckDB writes for `COPY (query) TO file`. */
async function duckdb(rel: string, query: string): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`COPY (${query}) TO '${join(shared.service.docroot, rel)}'`);
  connection.closeSync();
}

const LINES = [
  '{"id": 1, "name": "Tea \\"x\\" \\u00e4", "price": 4.0, "tags": ["a", 1e2], "ok": true, "big": 9007199254740993, "mixed": 5}',
  '{"id": 2, "price": 6.25, "extra": null, "tags": null, "ok": false, "big": -1, "mixed": "x", "name": "5"}',
  '',
].join('\n');

describe('lines of JSON', () => {
  test('values have their own types, with all digits, under the names of all rows (DS-59)', async () => {
    shared.service.write('lines.ndjson', LINES);
    const { text } = await listNoticed(shared.reader, 'lines');
    expect(text).toBe(
      '[{"_row_id":1,"id":1,"name":"Tea \\"x\\" ä","price":4,"tags":["a",1e2],"ok":true,"big":9007199254740993,"mixed":"5","extra":null},' +
        '{"_row_id":2,"id":2,"name":"5","price":6.25,"tags":null,"ok":false,"big":-1,"mixed":"x","extra":null}]',
    );
    expect(await typesOf('lines')).toEqual({
      ...{ id: 'integer', name: 'string', price: 'number', tags: 'string', ok: 'boolean' },
      ...{ big: 'integer', mixed: 'string', extra: 'string' },
    });
    const big = { filter: { big: { $gt: 9007199254740992 } }, columns: 'id' };
    const { rows } = await listNoticed(shared.reader, 'lines', big);
    expect(rows).toEqual([{ _row_id: 1, id: 1 }]);
  });

  test('an edit changes the touched values alone, and a value keeps its kind (DS-86)', async () => {
    shared.service.write('edited.jsonl', LINES);
    await rowsOf('edited');
    const update = { _row_id: 1, mixed: '6', name: null, extra: 'né', tags: [1, { a: 2 }] };
    expect(await change('PATCH', 'edited', update)).toBe(200);
    expect(textOf('edited.jsonl')).toBe(
      LINES.replace('"mixed": 5}', '"mixed": 6, "extra": "né"}')
        .replace(/"Tea.*?ä"|"Tea[^,]*"/, 'null')
        .replace('["a", 1e2]', '[1,{"a":2}]'),
    );
    expect(await change('POST', 'edited', [{ id: 3, big: 2 ** 40, mixed: true }])).toBe(200);
    expect(textOf('edited.jsonl').split('\n').slice(2)).toEqual([
      `{"id": 3, "price": null, "extra": null, "tags": null, "ok": null, "big": ${2 ** 40}, "mixed": true, "name": null}`,
      '',
    ]);
    expect(await change('DELETE', 'edited', { _row_id: 2 })).toBe(200);
    expect(textOf('edited.jsonl').split('\n')).toHaveLength(3);
    expect(await rowsOf('edited')).toMatchObject([{ _row_id: 1, mixed: '6' }, { _row_id: 3 }]);
    expect(await change('PATCH', 'edited', { _row_id: 1, tags: 'no list' })).toEqual([
      422,
      { detail: expect.stringContaining("column 'tags': expected a JSON list or object") },
    ]);
    expect(await change('PATCH', 'edited', { _row_id: 1, ok: 'perhaps' })).toEqual([
      422,
      { detail: "Schema validation failed: column 'ok': expected boolean, received string" },
    ]);
  });

  test('as DuckDB and pandas write them', async () => {
    const query =
      "SELECT 1 AS id, TIMESTAMP '2024-01-02 03:04:05' AS at, 1.50::DECIMAL(9,2) AS price, [1,2] AS list";
    await duckdb('duck.ndjson', query);
    await duckdb('duck.json', `${query} UNION ALL ${query}`);
    const row = { id: 1, at: '2024-01-02 03:04:05', price: 1.5, list: [1, 2] };
    expect(await rowsOf('duck.ndjson')).toEqual(numbered([row]));
    // Its .json holds lines too.
    await eventually(async () => expect(await rowsOf('duck.json')).toEqual(numbered([row, row])));
    shared.service.write(
      'pandas.jsonl',
      '{"a":1.0,"b":"x\\/y","c":1704067200000}\n{"a":null,"b":null,"c":null}\n',
    );
    expect(await rowsOf('pandas.jsonl')).toEqual(
      numbered([
        { a: 1, b: 'x/y', c: 1704067200000 },
        { a: null, b: null, c: null },
      ]),
    );
    expect(await typesOf('pandas.jsonl')).toEqual({ a: 'number', b: 'string', c: 'integer' });
    expect(await change('PATCH', 'pandas.jsonl', { _row_id: 1, a: 1.5 })).toBe(200);
  });

  test.each([
    ['{"a":1}\n{"a":}\n', 'a value is missing at byte offset 13'],
    ['{"ä":1}\n[1]\n', 'a row that is no object at byte offset 9'],
    ['{"a":1}\n{"a":"x\n', 'a line end or control character in a text at byte offset 15'],
    ['{"a":1}\n{"a":tru}\n', 'no JSON value at byte offset 13'],
    ['{"a":01}\n', 'no JSON value at byte offset 5'],
    ['{"a":[1}}\n', 'a list or object that is no JSON at byte offset 5'],
    ['{"a":1', 'a row that does not end at byte offset 0'],
    ['{"a":1}\n\xff', 'invalid UTF-8 at byte offset 8'],
  ])('%j is broken, with the place (DS-34)', async (content, reason) => {
    const name = `broken-${Bun.hash(content)}`;
    shared.service.write(
      `${name}.ndjson`,
      Buffer.from(content, content.includes('ä') ? 'utf8' : 'latin1'),
    );
    expect(await rowsOf(name)).toEqual([
      422,
      { detail: `Cannot read '${name}.ndjson': ${reason}` },
    ]);
  });
});

describe('a .json file', () => {
  /** The rows once the file is known to hold some. */
  const rowsIn = (name: string, rows: unknown): Promise<void> =>
    eventually(async () => expect(await rowsOf(name)).toEqual(rows));

  test('with a list of objects is a dataset, and its bytes stay at its own address (DS-23, DS-26)', async () => {
    const content = '[\n  {"a": 1, "b": "x"},\n  {"a": 2}\n]\n';
    shared.service.write('list.json', content);
    await rowsIn(
      'list',
      numbered([
        { a: 1, b: 'x' },
        { a: 2, b: null },
      ]),
    );
    for (const path of ['/list', '/list.json']) {
      const response = await shared.reader.fetch(path);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.text()).toBe(content);
    }
    const types = await shared.service.command([
      'admin',
      'list-resources',
      shared.service.docroot,
      '--json',
    ]);
    expect(JSON.parse(types.stdout)).toContainEqual(
      expect.objectContaining({ path: 'list.json', type: 'json' }),
    );
    expect(await change('DELETE', 'list', { _row_id: 1 })).toBe(200);
    expect(textOf('list.json')).toBe('[\n  {"a": 2}\n]\n');
    expect(await change('POST', 'list', [{ a: 3, b: 'y' }, { a: 4 }])).toBe(200);
    expect(textOf('list.json')).toBe('[\n  {"a": 2},\n  {"a": 3, "b": "y"},\n  {"a": 4}\n]\n');
    expect(await change('PATCH', 'list', { _row_id: 2, b: 'z' })).toBe(200);
    expect(textOf('list.json')).toContain('{"a": 2, "b": "z"},');
  });

  test.each([
    ['an object', '{"a":1}'],
    ['numbers', '[1,2]'],
    ['a text', '"x"'],
    ['two lists at one level', '{"a":[{"x":1}],"b":[{"y":1}]}'],
    ['settings', '{"dev":{"port":1},"test":{"port":2}}'],
    ['no JSON', 'second, longer'],
    ['nothing', ''],
  ])('with %s stays a file (DS-23)', async (name, content) => {
    const rel = `file ${name}.json`;
    shared.service.write(rel, content);
    await eventually(async () => {
      const response = await shared.reader.fetch(`/${encodeURIComponent(`file ${name}`)}`);
      expect([response.status, await response.text()]).toEqual([200, content]);
    });
    const { stdout } = await shared.service.command([
      'admin',
      'list-resources',
      shared.service.docroot,
      '--json',
    ]);
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ path: rel, type: 'file' }));
    expect((await shared.reader.fetch(`/api/${encodeURIComponent(rel)}/`)).status).toBe(404);
  });

  test('with one list inside, edited in its place', async () => {
    const content = '{"count": 2, "data": {"rows": [{"a": 1}, {"a": 2}], "none": []}, "at": "ü"}';
    shared.service.write('inner.json', content);
    await rowsIn('inner', numbered([{ a: 1 }, { a: 2 }]));
    expect(await change('PATCH', 'inner', { _row_id: 2, a: 7 })).toBe(200);
    expect(textOf('inner.json')).toBe(content.replace('2}]', '7}]'));
    expect(await change('DELETE', 'inner', { _row_id: 1 })).toBe(200);
    expect(textOf('inner.json')).toContain('"rows": [{"a": 7}], "none"');
  });

  test('is one resource under both addresses: whoever may not read it gets neither (DS-130)', async () => {
    shared.service.write('secret.json', '[{"a":1}]');
    await rowsIn('secret', numbered([{ a: 1 }]));
    await shared.service.accounts.user('nobody');
    const nobody = await shared.service.as('nobody');
    for (const path of ['/secret', '/secret.json', '/api/secret/', '/schema/secret.json/']) {
      expect([path, (await shared.service.fetch(path)).status]).toEqual([path, 401]);
      expect([path, (await nobody.fetch(path)).status]).toEqual([path, 403]);
      expect([path, (await shared.reader.fetch(path)).status]).toEqual([path, 200]);
    }
  });

  test('with several lists is a dataset by the path of one, once its options say it (DS-72)', async () => {
    const content = '{"a":{"b.c":[{"x":1}],"items":[{"x":1},{"x":2}]},"b":[{"y":1}],"c":[{"y":1}]}';
    shared.service.write('several.json', content);
    await eventually(async () => {
      expect((await shared.reader.fetch('/several')).status).toBe(200);
      expect((await shared.reader.fetch('/api/several/')).status).toBe(404);
    });
    shared.service.write('.svc/several.json.options.json', '{"path":"a.items"}');
    await rowsIn('several', numbered([{ x: 1 }, { x: 2 }]));
    expect(await change('PATCH', 'several', { _row_id: 2, x: 7 })).toBe(200);
    expect(textOf('several.json')).toBe(content.replace('{"x":2}', '{"x":7}'));
    shared.service.write('.svc/several.json.options.json', '{"path":"b"}');
    await rowsIn('several', numbered([{ y: 1 }]));
    shared.service.write('.svc/several.json.options.json', '{"path":"nowhere"}');
    await eventually(async () => {
      expect((await shared.reader.fetch('/api/several/')).status).not.toBe(200);
    });
  });

  test('with columns side by side, and GeoJSON, can be read only and says why (DS-66)', async () => {
    shared.service.write('columns.json', '{"a":[1,2],"b":["x",null]}');
    shared.service.write(
      'pandas-split.json',
      '{"columns":["a","b"],"index":[0,1],"data":[[1,"x"],[2,null]]}',
    );
    shared.service.write('pandas-columns.json', '{"a":{"0":1,"1":2},"b":{"0":1.5,"1":"z"}}');
    shared.service.write(
      'qgis.geojson',
      '{\n"type": "FeatureCollection",\n"name": "x",\n"crs": { "type": "name", "properties": { "name": "urn:ogc:def:crs:OGC:1.3:CRS84" } },\n"features": [\n' +
        '{ "type": "Feature", "properties": { "id": 1, "name": "Kö" }, "geometry": { "type": "Point", "coordinates": [ 7.0, 51.25 ] } },\n' +
        '{ "type": "Feature", "properties": { "id": 2, "name": null }, "geometry": null }\n]\n}\n',
    );
    await rowsIn(
      'columns',
      numbered([
        { a: 1, b: 'x' },
        { a: 2, b: null },
      ]),
    );
    await rowsIn(
      'pandas-columns',
      numbered([
        { a: 1, b: '1.5' },
        { a: 2, b: 'z' },
      ]),
    );
    const split = numbered([
      { a: 1, b: 'x' },
      { a: 2, b: null },
    ]);
    await rowsIn('pandas-split', split);
    shared.service.write('index.json', '{"0":{"a":1,"b":"x"},"1":{"a":2,"b":null}}');
    await rowsIn('index', split);
    const named = '{"k1":{"a":1,"b":"x"},"k2":{"a":2,"b":null}}';
    shared.service.write('named.json', named);
    shared.service.write('.svc/named.json.options.json', '{"orient":"index"}');
    await rowsIn(
      'named',
      numbered([
        { index: 'k1', a: 1, b: 'x' },
        { index: 'k2', a: 2, b: null },
      ]),
    );
    for (const [name, text] of [
      ['unlike.json', '{"0":{"a":1},"1":{"b":2}}'],
      ['one.json', '{"0":{"a":1}}'],
      ['plain.json', named],
    ] as const) {
      shared.service.write(name, text);
      await eventually(async () => {
        expect(await (await shared.reader.fetch(`/${name}`)).text()).toBe(text);
      });
      expect((await shared.reader.fetch(`/api/${name}/`)).status).toBe(404);
    }
    await rowsIn(
      'qgis',
      numbered([
        { id: 1, name: 'Kö', geometry: { type: 'Point', coordinates: [7, 51.25] } },
        { id: 2, name: null, geometry: null },
      ]),
    );
    for (const [name, reason] of [
      ['columns', 'JSON with a list for each column is read-only'],
      ['qgis', 'GeoJSON is read-only'],
    ] as const) {
      const refusal = await shared.writer.fetch(`/api/${name}/`, { method: 'POST', body: '{' });
      expect([refusal.status, refusal.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(await refusal.json()).toEqual({ detail: expect.stringContaining(reason) });
      const schema = await (await shared.reader.fetch(`/schema/${name}/`)).json();
      expect(schema).toMatchObject({ read_only: expect.stringContaining(reason) });
      const headers = { Accept: 'text/html' };
      const page = await (await shared.writer.fetch(`/ui/${name}/`, { headers })).text();
      expect(page).toContain(reason);
    }
  });

  test('becomes a file and a dataset again as its content does (DS-33)', async () => {
    shared.service.write('turning.json', '[{"a":1}]');
    await rowsIn('turning', numbered([{ a: 1 }]));
    shared.service.write('turning.json', '{"a":1}');
    await eventually(async () => {
      expect((await shared.reader.fetch('/api/turning/')).status).toBe(404);
    });
    expect(await (await shared.reader.fetch('/turning')).text()).toBe('{"a":1}');
    shared.service.write('turning.json', '[{"a":2}]');
    await rowsIn('turning', numbered([{ a: 2 }]));
  });
});

describe('a compressed table', () => {
  test('is read as what is in it, under the name before both extensions, and can be read only (DS-25, DS-66)', async () => {
    mkdirSync(join(shared.service.docroot, 'duck'));
    await duckdb('duck/rep.csv.gz', "SELECT range AS id, 'ä' AS name FROM range(100000)");
    shared.service.write(
      'duck/two.tsv.gz',
      Buffer.concat([gzipSync('a\tb\n1'), gzipSync('\tx, y\n')]),
    );
    shared.service.write('duck/rows.ndjson.zst', zstdCompressSync(LINES));
    shared.service.write('duck/rep.v2.CSV.ZST', zstdCompressSync('a;b\n1;"x\ny"\n'));
    const { rows, total } = await listNoticed(shared.reader, 'duck/rep', { offset: 99_999 });
    expect([total, rows]).toEqual([100_000, [{ _row_id: 100_000, id: 99_999, name: 'ä' }]]);
    expect(await rowsOf('duck/two')).toEqual(numbered([{ a: 1, b: 'x, y' }]));
    expect(await rowsOf('duck/rows')).toHaveLength(2);
    expect(await rowsOf('duck/rep.v2')).toEqual(numbered([{ a: 1, b: 'x\ny' }]));
    const reason = 'Compressed files are read-only; decompress the file to edit it';
    const refusal = await shared.writer.fetch('/api/duck/rep.csv.gz/', { method: 'PATCH' });
    expect([refusal.status, refusal.headers.get('allow'), await refusal.json()]).toEqual([
      ...[405, 'GET, HEAD, OPTIONS'],
      { detail: reason },
    ]);
    const schema = await shared.reader.fetch('/schema/duck/two/');
    expect(await schema.json()).toMatchObject({ name: 'two', read_only: reason });
    const original = await shared.reader.fetch('/duck/rep.csv.gz');
    expect(original.headers.get('content-type')).toBe('application/gzip');
    expect(original.headers.get('content-encoding')).toBeNull();
  });

  const text = 'n\n' + Array.from({ length: 50_000 }, (_, i) => `${i * 7919}\n`).join('');
  const damaged = 'its compressed bytes are damaged or cut short';
  test.each([
    ['gz', 'cut', gzipSync(text).subarray(0, -7), damaged],
    ['gz', 'changed', gzipSync(text).map((byte, at) => (at === 5_000 ? byte ^ 64 : byte)), damaged],
    ['gz', 'plain', Buffer.from(text), damaged],
    ['zst', 'cut', zstdCompressSync(text).subarray(0, -7), 'its compressed bytes are cut short'],
    ['zst', 'plain', Buffer.from(text), 'it is no Zstandard file'],
    [
      'gz',
      'bomb',
      gzipSync(Buffer.alloc(90 << 20, 'a\n')),
      /^its content takes more than [0-9.]+ MiB, which is not expanded$/,
    ],
    [
      'zst',
      'bomb',
      zstdCompressSync(Buffer.alloc(90 << 20, 'a\n')),
      /^its content takes more than [0-9.]+ MiB, which is not expanded$/,
    ],
  ] as const)(
    '.%s, %s, is broken, and nothing else suffers (DS-68)',
    async (suffix, name, bytes, reason) => {
      const rel = `${name}.csv.${suffix}`;
      shared.service.write(rel, bytes);
      const [status, { detail }] = (await rowsOf(rel)) as [number, { detail: string }];
      const [file, found] = detail.split("': ");
      expect([status, file]).toEqual([422, `Cannot read '${rel}`]);
      expect(found).toMatch(reason);
    },
  );
});

describe('a workbook that Excel did not write as .xlsx', () => {
  const book = utils.book_new();
  const at = new Date(Date.UTC(2024, 0, 31, 13, 30, 5));
  const rows = [
    ['name', 'price', 'on', 'at', 'ok'],
    ['Käse', 4.5, new Date(Date.UTC(2024, 0, 31)), at, true],
    [],
    ['007', 6, null, null, false],
  ];
  const sheet = utils.aoa_to_sheet(rows, { cellDates: true, UTC: true });
  sheet['C2'].z = 'yyyy-mm-dd';
  sheet['D2'].z = 'dd/mm/yyyy hh:mm:ss';
  utils.book_append_sheet(book, sheet, 'One');
  utils.book_append_sheet(book, utils.aoa_to_sheet([['x'], [1]]), 'Zwei ä');
  const written = (bookType: 'ods' | 'fods' | 'xlsb', from: WorkBook = book): Uint8Array =>
    new Uint8Array(write(from, { type: 'buffer', bookType, cellDates: true }) as Buffer);

  test.each(['ods', 'fods', 'xlsb'] as const)(
    '.%s is a dataset for each sheet, read only (DS-65, DS-66)',
    async (type) => {
      shared.service.write(`book.${type}`, written(type));
      expect(await rowsOf(`book.${type}/One`)).toEqual(
        numbered([
          {
            name: 'Käse',
            price: 4.5,
            on: '2024-01-31 00:00:00',
            at: '2024-01-31 13:30:05',
            ok: true,
          },
          { name: '007', price: 6, on: '', at: '', ok: false },
        ]),
      );
      expect(await rowsOf(`book.${type}/Zwei ä`)).toEqual(numbered([{ x: 1 }]));
      const reason =
        'Workbooks in .ods, .fods and .xlsb are read-only; save the file as .xlsx to edit it';
      const refusal = await shared.writer.fetch(`/api/book.${type}/One/`, {
        method: 'POST',
        body: '{}',
      });
      expect([refusal.status, await refusal.json()]).toEqual([405, { detail: reason }]);
      const schema = await shared.reader.fetch(`/schema/book.${type}/One/`);
      expect(await schema.json()).toMatchObject({ read_only: reason });
    },
  );

  const soffice = Bun.which('soffice');
  if (soffice === null) console.log('LibreOffice is not installed: what it writes was not read');

  test.skipIf(soffice === null)(
    'what LibreOffice writes, with its hidden sheet, is read like the .xlsx it came from',
    async () => {
      const other = utils.book_new();
      utils.book_append_sheet(other, sheet, 'One');
      utils.book_append_sheet(other, utils.aoa_to_sheet([['secret'], [1]]), 'Hidden');
      other.Workbook = { Sheets: [{ Hidden: 0 }, { Hidden: 1 }] };
      const bytes = write(other, { type: 'buffer', bookType: 'xlsx', cellDates: true }) as Buffer;
      shared.service.write('lo/from.xlsx', new Uint8Array(bytes));
      const folder = join(shared.service.docroot, 'lo');
      const profile = `-env:UserInstallation=file:///tmp/svc-lo-profile-${process.pid}`;
      for (const type of ['ods', 'fods']) {
        const run = Bun.spawnSync(
          [
            soffice!,
            profile,
            '--headless',
            '--convert-to',
            type,
            '--outdir',
            folder,
            join(folder, 'from.xlsx'),
          ],
          { stdout: 'ignore', stderr: 'ignore' },
        );
        expect(run.exitCode).toBe(0);
        expect(await rowsOf(`lo/from.${type}/One`)).toEqual(await rowsOf('lo/from.xlsx/One'));
        expect((await shared.reader.fetch(`/api/lo/from.${type}/Hidden/`)).status).toBe(404);
      }
    },
    60_000,
  );

  test.each([
    [
      'an archive of nothing',
      Buffer.from('504b0506' + '00'.repeat(18), 'hex'),
      'it is no Excel workbook',
    ],
    ['text', Buffer.from('name,price\n'), 'it is no Excel workbook'],
    [
      'half a file',
      written('ods').subarray(0, 3_000),
      'it is no ZIP archive, or its end is missing',
    ],
    [
      'a claim of a billion rows',
      Buffer.from(
        Buffer.from(written('fods'))
          .toString()
          .replace('<table:table-row', '<table:table-row table:number-rows-repeated="1000000000"'),
      ),
      'it repeats more than 1048576 rows',
    ],
  ])('with %s is broken (DS-34)', async (name, content, reason) => {
    shared.service.write(`with ${name}.ods`, content);
    expect(await rowsOf(`with ${name}.ods`)).toEqual([
      422,
      { detail: `Cannot read 'with ${name}.ods': ${reason}` },
    ]);
  });
});

describe('a dBASE file', () => {
  interface DbfField {
    readonly name: string;
    readonly type: string;
    readonly length: number;
    readonly decimals?: number;
  }

  function dbfFile(mark: number, fields: readonly DbfField[], records: readonly Buffer[]): Buffer {
    const size = 1 + fields.reduce((sum, { length }) => sum + length, 0);
    const head = Buffer.alloc(32 + fields.length * 32 + 1);
    head[0] = 0x30;
    head.writeUInt32LE(records.length, 4);
    head.writeUInt16LE(head.length, 8);
    head.writeUInt16LE(size, 10);
    head[29] = mark;
    for (const [index, { name, type, length, decimals = 0 }] of fields.entries()) {
      const at = 32 + index * 32;
      head.write(name, at, 'latin1');
      head.write(type, at + 11, 'latin1');
      head[at + 16] = length;
      head[at + 17] = decimals;
    }
    head[head.length - 1] = 0x0d;
    return Buffer.concat([head, ...records, Buffer.of(0x1a)]);
  }

  const fields = [
    { name: 'NAME', type: 'C', length: 8 },
    { name: 'AREA', type: 'N', length: 8, decimals: 2 },
    { name: 'ID', type: 'N', length: 18 },
    { name: 'ON', type: 'D', length: 8 },
    { name: 'OK', type: 'L', length: 1 },
    { name: 'NOTE', type: 'M', length: 4 },
    { name: 'COUNT', type: 'I', length: 4 },
  ];
  const record = (name: Buffer, rest: string, isDeleted = false): Buffer =>
    Buffer.concat([
      Buffer.from(isDeleted ? '*' : ' '),
      Buffer.concat([name, Buffer.alloc(8, ' ')]).subarray(0, 8),
      Buffer.from(rest),
      Buffer.from([0, 0, 0, 0, 254, 255, 255, 255]),
    ]);
  const first = '    4.50' + '  9007199254740993' + '20240131' + 'T';
  const blank = '********' + ' '.repeat(18) + '        ' + '?';

  test.each([
    ['UTF-8 as QGIS writes it', 0x00, Buffer.from('Köln')],
    ['windows-1252', 0x03, Buffer.from('K\xf6ln', 'latin1')],
    ['windows-1252 without a mark', 0x00, Buffer.from('K\xf6ln', 'latin1')],
    ['cp850', 0x02, Buffer.from('K\x94ln', 'latin1')],
  ])(
    'in %s is read with the types of its header, without deleted records (DS-23)',
    async (name, mark, text) => {
      const records = [
        record(text, first),
        record(Buffer.from('gone'), first, true),
        record(Buffer.from('007'), blank),
      ];
      shared.service.write(`${name}.dbf`, dbfFile(mark, fields, records));
      const { text: found } = await listNoticed(shared.reader, name);
      expect(found).toBe(
        '[{"_row_id":1,"NAME":"Köln","AREA":4.5,"ID":9007199254740993,"ON":"2024-01-31","OK":true,"NOTE":null,"COUNT":-2},' +
          '{"_row_id":2,"NAME":"007","AREA":null,"ID":null,"ON":null,"OK":null,"NOTE":null,"COUNT":-2}]',
      );
      expect(await typesOf(name)).toMatchObject({
        NAME: 'string',
        AREA: 'number',
        ID: 'integer',
        OK: 'boolean',
      });
      const refusal = await shared.writer.fetch(`/api/${encodeURIComponent(name)}/`, {
        method: 'DELETE',
      });
      expect([refusal.status, await refusal.json()]).toEqual([
        405,
        { detail: 'dBASE files are read-only; save the table as CSV or .xlsx to edit it' },
      ]);
    },
  );

  test.each([
    ['nothing', Buffer.alloc(0), 'it is no dBASE file'],
    ['text', Buffer.from('name,price\nTea,4.5\n'), 'it is no dBASE file'],
    [
      'half',
      dbfFile(0, fields, [
        record(Buffer.from('a'), first),
        record(Buffer.from('b'), first),
      ]).subarray(0, -20),
      'it ends after 1 of 2 records',
    ],
  ])('with %s is broken (DS-34)', async (name, content, reason) => {
    shared.service.write(`broken ${name}.dbf`, content);
    expect(await rowsOf(`broken ${name}`)).toEqual([
      422,
      { detail: `Cannot read 'broken ${name}.dbf': ${reason}` },
    ]);
  });
});

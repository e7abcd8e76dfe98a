/**
 * Formats of rows, what `Accept` chooses, and downloads (DS-44, DS-45).
 */
import { describe, expect, test } from 'bun:test';
import Papa from 'papaparse';
import { address, get, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

const CSV = 'text/csv; charset=utf-8';
const JSON_TYPE = 'application/json';
const NDJSON = 'application/x-ndjson';

const CELLS = [
  'plain',
  'a,b',
  'say "hi"',
  'two\nlines',
  'cr\r\nlf',
  ' outer spaces ',
  '=1+1',
  '+cmd',
  '@SUM(A1)',
  '-2+3',
  '\ttab',
  "'quoted",
  'ünïcödé 💥',
  '\u202eright to left',
  '<script>alert(1)</script>',
  'a;b|c',
];

const shared = sharedService({
  files: {
    'mixed.csv':
      'text,n,x,flag\nfirst,1,0.5,TRUE\n"a,b",-2,1e3,False\n,,,\n"say ""hi""",3,2.50,true\n',
    'cells.csv': `text,id\n${CELLS.map((cell, id) => `"${cell.replaceAll('"', '""')}",${id}`).join('\n')}\n`,
    'single.csv': 'only\na\n""\n"  "\nb\n',
    'empty.csv': '',
    'header.csv': '"a,b","c""d",e\n',
    'reports/2024/sales.v2.csv': 'a\n1\n',
    'odd "names"\\ %20;x.csv': 'a\n1\n',
    'größe 💥.csv': 'a\n1\n',
    "it's (a) *.csv": 'a\n1\n',
  },
});

describe('format', () => {
  test('ndjson is one object per line (DS-44)', async () => {
    const { text, headers } = await list(shared.reader, 'mixed', { format: 'ndjson' });
    expect(headers.get('Content-Type')).toBe(NDJSON);
    expect(text).toBe(
      [
        '{"_row_id":1,"text":"first","n":1,"x":0.5,"flag":true}',
        '{"_row_id":2,"text":"a,b","n":-2,"x":1000,"flag":false}',
        '{"_row_id":3,"text":"","n":"","x":"","flag":""}',
        '{"_row_id":4,"text":"say \\"hi\\"","n":3,"x":2.5,"flag":true}',
        '',
      ].join('\n'),
    );
  });

  test('csv has the header, LF, quotes where needed and nothing for blank cells (DS-44)', async () => {
    const { text, headers } = await list(shared.reader, 'mixed', { format: 'csv' });
    expect(headers.get('Content-Type')).toBe(CSV);
    expect(text).toBe(
      'text,n,x,flag\nfirst,1,0.5,true\n"a,b",-2,1000,false\n,,,\n"say ""hi""",3,2.5,true\n',
    );
  });

  test('csv shows _row_id only where it is asked for (DS-45)', async () => {
    const { text } = await list(shared.reader, 'mixed', {
      format: 'csv',
      columns: 'n,_row_id',
      limit: 2,
    });
    expect(text).toBe('n,_row_id\n1,1\n-2,2\n');
  });

  test('csv gives every text back as it is, formulas included (DS-44, B-C)', async () => {
    const { text } = await list(shared.reader, 'cells', { format: 'csv' });
    const parsed = Papa.parse<string[]>(text, { newline: '\n', delimiter: ',' }).data;
    expect(parsed.slice(1, -1).map(([cell]) => cell)).toEqual(CELLS);
    const { rows } = await list(shared.reader, 'cells');
    expect(rows.map((row) => row['text'])).toEqual(CELLS);
  });

  test('csv keeps blank rows of a single column as rows (DS-63)', async () => {
    const { text } = await list(shared.reader, 'single', { format: 'csv' });
    expect(text).toBe('only\na\n""\n""\nb\n');
  });

  test.each([
    ['empty', 'json', '[]'],
    ['empty', 'ndjson', ''],
    ['empty', 'csv', ''],
    ['header', 'json', '[]'],
    ['header', 'ndjson', ''],
    ['header', 'csv', '"a,b","c""d",e\n'],
  ])('%s.csv without rows as %s (DS-44)', async (name, format, expected) => {
    const { status, text, total } = await list(shared.reader, name, { format });
    expect({ status, text, total }).toEqual({ status: 200, text: expected, total: 0 });
  });

  test('all formats hold the same rows in the same order (DS-38, DS-44)', async () => {
    const query = {
      sort: '-x,text',
      filter: { flag: { $null: false } },
      limit: 2,
      columns: 'x,text',
    };
    const json = await list(shared.reader, 'mixed', query);
    const ndjson = await list(shared.reader, 'mixed', { ...query, format: 'ndjson' });
    const csv = await list(shared.reader, 'mixed', { ...query, format: 'csv' });
    expect(ndjson.text).toBe(json.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const cells = Papa.parse<Record<string, string>>(csv.text.trimEnd(), { header: true }).data;
    expect(cells).toEqual(
      json.rows.map((row) => ({ x: String(row['x']), text: String(row['text']) })),
    );
    expect([ndjson.total, csv.total]).toEqual([json.total, json.total]);
  });
});

describe('Accept', () => {
  test.each([
    [undefined, JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['application/json', JSON_TYPE],
    ['application/x-ndjson', NDJSON],
    ['text/csv', CSV],
    ['TEXT/CSV', CSV],
    ['text/csv; charset=utf-8', CSV],
    ['text/csv;charset="utf-8";header=present', CSV],
    ['text/csv, application/x-ndjson', CSV],
    ['application/x-ndjson, text/csv', NDJSON],
    ['text/csv;q=0.5, application/x-ndjson;q=0.6', NDJSON],
    ['text/csv;q=0.5,application/json;q=0.9', JSON_TYPE],
    ['text/csv; q=0.9, application/json; q=0.1', CSV],
    ['application/json;q=0.2, text/csv;q=0.2', JSON_TYPE],
    ['text/csv;q=1.0,application/json', CSV],
    ['text/csv;q=0', JSON_TYPE],
    ['text/csv;q=0, application/x-ndjson;q=0.001', NDJSON],
    ['text/csv, */*;q=0.1', CSV],
    ['image/png, text/csv;q=0.1', CSV],
    ['text/*', JSON_TYPE],
    ['text/html', JSON_TYPE],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', JSON_TYPE],
    ['image/png', JSON_TYPE],
    ['nonsense', JSON_TYPE],
    ['', JSON_TYPE],
    [',,;q=,', JSON_TYPE],
    ['text/csv/x', JSON_TYPE],
  ])('%j chooses %s, and is never refused (DS-44)', async (accept, type) => {
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
    const answer = await get(shared.reader, '/api/mixed/', { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe(type);
    expect(answer.headers.get('Vary')).toBe('Accept, Accept-Encoding');
  });

  test('format wins over Accept (DS-44)', async () => {
    const headers = { Accept: 'text/csv' };
    const json = await get(shared.reader, '/api/mixed/?format=json', { headers });
    expect(json.headers.get('Content-Type')).toBe(JSON_TYPE);
    const ndjson = await get(shared.reader, '/api/mixed/?format=ndjson', { headers });
    expect(ndjson.headers.get('Content-Type')).toBe(NDJSON);
  });

  test('a callback parameter makes no script of the answer (S-X7)', async () => {
    const { text, headers } = await get(
      shared.reader,
      '/api/mixed/?callback=alert&jsonp=alert&limit=1&columns=n',
    );
    expect(text).toBe('[{"_row_id":1,"n":1}]');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  });
});

describe('downloads', () => {
  const disposition = async (name: string, query: object, accept?: string) => {
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
    const answer = await get(shared.reader, address(name, { ...query }), { headers });
    expect(answer.status).toBe(200);
    return answer.headers.get('Content-Disposition');
  };

  test('json is none, ndjson only when asked for by name, csv always (DS-45)', async () => {
    expect(await disposition('mixed', {})).toBeNull();
    expect(await disposition('mixed', { format: 'json' })).toBeNull();
    expect(await disposition('mixed', {}, NDJSON)).toBeNull();
    expect(await disposition('mixed', { format: 'ndjson' })).toBe(
      `attachment; filename="mixed.ndjson"; filename*=UTF-8''mixed.ndjson`,
    );
    const csv = `attachment; filename="mixed.csv"; filename*=UTF-8''mixed.csv`;
    expect(await disposition('mixed', { format: 'csv' })).toBe(csv);
    expect(await disposition('mixed', {}, 'text/csv')).toBe(csv);
  });

  test.each([
    ['reports/2024/sales.v2', 'sales.v2.csv'],
    ['reports/2024/sales.v2.csv', 'sales.v2.csv'],
    ['odd "names"\\ %20;x', 'odd "names"\\ %20;x.csv'],
    ['größe 💥', 'größe 💥.csv'],
    ["it's (a) *", "it's (a) *.csv"],
  ])('%s is called by the last segment of its canonical name (DS-45)', async (name, file) => {
    const header = (await disposition(name, { format: 'csv' }))!;
    const match =
      /^attachment; filename="([\x20\x21\x23-\x5b\x5d-\x7e]*)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(
        header,
      );
    expect({ header, isWellFormed: match !== null }).toEqual({ header, isWellFormed: true });
    expect(decodeURIComponent(match![2]!)).toBe(file);
    expect(match![1]!.endsWith('.csv')).toBe(true);
  });

  test('HEAD announces the same download (DS-6)', async () => {
    const path = '/api/mixed/?format=csv';
    const head = await get(shared.reader, path, { method: 'HEAD' });
    const full = await get(shared.reader, path);
    for (const name of ['Content-Disposition', 'Content-Type', 'X-Total-Count', 'ETag', 'Vary']) {
      expect({ [name]: head.headers.get(name) }).toEqual({ [name]: full.headers.get(name) });
    }
  });
});

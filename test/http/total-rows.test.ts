/** A total row at the end of a CSV file is none of its rows (DS-229). */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOf, create, remove, update } from './changes.ts';
import { get, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

const SALES =
  'Artikel;Datum;Menge;Preis;Ort;Umsatz\r\nTasse;31.12.2025;10;4,50;Köln;45,00\r\n' +
  'Kanne;01.02.2026;4;1.165,625;Ulm;4.662,50\r\nSumme;;14;;;4.707,50\r\n';
const EUROS = 'was,n\ncup,"1,50 €"\npot,"2,50 €"\n,\nTotal,"4,00 €"\n\n';
const PLAIN = 'name,n\na,1\nb,2\n';

const files = {
  'sales.csv': SALES,
  'euros.csv': EUROS,
  'floats.csv': 'k,x\na,0.1\nb,0.2\nTotal,0.30000000000000004\n',
  'notsum.csv': 'name,n\na,1\nb,2\nTotal,4\n',
  'average.csv': 'name,n,m\na,1,2\nb,2,4\nTotal,3,3\n',
  'single.csv': 'name,n\nnew,5\nTotal,5\n',
  'above.csv': 'name,n\nTotal,3\na,1\nb,2\n',
  'plain.csv': PLAIN,
  'declared.csv': 'name,n,d\na,1,x\nb,2,y\nEnde,3,z\n',
  '.svc/declared.csv.options.json': '{"total_row":"last"}',
  'kept.csv': 'name,n\na,1\nb,2\nTotal,3\n',
  '.svc/kept.csv.options.json': '{"total_row":"none"}',
  'wide.csv': `name,n\n${Array.from({ length: 9000 }, (_, row) => `row number ${row},${row}\n`).join('')}Total,40495500\n`,
};

const shared = sharedService({ files });

interface Schema {
  readonly columns: Record<string, { readonly type: string; readonly format?: string }>;
  readonly source?: { readonly total_row?: unknown; readonly guessed: readonly string[] };
}

async function schema(name: string): Promise<Schema> {
  return (await get(shared.reader, `/schema/${name}/`)).body as Schema;
}

describe('the last row of a CSV file', () => {
  test('is told apart where all its numbers are sums', async () => {
    const { reader } = shared;
    expect((await list(reader, 'sales')).rows).toHaveLength(2);
    const { columns, source } = await schema('sales');
    expect(Object.values(columns).map(({ format, type }) => format ?? type)).toEqual([
      'string',
      'date',
      'integer',
      'number',
      'string',
      'number',
    ]);
    expect(source).toMatchObject({
      total_row: { values: { Artikel: 'Summe', Menge: 14, Umsatz: 4707.5 } },
      guessed: ['encoding', 'delimiter', 'header_row', 'total_row'],
    });
    expect((await list(reader, 'euros')).rows).toHaveLength(2);
    expect((await list(reader, 'floats')).rows).toHaveLength(2);
    const page = await get(reader, '/ui/sales/', { headers: { Accept: 'text/html' } });
    expect(page.text).toContain('The last row of the file is the total');
    expect((await list(reader, 'wide')).rows).toHaveLength(9000);
  });

  test.each([
    ['notsum', 3],
    ['average', 3],
    ['single', 2],
    ['above', 3],
    ['kept', 3],
  ])('%s stays a row where that is not certain', async (name, rows) => {
    expect((await list(shared.reader, name)).rows).toHaveLength(rows);
    expect((await schema(name)).source).toBeUndefined();
  });

  test('is one where an option says so', async () => {
    expect((await list(shared.reader, 'declared')).rows).toHaveLength(2);
  });
});

describe('a row of totals', () => {
  test('follows the rows above it, in its own spelling, and stays one', async () => {
    const { service, writer } = shared;
    expect((await update(writer, 'sales', { _row_id: 1, Umsatz: 6000.25 })).status).toBe(200);
    expect((await create(writer, 'sales', [{ Artikel: 'Löffel', Menge: 6 }])).rowIds).toEqual([3]);
    const bytes = SALES.replace('45,00', '6.000,25').replace(
      'Summe;;14;;;4.707,50',
      'Löffel;;6;;;\r\nSumme;;20;;;10.662,75',
    );
    expect(bytesOf(service, 'sales.csv')).toBe(Buffer.from(bytes).toString('latin1'));
    expect((await schema('sales')).source?.total_row).toMatchObject({
      values: { Menge: 20, Umsatz: 10662.75 },
    });
    // Read anew.
    writeFileSync(join(service.docroot, 'sales.csv'), `${bytes}\r\n`);
    expect((await list(writer, 'sales')).rows).toHaveLength(3);
    expect((await remove(writer, 'sales', 3)).status).toBe(200);
    expect(bytesOf(service, 'sales.csv')).toContain('Summe;;14;;;10.662,75\r\n\r\n');
  });

  test('keeps units, quotes and blank rows above it', async () => {
    const { service, writer } = shared;
    await create(writer, 'euros', [{ was: 'lid', n: '0,25 €' }]);
    const bytes = EUROS.replace('\n,\n', '\nlid,"0,25 €"\n,\n').replace('4,00', '4,25');
    expect(bytesOf(service, 'euros.csv')).toBe(Buffer.from(bytes).toString('latin1'));
  });

  test('is never made or lost without being declared', async () => {
    const { service, writer } = shared;
    const made = await create(writer, 'plain', [{ name: 'Total', n: 3 }]);
    expect([made.status, String(made.detail)]).toEqual([
      422,
      expect.stringContaining('"total_row"'),
    ]);
    expect((await update(writer, 'notsum', { _row_id: 2, n: 3 })).status).toBe(422);
    expect((await remove(writer, 'floats', 2)).status).toBe(422);
    expect(bytesOf(service, 'plain.csv')).toBe(PLAIN);
    expect((await update(writer, 'kept', { _row_id: 2, n: 5 })).status).toBe(200);
    expect(bytesOf(service, 'kept.csv')).toBe('name,n\na,1\nb,5\nTotal,3\n');
    expect((await create(writer, 'declared', [{ name: 'c', n: 4 }])).rowIds).toEqual([3]);
    expect(bytesOf(service, 'declared.csv')).toBe('name,n,d\na,1,x\nb,2,y\nc,4,\nEnde,7,z\n');
    await update(writer, 'declared', { _row_id: 3, n: -3 });
    await update(writer, 'declared', { _row_id: 1, n: 2 });
    expect(bytesOf(service, 'declared.csv')).toEndWith('\nc,-3,\nEnde,1,z\n');
  });
});

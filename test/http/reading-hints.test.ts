/** What a file leaves open is told, with the option that decides it (DS-69, DS-228, DS-72). */
import { describe, expect, test } from 'bun:test';
import { bytesOf, create } from './changes.ts';
import { get, list } from './listing.ts';
import { sharedService } from './shared-service.ts';

const CZECH = Buffer.from('jm\xe9no;m\xecsto\nDvo\xf8\xe1k;Plze\xf2\n', 'latin1');
const files = {
  'excel.tsv': Buffer.from('\ufeffname\tx\na\t1,5\nb\t2,25\n', 'utf16le'),
  'rates.csv': 'name,rate,price,day,n\na,12 %,"7,50 €",01/02/2026,1\nb,3 %,"8,00 €",03/04/2026,2\n',
  '.svc/rates.csv.options.json': '{"header_row":1}',
  'groups.csv': 'name,n\na,"1,234"\nb,"56,789"\n',
  'points.tsv': 'name\tx\ty\na\t1,5\t1.5\nb\t2,25\t2.5\n',
  'plz.csv': 'PLZ;n;m\n01067;12.345;1\n80331;101.234;2\n',
  'metres.csv': 'n;m\n12.345;0.5\n1.234;1.5\n',
  'odd.tsv': 'a;b\n1;2\n3;4\n',
  'list.csv': 'name\n"Smith, John"\n',
  'cz.csv': CZECH,
  '.svc/cz.csv.options.json': '{"encoding":"windows-1250"}',
  'wahr.csv': 'n;ok\n1;WAHR\n2;FALSCH\n3;\n',
  '.svc/wahr.csv.schema.json': '{"columns":{"n":{"type":"integer"},"ok":{"type":"boolean"}}}',
  'vero.csv': 'n;ok\n1;VERO\n2;FALSO\n3;FALSO\n',
  '.svc/vero.csv.schema.json': '{"columns":{"n":{"type":"integer"},"ok":{"type":"boolean"}}}',
  'mac.csv': Buffer.from('stra\xa7e;n\nM\x9fller;1\n', 'latin1'),
  '.svc/mac.csv.options.json': '{"encoding":"macintosh"}',
};
const shared = sharedService({ files });
const html = { headers: { Accept: 'text/html' } };

async function hints(name: string): Promise<unknown> {
  return ((await get(shared.reader, `/schema/${name}/`)).body as { hints?: unknown }).hints;
}

describe('columns of text that may be something else', () => {
  test('are named in the schema with what decides', async () => {
    expect(await hints('excel')).toEqual([{ columns: ['x'], options: { decimal: ',' } }]);
    expect(await hints('rates')).toEqual([
      { columns: ['rate'], options: { units: 'auto' } },
      { columns: ['rate', 'price'], options: { decimal: ',', units: 'auto' } },
      { columns: ['day'], options: { date_order: 'dmy' } },
      { columns: ['day'], options: { date_order: 'mdy' } },
    ]);
    expect(await hints('groups')).toEqual([
      { columns: ['n'], options: { decimal: ',' } },
      { columns: ['n'], options: { thousands: ',' } },
    ]);
    expect(await hints('plz')).toEqual([{ columns: ['n'], options: { thousands: '.' } }]);
    expect(await hints('metres')).toBeUndefined();
    expect(await hints('points')).toBeUndefined();
    expect(await hints('list')).toBeUndefined();
  });

  test('are read so with these options', async () => {
    const { service, writer } = shared;
    const saved = await writer.fetch('/_svc/companions/plz', {
      method: 'PUT',
      body: '{"options":{"thousands":"."}}',
    });
    expect(saved.status).toBe(200);
    expect((await list(writer, 'plz')).rows).toMatchObject([{ n: 12345 }, { n: 101234 }]);
    expect(await hints('plz')).toBeUndefined();
    expect(bytesOf(service, 'plz.csv')).toBe(files['plz.csv']);
  });

  test('lead to the preview with the option chosen, for those who may save it', async () => {
    const { reader, writer } = shared;
    const page = await get(writer, '/ui/rates/', html);
    expect(page.text).toContain('rate</span> may be <span>numbers with their unit');
    const href = /href="([^"]*date_order=dmy)"/.exec(page.text)![1]!.replaceAll('&amp;', '&');
    expect(href).toContain('header_row=1');
    const preview = await get(writer, href, html);
    expect(preview.text).toMatch(/<option value="dmy" selected/);
    expect(preview.text).toContain('as found: date');
    expect((await get(reader, '/ui/rates/', html)).text).not.toContain('Read it so');
  });
});

describe('a file that reads as one column', () => {
  test('opens its layout where the name holds a delimiter', async () => {
    const { reader, writer } = shared;
    const page = await get(writer, '/ui/odd/', html);
    expect([page.status, page.text.includes('2 columns')]).toEqual([200, true]);
    expect(page.text).toContain('href="/ui/odd/?offset=0"');
    expect((await get(writer, '/ui/odd/?offset=0', html)).text).toContain('id="dataset"');
    expect((await get(reader, '/ui/odd/', html)).text).toContain('id="dataset"');
    expect((await get(writer, '/ui/list/', html)).text).toContain('id="dataset"');
  });
});

test('truth values of spreadsheets are such where they are declared, and written so (DS-61)', async () => {
  const { service, writer } = shared;
  expect((await list(writer, 'wahr', { filter: { ok: true } })).rows).toEqual([
    { _row_id: 1, n: 1, ok: true },
  ]);
  await create(writer, 'vero', [{ n: 4, ok: true }]);
  expect(bytesOf(service, 'vero.csv')).toEndWith('\n4;VERO\n');
  await create(writer, 'wahr', [
    { n: 4, ok: false },
    { n: 5, ok: 'wahr' },
  ]);
  expect(bytesOf(service, 'wahr.csv')).toBe('n;ok\n1;WAHR\n2;FALSCH\n3;\n4;FALSCH\n5;WAHR\n');
});

test('encodings of Central Europe and of old Macs are read and written back', async () => {
  const { service, writer } = shared;
  expect((await list(writer, 'cz')).rows).toEqual([
    { _row_id: 1, jméno: 'Dvořák', město: 'Plzeň' },
  ]);
  expect((await create(writer, 'cz', [{ jméno: 'Žižka' }])).status).toBe(200);
  expect(bytesOf(service, 'cz.csv')).toBe(`${CZECH.toString('latin1')}\x8ei\x9eka;\n`);
  expect((await create(writer, 'cz', [{ jméno: 'Ångström' }])).status).toBe(422);
  expect((await create(writer, 'mac', [{ straße: 'Öl', n: 2 }])).status).toBe(200);
  expect(bytesOf(service, 'mac.csv')).toBe('stra\xa7e;n\nM\x9fller;1\n\x85l;2\n');
});

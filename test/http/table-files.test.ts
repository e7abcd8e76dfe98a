/**
 * Tables in the formats other programs leave them in (DS-23): which rows and types they have, and what an edit does to
 * the file.
 */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

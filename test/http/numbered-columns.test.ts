/** Columns with numbers for names, as tables by year have them: wherever columns are told, they stand as in the file. */
import { expect, test } from 'bun:test';
import { sharedService } from './shared-service.ts';

const shared = sharedService({
  files: { 'sales.csv': 'shop,2025,2024,note,7\nalpha,5,6.5,x,1\n' },
});

const COLUMNS = ['shop', '2025', '2024', 'note', '7'];

/** Names of members in the order of the text; parsing would order them anew. */
function memberNames(json: string): string[] {
  return [...json.matchAll(/"([^"]+)":/g)].map(([, name]) => name!);
}

test('the schema lists columns in file order (DS-69)', async () => {
  const text = await (await shared.reader.fetch('/schema/sales/')).text();
  expect(text).toBe(
    '{"type":"object","name":"sales","primary_key":"_row_id","columns":{"shop":{"type":"string"},' +
      '"2025":{"type":"integer"},"2024":{"type":"number"},"note":{"type":"string"},"7":{"type":"integer"}}}',
  );
});

test('rows, exports and searches have them in file order (DS-35, SL-40)', async () => {
  const { reader } = shared;
  const rows = await (await reader.fetch('/api/sales/')).text();
  expect(memberNames(rows)).toEqual(['_row_id', ...COLUMNS]);
  const csv = await (await reader.fetch('/api/sales/?format=csv')).text();
  expect(csv.split('\n')[0]).toBe(COLUMNS.join(','));
  const found = await reader.fetch('/search2/api/run/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"query":"from sales"}',
  });
  expect(memberNames(await found.text()).slice(1, 1 + COLUMNS.length)).toEqual(COLUMNS);
});

/**
 * The audit as a download: every entry that matches, however many pages, for superusers.
 */
import { expect, test } from 'bun:test';
import Papa from 'papaparse';
import { sharedService } from './shared-service.ts';

const shared = sharedService({ files: { 'a.csv': 'n\n1\n' } });
const ENTRIES = 2_345;

async function fill(): Promise<void> {
  const { db } = shared.service.accounts;
  await db.run('DELETE FROM audit');
  await db.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO audit (timestamp, action, resource, details)
     SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 1800000000 + i, 'unixepoch'),
       iif(i % 2, 'login', 'logout'), 'auth', 'a "quoted", text' || char(10) || i FROM n`,
    [ENTRIES],
  );
}

test('NDJSON and CSV hold every entry that matches, newest first, whatever the paging', async () => {
  await fill();
  const { superuser } = shared;
  const ndjson = await superuser.fetch('/admin/audit-logs?format=ndjson&limit=5&offset=3');
  expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson');
  expect(ndjson.headers.get('content-disposition')).toContain('filename="audit.ndjson"');
  const lines = (await ndjson.text()).trimEnd().split('\n');
  expect(lines).toHaveLength(ENTRIES);
  expect(JSON.parse(lines[0]!)).toMatchObject({ details: `a "quoted", text\n${ENTRIES}` });

  const csv = await superuser.fetch('/admin/audit-logs?format=csv&action=login&order=asc');
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const rows = Papa.parse<string[]>((await csv.text()).trimEnd()).data;
  expect(rows[0]).toEqual([
    'id',
    'timestamp',
    'user_id',
    'action',
    'resource',
    'details',
    'ip_address',
  ]);
  expect(rows).toHaveLength(1 + Math.ceil(ENTRIES / 2));
  expect(rows[1]!.slice(3, 6)).toEqual(['login', 'auth', 'a "quoted", text\n1']);
});

test('a filter narrows the export, a wrong one is refused before anything is sent', async () => {
  await fill();
  const { superuser } = shared;
  const filter = encodeURIComponent('{"id":{"$lte":0}}');
  const none = await superuser.fetch(`/admin/audit-logs?format=csv&filter=${filter}`);
  expect(await none.text()).toBe('id,timestamp,user_id,action,resource,details,ip_address\n');
  const wrong = encodeURIComponent('{"colour":1}');
  expect((await superuser.fetch(`/admin/audit-logs?format=csv&filter=${wrong}`)).status).toBe(422);
  const unknown = await superuser.fetch('/admin/audit-logs?format=pdf');
  expect(unknown.status).toBe(422);
  expect(await unknown.json()).toMatchObject({
    detail: [{ type: 'enum', loc: ['query', 'format'] }],
  });
});

test('what others wrote is no formula for the program that opens the file (S-X11)', async () => {
  await fill();
  const resource = '=HYPERLINK("http://a.example","see")';
  const stranger = await shared.service.as('stranger');
  expect((await stranger.fetch(`/${encodeURIComponent(resource)}`)).status).toBe(403);
  const url = '/admin/audit-logs?format=csv&action=permission_denied';
  const csv = await (await shared.superuser.fetch(url)).text();
  expect(Papa.parse<string[]>(csv).data[1]![4]).toBe(`'${resource}`);
});

test('only superusers may', async () => {
  expect((await shared.service.fetch('/admin/audit-logs?format=csv')).status).toBe(401);
  expect((await shared.reader.fetch('/admin/audit-logs?format=csv')).status).toBe(403);
});

/**
 * Every page has a bound of size, whatever its address says and however much is listed: a link on a foreign page must not
 * make the server build hundreds of megabytes (S-D4). The addresses come from the table of routes.
 */
import { beforeAll, expect, test } from 'bun:test';
import { tone } from './media-files.ts';
import { workOf } from './process-memory.ts';
import { rawRequest } from './raw-request.ts';
import { EXPECTATIONS, FILE_EXPECTATIONS, FILES } from './route-matrix.ts';
import { sharedService } from './shared-service.ts';

const MAX_PAGE_BYTES = 2 * 1024 * 1024;
/** A request head is at most 256 KiB (DS-18). */
const QUERY_BYTES = 200_000;
const MOST_WORK_MS = 3_000;
const COLUMNS = Array.from({ length: 1_900 }, (_, n) => `column ${n}`);
const ROWS = Array.from({ length: 60 }, (_, n) => COLUMNS.map(() => `<${n}>`).join(',')).join('\n');

const many = (count: number, make: (n: number) => readonly [string, string | Uint8Array]) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => make(n)));

const shared = sharedService(
  {
    files: {
      ...FILES,
      'wide.csv': `${COLUMNS.join(',')}\n${ROWS}\n`,
      ...many(300, (n) => [`folder ${n % 9}/words ${n}.csv`, 'a\nword\n']),
      ...many(60, (n) => [`sounds/${n}.wav`, tone()]),
    },
    config: { upload: { enabled: true } },
  },
  /"status":50[34]/,
);

beforeAll(async () => {
  const { accounts } = shared.service;
  for (let n = 0; n < 80; n++) await accounts.grant(`user ${n}`, `folder ${n % 9}/*`, 'read');
  for (let n = 0; n < 80; n++) {
    const body = JSON.stringify({ name: `search ${n}`, query: `"word" | head ${n}` });
    await shared.superuser.fetch('/api/savedsearches/', { method: 'POST', body });
  }
});

/** Parameters that pages know. */
const NAMES =
  'q filter sort order offset limit cursor columns pinned values chart x y measure row delete done at format type search kind earliest latest from to form next part list user username resource right name action did since until page method path tag id where is by way'.split(
    ' ',
  );
const MEMBERS = JSON.stringify(
  Object.fromEntries(
    COLUMNS.concat(COLUMNS.map((one) => `x${one}`)).map((name) => [name, { $ne: '' }]),
  ),
).slice(0, 62_000);
const WIDE = JSON.stringify(Object.fromEntries(COLUMNS.slice(0, 1_500).map((name) => [name, 'z'])));
const long = (text: string, bytes: number) =>
  encodeURIComponent(text.repeat(bytes).slice(0, bytes));
/** As an HTML attribute each of these takes five or six bytes. */
const SIGNS = `"'<&>`;

const QUERIES: Readonly<Record<string, string>> = {
  'a long word': `q=${'x'.repeat(QUERY_BYTES)}`,
  'a long word of signs': `q=${'%26'.repeat(QUERY_BYTES / 3)}`,
  'a long filter': `filter=${'x'.repeat(QUERY_BYTES)}`,
  'a filter of many members': `filter=${encodeURIComponent(WIDE)}`,
  'a filter cut off': `filter=${encodeURIComponent(MEMBERS)}`,
  'a filter of quotes': `filter=${encodeURIComponent(JSON.stringify({ 'column 1': { $nin: Array.from({ length: 900 }, (_, n) => `"'<&>${n}`) } }))}`,
  'sort by many columns': `sort=${COLUMNS.slice(0, 60).map(encodeURIComponent).join(',')}`,
  'all parameters, long': NAMES.map((name) => `${name}=${long(SIGNS, 1_200)}`).join('&'),
  'all parameters, once a number': `${NAMES.map((name) => `${name}=1`).join('&')}&q=${'y'.repeat(100_000)}`,
  'long values of short parameters': NAMES.filter(
    (name) => !['q', 'filter', 'sort', 'format'].includes(name),
  )
    .map((name) => `${name}=${'z'.repeat(3_500)}`)
    .join('&'),
  'paths of many parts': `folder=${'a/'.repeat(40_000)}&resource=${'a/'.repeat(40_000)}`,
  'unknown parameters': 'a=b&'.repeat(QUERY_BYTES / 4),
  'known parameters again and again': 'type=x&'.repeat(QUERY_BYTES / 7),
  'names in signs': `${'%3C%26=%22&'.repeat(QUERY_BYTES / 12)}`,
};
const PATHS = new Set(
  [...Object.entries(EXPECTATIONS), ...Object.entries(FILE_EXPECTATIONS)]
    .filter(([name]) => name.startsWith('GET '))
    .map(([, { path }]) => path.replace(/[?#].*/, ''))
    .filter((path) => !/stream|tail|export|backup|\/_svc\//.test(path))
    .concat(
      '/ui/wide/',
      '/ui/wide/?row=1',
      '/ui/folder 1/words 1/',
      '/ui/sounds/1',
      '/nothing here',
    ),
);

test.each(Object.entries(QUERIES))('%s makes no page large', async (_, query) => {
  const key = await shared.service.accounts.apiKey('root');
  const headers = { 'X-API-Key': key, Accept: 'text/html' };
  const large: string[] = [];
  for (const path of PATHS) {
    const target = encodeURI(path) + (path.includes('?') ? '&' : '?') + query;
    const before = workOf(shared.service.pid);
    const answer = await rawRequest(shared.service.url, { path: target, headers });
    const isPage = answer.headers['content-type']?.startsWith('text/html') === true;
    const { status, body } = answer;
    // Other requests wait while it is made.
    const work = workOf(shared.service.pid) - before;
    if (work > MOST_WORK_MS) large.push(`${status} ${path}: ${work} ms`);
    if (isPage && (status >= 500 || body.length > MAX_PAGE_BYTES)) {
      large.push(`${status} ${path}: ${body.length}`);
    }
  }
  expect(large).toEqual([]);
});

test('a view that is too long for the links of columns and rows keeps its pages and forms', async () => {
  const filter = JSON.stringify({ 'column 1': { $nin: Array.from({ length: 900 }, String) } });
  const address = `/ui/wide/?filter=${encodeURIComponent(filter)}`;
  const headers = { Accept: 'text/html' };
  const page = await (await shared.reader.fetch(address, { headers })).text();
  expect(page).toContain('links on it may leave out the longest part');
  expect(page).toContain('<span>column 1</span>');
  expect(page).toContain('href="/ui/wide/?row=1"');
  const next = /rel="next" href="([^"]*)"/.exec(page)![1]!.replaceAll('&amp;', '&');
  expect(next).toContain(new URLSearchParams({ filter }).toString());
  expect((await shared.reader.fetch(next, { headers })).status).toBe(200);
});

test('a wide table shows fewer rows on a page, and every row has its page', async () => {
  const headers = { Accept: 'text/html' };
  const seen: string[] = [];
  let address: string | undefined = '/ui/wide/';
  while (address !== undefined) {
    const page: string = await (await shared.reader.fetch(address, { headers })).text();
    expect(page.length).toBeLessThan(MAX_PAGE_BYTES);
    seen.push(...[...page.matchAll(/aria-label="Row (\d+)"/g)].map(([, id]) => id!));
    address = /rel="next" href="([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(seen).toEqual(Array.from({ length: 60 }, (_, n) => String(n + 1)));
  const page = await (await shared.reader.fetch('/ui/wide/?at=38', { headers })).text();
  expect(page).toContain('aria-label="Row 38"');
});

test('a query of names without values takes no square of its length', async () => {
  const before = workOf(shared.service.pid);
  for (let n = 0; n < 5; n++) {
    expect((await shared.reader.fetch(`/api/a/?${'&'.repeat(QUERY_BYTES)}`)).status).toBe(200);
  }
  expect(workOf(shared.service.pid) - before).toBeLessThan(1_000);
});

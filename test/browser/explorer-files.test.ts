/**
 * Files of a result that has more rows than a file may have: told beside the menu, after the download, and to programs in
 * headers (EV-96, EV-97); the file itself has rows only.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const EVENTS = 130;
const MOST = 120;

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: {},
    config: { events: { search: { export_max_rows: MOST } } },
  });
  await svc.accounts.user('ada', { superuser: true });
  const now = Date.now();
  const events = Array.from({ length: EVENTS }, (_, at) => ({
    host: `web-${at % 3}`,
    sourcetype: 'json',
    data: JSON.stringify({ event_time: new Date(now - at * 60_000).toISOString(), at }),
  }));
  const sent = await (
    await svc.as('ada')
  ).fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(sent.status).toBe(201);
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada');
}, 60_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const note = () => page.locator('.menu-list p.fine');

async function openMenu(query: string): Promise<void> {
  await page.goto(`/events?${new URLSearchParams({ q: query, earliest: '-1d' })}`);
  await page.getByText('Export', { exact: true }).click();
}

test('the menu says how many rows a file will have, and the download what it lacks', async () => {
  await openMenu('host=web*');
  await note().getByText('Download the first 120 of 130 rows').waitFor();
  for (const label of ['CSV', 'Excel (XLSX)']) {
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: label, exact: true }).click();
    await downloading;
    await page.getByText('Export', { exact: true }).click();
  }
  const told = page.locator('.work .fine');
  await told.getByText('A file may have 120 rows; what is beyond them is not in it.').waitFor();
  await told.getByText('The file has the first 120 rows only: there are more.').waitFor();

  await openMenu('host=web-1');
  await note().getByText('Download all 43 rows').waitFor();
  // What follows a search may leave any number of rows: a count of its events says nothing about them.
  await openMenu('host=web* | where true');
  await page.locator('#histogram .bars').waitFor();
  await soon(() => note().innerText()).toBe('Download up to 120 rows');
  await soon(() => page.locator('.tools').getByRole('status').innerText()).toStartWith(
    'first 100 rows',
  );
  expect(browser.reports).toEqual([]);
});

test('headers tell programs the limit, and where it is known in time that a file was cut', async () => {
  const ada = await svc.as('ada');
  const run = async (format: string, query: string): Promise<(string | null)[]> => {
    const response = await ada.fetch('/search2/api/run/', {
      method: 'POST',
      body: JSON.stringify({ query, format }),
    });
    await response.arrayBuffer();
    return [response.headers.get('x-row-limit'), response.headers.get('x-truncated')];
  };
  const all = 'search index=*';
  expect(await run('xlsx', all)).toEqual(['120', 'true']);
  expect(await run('parquet', all)).toEqual(['120', 'true']);
  expect(await run('parquet', `${all} | head 120`)).toEqual(['120', 'false']);
  expect(await run('csv', all)).toEqual(['120', null]);
  expect(await run('ndjson', all)).toEqual(['120', null]);
  expect(await run('json', all)).toEqual([null, null]);
});

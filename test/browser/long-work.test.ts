/**
 * What takes its time, and taking a view along: searches and downloads with progress and a way to stop that ends the work in the
 * server, errors of downloads as text, and the same menu on every view of data.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const ROWS = 300_000;
/** Minutes of work for any machine, in stages that SQL does not do. */
const SLOW = `from large ${'| append [ from large ] '.repeat(12)}| rex field=text "(?<word>[a-z]+) (?<n>[0-9]+)" | eval a=n*2, b=len(word) | stats count by a, b`;

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  const lines = Array.from({ length: ROWS }, (_, at) => `${at},some text ${at}`);
  svc = await startService({
    files: {
      'large.csv': `id,text\n${lines.join('\n')}\n`,
      'shop/products.csv': 'name,price\ncup,2\npot,20\n',
      'song.mp3': 'no sound',
    },
    config: {
      events: {
        search: { concurrent_per_user: 1, timeout_seconds: 120, memory_bytes: '2GiB' },
      },
    },
  });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  await svc.accounts.grant('ada', '@events', 'read');
  // Read once, so that no page waits for that.
  await (await (await svc.as('ada')).fetch('/api/large/?limit=1')).text();
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { viewport: { width: 1280, height: 900 } });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const work = (title: string) => page.getByRole('region', { name: title, exact: true });

test('a search that takes long says so, and cancelling ends it in the server (EV-98)', async () => {
  await page.goto('/events?q=&earliest=');
  await page.locator('.editor .cm-content').click();
  await page.keyboard.insertText(SLOW);
  // Playwright looks at nothing while the next page is on its way, so the page itself waits for the button.
  await page.evaluate(`{
    const watch = setInterval(() => {
      const line = document.querySelector('.work');
      if (line === null || !/[1-9] s$/.test(line.querySelector('.fine').textContent)) return;
      clearInterval(watch);
      window.seen = line.getAttribute('aria-label');
      line.querySelector('button').click();
    }, 50);
    document.querySelector('#query button').click();
  }`);
  await soon(() => page.evaluate<string>('window.seen')).toBe('Searching');
  await work('Searching').waitFor({ state: 'detached' });
  // One search of a user runs at once: this one could not while the other did.
  await eventually(async () => {
    await page.goto('/events?q=from+shop%2Fproducts&earliest=');
    expect(await page.getByRole('main').getByRole('status').first().innerText()).toMatch(/^2 rows/);
  });
});

test('a download shows its rows and bytes, and is the file', async () => {
  await page.goto('/ui/large/?q=some');
  await page.locator('.row-count').getByText('300,000 rows').waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV', exact: true }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe('large.csv');
  const text = readFileSync(await download.path(), 'utf8');
  expect(text.split('\n')).toHaveLength(ROWS + 2);
  await work('Download as CSV')
    .getByText(/^Done: .* MiB in \d+ s$/)
    .waitFor();
  await page.getByRole('button', { name: 'Close: Download as CSV' }).click();
  await work('Download as CSV').waitFor({ state: 'detached' });
});

test('a download that is cancelled ends, and one that fails says why', async () => {
  await page.goto(`/events?${new URLSearchParams({ q: 'from shop/products', earliest: '' })}`);
  const address = `/events?${new URLSearchParams({ q: SLOW, earliest: '', format: 'xlsx' })}`;
  const point = (href: string): Promise<void> =>
    page.getByRole('link', { name: 'Excel (XLSX)' }).evaluate((link, to) => {
      (link as unknown as { href: string }).href = to;
    }, href);
  await page.getByText('Export', { exact: true }).click();
  await point(address);
  await page.getByRole('link', { name: 'Excel (XLSX)' }).click();
  await work('Download as Excel (XLSX)')
    .getByText(/^Preparing · [1-9]\d* s$/)
    .waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: /^Cancel: Download/ }).click();
  await work('Download as Excel (XLSX)').getByText('Cancelled.').waitFor();
  await page.getByRole('button', { name: /^Close: Download/ }).click();

  await page.getByText('Export', { exact: true }).click();
  await point('/events?q=from+nowhere&earliest=&format=xlsx');
  await page.getByRole('link', { name: 'Excel (XLSX)' }).click();
  await work('Download as Excel (XLSX)')
    .getByText(/nowhere/)
    .waitFor();
  await page.getByRole('button', { name: /^Close: Download/ }).click();
});

test('the explorer has its result under addresses, also without script', async () => {
  const plain = await openAs(browser, svc, 'ada', { javaScriptEnabled: false });
  await plain.goto('/events?q=from+shop%2Fproducts&earliest=');
  await plain.getByText('Export', { exact: true }).click();
  const saved = plain.waitForEvent('download');
  await plain.getByRole('link', { name: 'Parquet' }).click();
  expect((await saved).suggestedFilename()).toBe('search.parquet');
  await plain.getByRole('link', { name: 'Open JSON' }).click();
  await soon(() => plain.locator('body').innerText()).toContain('"rows":[{"name":"cup","price":2}');
  await plain.context().close();
});

test('every list has its data at hand: for a terminal, as JSON, as files', async () => {
  const views = ['/events?q=from+large&earliest=', '/search?q=cup', '/ui/media', '/savedsearches'];
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const view of views) {
    await page.goto(view);
    await page.getByText('Export', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toStartWith('curl -H ');
    const json = await page.getByRole('link', { name: 'Open JSON' }).getAttribute('href');
    const answer = await (await svc.as('ada')).fetch(json!);
    expect([view, answer.status, answer.headers.get('content-type')]).toEqual([
      view,
      200,
      'application/json',
    ]);
    await answer.body?.cancel();
    const files = await page.locator('[data-download]').count();
    expect([view, files]).toEqual([view, view === '/savedsearches' ? 0 : 4]);
  }
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports.filter((text) => !/status of 4(?:00|29)/.test(text))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

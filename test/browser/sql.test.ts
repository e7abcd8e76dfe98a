/** SQL on its page: two files and events joined, by hand, without script and on a phone (SL-190 to SL-197). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  const rows = Array.from({ length: 250 }, (_, at) => `h${at % 3},${at}`);
  svc = await startService({
    files: {
      'shop/sales.csv': `host,qty\n${rows.join('\n')}\n`,
      'owners.csv': 'host,Name\nh0,Ann\nh1,Bob\n',
    },
    config: { events: { min_free_bytes: 1 } },
  });
  await svc.createSuperuser('ada');
  const ada = await svc.as('ada');
  const events = ['h0', 'h0', 'h1'].map((host) => ({ index: 'web', host, data: 'failed' }));
  const headers = { 'Content-Type': 'application/json' };
  await ada.fetch('/api/events/', { method: 'POST', headers, body: JSON.stringify(events) });
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { viewport: { width: 1280, height: 900 } });
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const statement = () => page.locator('#query textarea').inputValue();
const cells = () => page.locator('#result tbody td').allTextContents();
const QUERY = 'index=web failed | stats count as n by host';

test('the boxes of searches lead who types SQL to the page that runs it', async () => {
  const sql = 'select "Name", sum(qty) from owners join "shop/sales" using (host) group by 1';
  await page.goto(`/search?${new URLSearchParams({ q: sql })}`);
  await page.getByRole('link', { name: 'Run this as SQL' }).click();
  await page.waitForURL(/\/sql\?q=/);
  await page.goto(`/events?${new URLSearchParams({ q: sql })}`);
  await page.getByRole('link', { name: 'Run it as SQL' }).click();
  await page.waitForURL(/\/sql\?q=/);
  expect(await cells()).toEqual(['Ann', '10,458', 'Bob', '10,292']);
});

test('tables and columns are offered, and a mistake is marked where it is', async () => {
  await page.goto('/sql');
  await page.getByRole('textbox', { name: 'Statement' }).click();
  await page.keyboard.type(`-- with failures: ${QUERY}\n`);
  await page.keyboard.type('select o.*, n, :limit as top from own');
  await page.getByRole('option', { name: 'owners' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.type(' o join failures f on f.host = o.Nam');
  await page
    .getByRole('option', { name: '"Name"', exact: false })
    .or(page.getByRole('option', { name: 'Name' }))
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+Enter');
  await page.locator('.query-problem mark').waitFor();
  expect(await page.locator('.query-problem mark').textContent()).toBe('Nam');
  expect(await page.locator('.problem').textContent()).toContain("did you mean 'Name'?");
  await page.goto(page.url().replace('o.Nam', 'o.host'));
  await page.locator('input[name=":limit"]').fill('7');
  await page.getByRole('button', { name: 'Run' }).click();
  await soon(async () =>
    expect(await cells()).toEqual(['h0', 'Ann', '2', '7', 'h1', 'Bob', '1', '7']),
  );
  expect(await accessibilityProblems(page)).toEqual([]);
});

test('a saved statement comes back to this page with its text', async () => {
  await page.goto(`/sql?${new URLSearchParams({ q: 'values (1)' })}`);
  await page.getByText('Save', { exact: true }).click();
  await page.getByLabel('Name').fill('one');
  await page.getByRole('button', { name: 'Save this search' }).click();
  await page.getByRole('heading', { name: 'one' }).waitFor();
  await page.goto('/savedsearches');
  await page.getByRole('link', { name: 'one' }).first().click();
  await page.waitForURL(/\/sql\?saved=/);
  expect(await statement()).toBe('-- SQL\nvalues (1)');
  expect(await cells()).toEqual(['1']);
});

test('it works without script: pages of rows, a file, and on a phone', async () => {
  const plain = await openAs(browser, svc, 'ada', {
    javaScriptEnabled: false,
    viewport: { width: 390, height: 800 },
  });
  await plain.goto('/sql');
  await plain.getByLabel('Statement').fill('select qty from "shop/sales" order by qty desc');
  await plain.getByRole('button', { name: 'Run' }).click();
  expect(await plain.locator('#result tbody td').first().textContent()).toBe('249');
  await plain.getByRole('link', { name: 'Next rows' }).click();
  await plain.getByRole('link', { name: 'Next rows' }).click();
  expect(await plain.locator('#result tbody td').allTextContents()).toHaveLength(50);
  expect(await plain.getByRole('link', { name: 'Next rows' }).count()).toBe(0);
  const back = await plain.getByRole('link', { name: 'Previous rows' }).getAttribute('href');
  expect(new URL(back!, svc.url).searchParams.get('offset')).toBe('100');
  await plain.getByText('Export').first().click();
  const csv = await plain.locator('a[href*="format=csv"]').first().getAttribute('href');
  const file = await (await svc.as('ada')).fetch(csv!);
  expect((await file.text()).split('\r\n')).toHaveLength(252);
});

/** Questions about a dataset, from its grid to a chart, a saved search and back, by hand and by keys (DS-219). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  const rows = Array.from({ length: 30 }, (_, at) => `r${at % 3},${at},${at / 2}`);
  svc = await startService({
    files: { 'shop/sales.csv': `region,qty,price\n${rows.join('\n')}\n` },
  });
  await svc.accounts.user('ada', { superuser: true });
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { viewport: { width: 1280, height: 900 } });
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const query = () => page.locator('#query textarea').inputValue();
const cells = () => page.locator('#result tbody td').allTextContents();

test('the grid leads to a page where columns are offered and the answer is drawn', async () => {
  await page.goto('/ui/shop/sales/');
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await page.getByRole('heading', { name: 'Ask about sales' }).waitFor();
  expect(await query()).toBe('from shop/sales | ');
  expect(await page.locator('#result tbody tr').count()).toBe(30);
  expect(
    await page.locator('select[name=earliest], #histogram:visible, #live:visible').count(),
  ).toBe(0);

  const editor = page.getByRole('textbox', { name: 'Query' });
  await editor.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('stats sum(qty*price) AS worth BY reg');
  await page.getByRole('option', { name: /^region/ }).waitFor();
  await page.keyboard.press('Enter');
  await soon(async () => expect(await query()).toEndWith('BY region'));
  await page.keyboard.press('Control+Enter');
  await page.waitForURL(/ask=from\+shop%2Fsales\+%7C\+stats/);
  expect(await cells()).toEqual(['r0', '1282.5', 'r1', '1422.5', 'r2', '1572.5']);

  await page.getByRole('button', { name: 'Chart' }).click();
  await page.locator('figure.chart canvas').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
});

test('the history has questions about this dataset only, and a saved search is what was typed', async () => {
  await page.goto('/events?q=*&earliest=');
  await page.goto('/ui/shop/sales/?ask=');
  await page.getByText('History').click();
  const asked = await page.locator('#history li').allTextContents();
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain('sum(qty*price)');
  await page.getByText('History').click();

  await page.getByRole('link', { name: 'stats count BY region | sort -count | head 10' }).click();
  await page.waitForURL(/stats\+count/);
  await page.getByText('Save', { exact: true }).click();
  await page.getByLabel('Name').fill('by region');
  await page.getByRole('button', { name: 'Save this search' }).click();
  await page.waitForURL(/saved=/);
  await page.getByRole('heading', { name: 'by region' }).waitFor();
  await page.goto('/savedsearches');
  await page
    .getByText('from shop/sales | stats count BY region | sort -count | head 10')
    .first()
    .waitFor();
});

test('it works on a phone, and the way back is the path', async () => {
  await page.setViewportSize({ width: 320, height: 700 });
  await page.goto('/ui/shop/sales/?ask=');
  const overflow = await page.evaluate(
    `document.documentElement.scrollWidth - document.documentElement.clientWidth`,
  );
  expect(overflow).toBeLessThanOrEqual(0);
  await page.getByRole('link', { name: 'sales', exact: true }).click();
  await page.waitForURL(/\/ui\/shop\/sales\/$/);
});

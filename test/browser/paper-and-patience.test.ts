/**
 * What is printed, and what is shown while a large file is read: documents, grids and results on paper; a page that waits by itself.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { soon } from '../http/eventually.ts';
import { HeldReaders } from '../http/held-readers.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { patienceFor } from '../support/patience.ts';
import { type Service, startService } from '../support/service.ts';

const rows = Array.from({ length: 450 }, (_, index) => `item ${index + 1},${index}`);
const MARKUP = '<img src=x onerror=alert(1)>';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'shop/products.csv': `name,price\n${MARKUP},1\n${rows.join('\n')}\n`,
      'shop/guide.md': '# How to order\n\nCups come in boxes of six.\n\n## Later\n\nMore.\n',
      // Long enough that its reader is found while it reads, whatever the machine.
      'large.csv': `a,b,c\n${'some text,12345,2024-01-01\n'.repeat(2_400_000)}`,
    },
    // Otherwise it is read for the search before anybody asks.
    config: { search_on_startup: false },
  });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('a large file that was never read says so, and its rows come by themselves', async () => {
  const ada = await svc.inBrowserAs('ada');
  const page = await openAs(browser, svc, 'ada');
  page.setDefaultTimeout(patienceFor(50_000));
  {
    using _ = new HeldReaders(svc);
    const answer = await ada.fetch('/ui/large/', { headers: { Accept: 'text/html' } });
    expect([answer.status, answer.headers.get('refresh')]).toEqual([202, '1']);
    expect(await answer.text()).toMatch(/large\.csv<\/span> \(<data class="size"[^>]*>\d/);
    const shown = await page.goto('/ui/large/');
    expect(shown?.status()).toBe(202);
  }
  await page.locator('.row-count').getByText('2,400,000 rows').waitFor();
  await page.context().close();
});

test('a grid is printed as a table of the rows that are there, without its tools', async () => {
  const page = await openAs(browser, svc, 'ada', { viewport: { width: 900, height: 700 } });
  await page.goto('/ui/shop/products/');
  await page.locator('#grid-0-0').getByText(MARKUP).waitFor();
  await page.emulateMedia({ media: 'print' });
  const sheet = page.locator('.print-sheet');
  await sheet.getByText(/^Rows 1 to \d+ of 451 rows$/).waitFor();
  await soon(() => sheet.locator('tbody tr').count()).toBeGreaterThanOrEqual(200);
  await soon(() => sheet.locator('tbody tr').nth(1).innerText()).toBe('item 1\t0');
  for (const hidden of ['.banner', '.grid-tools', '.grid-area', '.grid-foot']) {
    await soon(() => page.locator(hidden).isVisible()).toBe(false);
  }
  await page.emulateMedia({ media: 'screen' });
  await sheet.waitFor({ state: 'detached' });
  await soon(() => page.locator('.grid').isVisible()).toBe(true);
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.context().close();
});

test('a document is printed without outline, menus and buttons', async () => {
  const page = await openAs(browser, svc, 'ada', { colorScheme: 'dark' });
  await page.goto('/shop/guide');
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  for (const hidden of ['.banner', '.outline', '.views']) {
    await soon(() => page.locator(hidden).first().isVisible()).toBe(false);
  }
  await soon(() => page.getByText('Cups come in boxes of six.').isVisible()).toBe(true);
  const paper = 'getComputedStyle(document.body).backgroundColor';
  await soon(() => page.evaluate<string>(paper)).toBe('rgb(255, 255, 255)');
  await page.context().close();
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/**
 * The API page (DS-193): offline, without a word of complaint from the browser, and requests tried there work with the
 * session of the page.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, signIn, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({ files: { 'shop/products.csv': 'name,price\ncup,2\n' } });
  await svc.createSuperuser('ada', PASSWORD);
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`DS-193 a change tried on the page is made with the session: ${colorScheme}`, async () => {
    const page = await browser.open(svc, { colorScheme });
    await signIn(page, 'ada');
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'API', exact: true })
      .click();
    await page.locator('#operations-tag-csv').click();
    const operation = page.locator('#operations-csv-post_api_shop_products');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    const name = `jug ${colorScheme}`;
    const body = JSON.stringify({ action: 'create', data: [{ name, price: 9 }] });
    await operation.locator('textarea').fill(body);
    await operation.getByRole('button', { name: 'Execute' }).click();
    const live = operation.locator('.live-responses-table .response');
    await live.first().waitFor();
    expect(await live.locator('.response-col_status').first().innerText()).toContain('200');
    const file = join(svc.docroot, 'shop/products.csv');
    expect(readFileSync(file, 'utf8')).toContain(`${name},9\n`);
    await page.context().close();
  });
}

test('DS-193 anybody may open the page, and sees what anybody may use', async () => {
  const page = await browser.open(svc);
  await page.goto('/docs');
  await page.locator('#operations-tag-system').click();
  await page.getByText('Ask whether the server can work').waitFor();
  expect(await page.getByText('/api/shop/products/').count()).toBe(0);
  await page.context().close();
});

test('no page complained or asked another server', () => {
  expect(browser.foreignRequests).toEqual([]);
  expect(browser.reports).toEqual([]);
});

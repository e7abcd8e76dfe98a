/**
 * What a person does who never saw the product, with the pages alone: sign in, find a file, filter it, upload a workbook and
 * open it, give the way back to a colleague as an address.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { workbookFile } from '../plugins/workbook-files.ts';
import { PASSWORD, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: {
      'shop/products.csv': 'name,price\nblue cup,2\nred cup,3\nplate,4\n',
      'shop/guide.md': '# How to order\n\nCups come in boxes of six.\n',
      'archive/2024/orders.csv': 'n\n1\n',
    },
    config: { upload: { enabled: true } },
  });
  await svc.createSuperuser('grace', PASSWORD);
  browser = await TestBrowser.start();
  page = await browser.open(svc, { viewport: { width: 1280, height: 800 } });
}, 60_000);

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('somebody arrives, reads what this is, and signs in to where they wanted to go', async () => {
  await page.goto('/');
  expect(await page.locator('main').innerText()).toContain('Sign in to see what has been shared');
  await page.goto('/shop/guide');
  await page.getByLabel('User name').fill('grace');
  await page.getByLabel('Password').fill('not this one');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('Invalid credentials').waitFor();
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/shop/guide');
  expect(await page.locator('h1').innerText()).toBe('How to order');
});

test('they find a file by a part of its name and look for a value in it', async () => {
  await page.getByRole('navigation', { name: 'Path' }).getByText('Resources').click();
  await page.getByPlaceholder('Filter by name').fill('prod');
  await page.getByText('1 of 3 match').waitFor();
  await page.getByRole('link', { name: 'products', exact: true }).click();
  await page.waitForURL('**/ui/shop/products/');
  await page.getByText('blue cup').first().waitFor();
});

test('they find a row by its words and see it in its table', async () => {
  await page.keyboard.press('/');
  if (!(await page.evaluate<boolean>('document.activeElement.name === "q"'))) {
    await page.goto('/search');
  }
  await page.keyboard.type('plate');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'plate' }).first().click();
  await page.waitForURL((url) => url.pathname === '/ui/shop/products/');
  await page.getByText('plate').first().waitFor();
});

test('they upload a workbook, see it in the list and open its sheet', async () => {
  const buffer = workbookFile({
    sheets: {
      Stock:
        '<row r="1"><c r="A1" t="inlineStr"><is><t>item</t></is></c></row>' +
        '<row r="2"><c r="A2" t="inlineStr"><is><t>teapot</t></is></c></row>',
    },
  });
  await page.goto('/');
  const form = page.locator('form[action="/api/uploads"]');
  const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  await form.getByLabel('File').setInputFiles({ name: 'stock.xlsx', mimeType, buffer });
  await form.getByRole('button', { name: 'Upload' }).click();
  await form.getByText('stock.xlsx was created.').waitFor();
  expect(readFileSync(join(svc.docroot, 'stock.xlsx')).equals(buffer)).toBe(true);
  await page.locator('.tree').getByText('stock', { exact: true }).waitFor();
  await form.getByRole('link', { name: 'Open stock/Stock' }).click();
  await page.waitForURL('**/ui/stock/Stock/');
  await page.getByText('teapot').first().waitFor();
});

test('the address of what they see shows the same to whoever opens it', async () => {
  await page.goto('/');
  await page.getByPlaceholder('Filter by name').fill('guide');
  await page.getByText('1 of 4 match').waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  expect(await other.getByRole('link', { name: 'guide', exact: true }).isVisible()).toBe(true);
  expect(await other.getByRole('link', { name: 'products', exact: true }).count()).toBe(0);
  await other.close();
});

test('nothing was reported but the wrong password', () => {
  const reports = browser.reports.filter((report) => !report.includes('401'));
  expect(reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/** The history of a dataset as a page: what was changed, and taking it back, without script too (DS-251, DS-252). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const STOCK = 'sku,name,price\nA-1,Saw,7.50\nB-2,Plane,12.00\nC-3,Chisel,1.25\n';

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: { 'stock.csv': STOCK },
    config: { upload: { enabled: true } },
  });
  for (const name of ['ada', 'ben']) await svc.accounts.grant(name, '*', 'read', 'write');
  await svc.accounts.grant('ada', '', 'write');
  const ben = await svc.as('ben');
  const change = (method: string, body: object) =>
    ben.fetch('/api/stock/', { method, body: JSON.stringify(body) });
  await change('PATCH', {
    action: 'update',
    data: [
      { _row_id: 1, name: 'Hack saw', price: 8 },
      { _row_id: 2, price: 13 },
    ],
  });
  await change('POST', { action: 'create', data: [{ sku: 'D-4', name: '<b>Rasp</b>' }] });
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const text = () => readFileSync(join(svc.docroot, 'stock.csv'), 'utf8');

test('a colleague’s change is seen from the grid and taken back', async () => {
  await page.goto(`${svc.url}/ui/stock/`);
  await page.getByText('Export', { exact: true }).first().click();
  await page.getByRole('link', { name: 'History' }).click();
  const first = page.locator('.changes > li').nth(1);
  await soon(() => first.locator('h2').innerText()).toBe('ben changed 2 rows');
  await soon(() => first.locator('.cell-changes').first().innerText()).toContain('Saw Hack saw');
  await soon(() => page.locator('.changes > li').first().innerText()).toContain('<b>Rasp</b>');
  await first.getByRole('button', { name: /^Take back: / }).click();
  await page.getByText('2 rows taken back.').waitFor();
  expect(text()).toBe(`${STOCK}D-4,<b>Rasp</b>,\n`);
  await soon(() => page.locator('.changes > li').first().locator('h2').innerText()).toBe(
    'ada took back 2 rows',
  );
});

test('rows that were changed since are named, and the others can be taken back', async () => {
  await page
    .locator('.changes > li')
    .first()
    .getByRole('button', { name: /^Take back: / })
    .click();
  await page.getByText('2 rows taken back.').waitFor();
  const ada = await svc.as('ada');
  const body = JSON.stringify({ action: 'update', data: { _row_id: 2, price: 99 } });
  await ada.fetch('/api/stock/', { method: 'PATCH', body });
  await page.goto(`${svc.url}/ui/stock/?history=1`);
  const bens = page.locator('.changes > li').filter({ hasText: 'ben changed 2 rows' });
  await bens.getByRole('button', { name: /^Take back: change/ }).click();
  await soon(() => bens.getByRole('alert').innerText()).toContain("row 2: 'price' is 99 now");
  await bens.getByRole('button', { name: /the other rows/ }).click();
  await page.getByText('1 row taken back.').waitFor();
  expect(text()).toContain('A-1,Saw,7.50\nB-2,Plane,99\n');
});

test('a row has a history of its own, on a phone', async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${svc.url}/ui/stock/?row=2`);
  await page.getByRole('link', { name: 'History' }).click();
  await soon(() => page.locator('.changes > li').count()).toBe(4);
  await soon(() => page.locator('.changes th a').allInnerTexts()).toEqual(['2', '2', '2', '2']);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
});

test('a dataset as it was then is a grid that cannot be changed, with exports of then', async () => {
  await page.goto(`${svc.url}/ui/stock/?history=1&user=ben`);
  const created = page.locator('.changes > li').first();
  await created.getByRole('link', { name: 'As it was then' }).click();
  await page.getByText('nothing here can be changed').waitFor();
  await soon(() => page.locator('.grid-box').innerText()).toContain('Hack saw');
  expect(page.url()).toContain('then=2');
  await page.keyboard.press('Enter');
  await page.getByText('Export', { exact: true }).first().click();
  const csv = await page.getByRole('link', { name: 'CSV' }).getAttribute('href');
  expect(csv).toContain('at=2');
  await page.goto(`${svc.url}/ui/stock/?then=0`);
  await soon(() => page.locator('.grid-box').innerText()).not.toContain('Rasp');
});

test('one cell of a row comes back, and everything since a moment', async () => {
  const ben = await svc.as('ben');
  const body = { action: 'update', data: { _row_id: 3, sku: 'C-9', name: 'Gouge' } };
  await ben.fetch('/api/stock/', { method: 'PATCH', body: JSON.stringify(body) });
  await page.goto(`${svc.url}/ui/stock/?history=1&of=3&column=name`);
  await page.getByRole('button', { name: 'Take back name of row 3' }).click();
  await page.getByText('1 row taken back.').waitFor();
  expect(text()).toContain('C-9,Chisel,');
  await page.goto(`${svc.url}/ui/stock/?history=1&user=ben`);
  await page
    .locator('.changes > li')
    .nth(1)
    .getByRole('button', { name: /^Take back all since/ })
    .click();
  await page.getByText(/rows? taken back\./).waitFor();
  expect(text()).toContain('C-3,Chisel,');
});

test('versions of a text are compared and put back', async () => {
  const put = async (content: string): Promise<void> => {
    const form = new FormData();
    form.set('filename', 'notes.md');
    form.set('file', new File([content], 'notes.md'));
    await (await svc.as('ada')).fetch('/api/uploads', { method: 'POST', body: form });
  };
  await put('# Plan\n\nold line\n');
  await put('# Plan\n\nnew line\n');
  await page.goto(`${svc.url}/notes.md`);
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByRole('link', { name: 'Compare' }).click();
  await soon(() => page.locator('.difference del').innerText()).toContain('old line');
  await page.getByRole('button', { name: /^Put back/ }).click();
  await page.getByText('The file is as it was.').waitFor();
  expect(readFileSync(join(svc.docroot, 'notes.md'), 'utf8')).toBe('# Plan\n\nold line\n');
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports.filter((report) => !/status of 409/.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

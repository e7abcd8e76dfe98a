/**
 * Changing rows without script (DS-184): a row on its own page, changed, added and deleted by plain forms; conflicts and refusals
 * keep what was typed. And a refused upload without script, which is a page that says what would be right (DS-153).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const START = `name,price,sold,serial,note\ncup,2.5,true,1,"two\nlines"\nplate,7.5,false,2,\n${MARKUP},3,,9007199254740993,\n`;

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: { 'shop/products.csv': START },
    config: { upload: { enabled: true, max_size_bytes: 2_000, collision_policy: 'reject' } },
  });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  await svc.accounts.grant('ada', '', 'write');
  await svc.accounts.grant('rita', 'shop/*', 'read');
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', {
    javaScriptEnabled: false,
    viewport: { width: 320, height: 700 },
  });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const file = (): string => readFileSync(join(svc.docroot, 'shop/products.csv'), 'utf8');

/** The file as at first, and its page opened anew. */
beforeEach(async () => {
  svc.write('shop/products.csv', START);
  await eventually(async () => {
    const rows = await (await svc.as('ada')).fetch('/api/shop/products/?format=csv');
    expect(await rows.text()).toContain('cup,2.5,true');
  });
  await page.goto('/ui/shop/products/?sort=name');
});

async function openRow(id: number): Promise<void> {
  await page.getByRole('link', { name: `Row ${id}`, exact: true }).click();
  await page.getByRole('heading', { name: `Row ${id} of products.csv` }).waitFor();
}

test('a value is changed, the view is the same afterwards, and undone', async () => {
  await openRow(1);
  await soon(() => page.getByLabel('note').inputValue()).toBe('two\nlines');
  await page.getByLabel('price').fill('3.25');
  await page.getByRole('button', { name: 'Save' }).click();
  await soon(() => page.getByRole('status').innerText()).toBe('price of row 1 was changed.');
  expect(file()).toBe(START.replace('2.5', '3.25'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await soon(file).toBe(START);
  await page.waitForLoadState();
  await page.getByRole('link', { name: 'Back to the rows' }).click();
  await soon(() => new URL(page.url()).search).toBe('?sort=name');
});

test('what does not fit is told at its field, and stays as it was typed', async () => {
  await openRow(2);
  await page.getByLabel('price').fill('expensive');
  await page.getByLabel('note').fill('kept');
  await page.getByRole('button', { name: 'Save' }).click();
  const price = page.getByLabel('price');
  await soon(() => price.getAttribute('aria-invalid')).toBe('true');
  await soon(() => price.inputValue()).toBe('expensive');
  await soon(() => page.getByLabel('note').inputValue()).toBe('kept');
  await soon(() => page.getByRole('alert').innerText()).toContain(
    'expected number, received string',
  );
  expect(file()).toBe(START);
  const width = await page.evaluate<number>('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(320);
  await price.fill('8');
  await page.getByRole('button', { name: 'Save' }).click();
  await soon(() => page.getByRole('status').innerText()).toBe('price, note of row 2 were changed.');
  expect(file()).toContain('plate,8,false,2,kept\n');
});

test('who comes too late sees what changed, and decides', async () => {
  await openRow(1);
  await page.getByLabel('price').fill('9');
  svc.write('shop/products.csv', START.replace('2.5', '3').replace('cup', 'mug'));
  await page.getByRole('button', { name: 'Save' }).click();
  await soon(() => page.getByRole('alert').innerText()).toBe(
    'products.csv was changed by someone else meanwhile; nothing was saved.',
  );
  const rows = page.getByRole('region', { name: 'What is different' }).locator('tbody tr');
  await soon(() => rows.allInnerTexts()).toEqual(['price\t2.5\t3\t9', 'name\tcup\tmug\t']);
  expect(file()).toContain('mug,3,');
  await page.getByRole('button', { name: 'Overwrite with mine' }).click();
  await soon(file).toContain('mug,9,true');
});

test('a row is added and taken back, another one deleted after a look at it', async () => {
  await page.getByRole('link', { name: 'Add a row' }).click();
  await page.getByLabel('name').fill('jug');
  await page.getByLabel('price').fill('4');
  await page.getByRole('button', { name: 'Add the row' }).click();
  await soon(() => page.getByRole('status').innerText()).toContain('was added at the end');
  expect(file()).toBe(`${START}jug,4,,,\n`);
  await page.getByRole('button', { name: 'Undo' }).click();
  await soon(file).toBe(START);

  await page.goto('/ui/shop/products/');
  await openRow(1);
  await page.getByRole('link', { name: 'Delete this row' }).click();
  await page.getByText('two\nlines').waitFor();
  await page.getByRole('button', { name: 'Delete row 1 of products.csv' }).click();
  await soon(file).not.toContain('cup');
  await page.getByRole('button', { name: 'Undo' }).click();
  await soon(file).toContain('cup,2.5,true,1,"two\nlines"\n');
});

test('digits of long numbers and markup are only text; readers have nothing to write with', async () => {
  await openRow(3);
  await soon(() => page.getByLabel('name').inputValue()).toBe(MARKUP);
  await soon(() => page.getByLabel('serial').inputValue()).toBe('9007199254740993');
  const rita = await openAs(browser, svc, 'rita');
  await rita.goto('/ui/shop/products/?row=3');
  await rita.getByText(MARKUP).waitFor();
  expect(await rita.locator('main').getByRole('textbox').count()).toBe(0);
  expect(await rita.locator('main').getByRole('button').count()).toBe(0);
  expect(await accessibilityProblems(rita)).toEqual([]);
  const refused = await (
    await svc.inBrowserAs('rita')
  ).fetch('/ui/shop/products/?row=3', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ action: 'delete' }).toString(),
  });
  expect(refused.status).toBe(403);
  const missing = await rita.goto('/ui/shop/products/?row=99');
  expect(missing!.status()).toBe(404);
  await rita.context().close();
});

test('with script the forms are the same, and axe finds nothing', async () => {
  const other = await openAs(browser, svc, 'ada', { colorScheme: 'dark' });
  for (const query of ['row=1', 'row=new', 'row=1&delete=1']) {
    await other.goto(`/ui/shop/products/?${query}`);
    expect(await accessibilityProblems(other)).toEqual([]);
  }
  await other.context().close();
});

test('a refused upload says what would be right, and has the form again', async () => {
  await page.goto('/');
  const send = async (name: string, content: string): Promise<void> => {
    const buffer = Buffer.from(content);
    await page.getByLabel('File to send').setInputFiles({ name, mimeType: 'text/csv', buffer });
    await page.getByLabel('Save as').fill(name);
    await page.getByRole('button', { name: 'Upload' }).click();
  };
  await send('tool.py', 'print(1)');
  await soon(() => page.getByRole('alert').innerText()).toContain("'.py' is not allowed");
  await page.getByText('Tables (.csv, .xlsx, .parquet)').waitFor();
  await send('large.csv', `n\n${'1\n'.repeat(2_000)}`);
  await page.getByText('A file may have up to').waitFor();
  await send('a.csv', 'n\n1\n');
  await page.getByRole('heading', { name: 'File uploaded' }).waitFor();
  await page.goto('/');
  await send('a.csv', 'n\n2\n');
  await page.getByText('Choose another name').waitFor();
  expect(readFileSync(join(svc.docroot, 'a.csv'), 'utf8')).toBe('n\n1\n');
});

test('nothing was reported but the refusals', () => {
  const expected = /status of 40[0349]|status of 41[23]|status of 422/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

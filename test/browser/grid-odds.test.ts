/**
 * The dataset page on bad days: slow and lost connections, ended sessions, files that change, move or hold odd things, many
 * rows at once, fingers instead of a mouse, and no script at all. Nothing that was typed is lost.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { cellOn, PHONE, mayBeLeft, noticeOn, readsAs } from '../support/grid-page.ts';
import { patienceFor } from '../support/patience.ts';
import { type Service, startService } from '../support/service.ts';

const START = 'name,price,stock\ncup,2.5,10\nplate,7,0\nbowl,4.5,3\n';
const MANY = 700_000;
const ODD = [
  'code,text,long,ok',
  '007,"line one\nline two",' + 'long '.repeat(300) + ',true',
  '012,مرحبا بالعالم,日本語,false',
  '',
].join('\n');

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: {
      'stock.csv': START,
      'gone.csv': START,
      'list.csv': 'n,word\n1,a\n',
      'odd.csv': ODD,
      'empty.csv': '',
      'broken.parquet': 'PAR1 nonsense',
      'many.csv': `n\n${'1\n'.repeat(MANY)}`,
    },
  });
  await svc.createSuperuser('ada');
  await svc.accounts.grant('rita', '*', 'read');
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { viewport: { width: 1200, height: 800 } });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const file = (name = 'stock.csv'): string => readFileSync(join(svc.docroot, name), 'utf8');
const cell = (row: number, column: number, on = page) => cellOn(on, row, column);
const notice = (on = page) => noticeOn(on);

/** Reports that are not of the kind expected; the next test starts with none. */
function otherReports(expected: RegExp): string[] {
  const others = browser.reports.filter((report) => !expected.test(report));
  browser.reports.length = 0;
  return others;
}

beforeEach(async () => {
  svc.write('stock.csv', START);
  await readsAs(svc, 'stock', START);
});

async function openStock(): Promise<void> {
  await mayBeLeft(page);
  await page.goto('/ui/stock/');
  await cell(0, 0).getByText('cup').waitFor();
}

test('values are typed one after the other however slow the network is, undone and done again step by step', async () => {
  await openStock();
  await page.route('**/api/stock/**', async (route) => {
    if (route.request().method() === 'PATCH') await Bun.sleep(400);
    await route.continue();
  });
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowRight');
  for (const price of ['21', '22', '23']) {
    await page.keyboard.type(price);
    await page.keyboard.press('Enter');
  }
  await cell(2, 1).getByText('23').waitFor();
  const all = START.replace('2.5', '21').replace('7', '22').replace('4.5', '23');
  await eventually(() => expect(file()).toBe(all));
  await page.unroute('**/api/stock/**');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await notice().getByText('Undid the change of price of row 2').waitFor();
  expect(file()).toBe(START.replace('2.5', '21'));
  await page.keyboard.press('Control+y');
  await notice().getByText('Redid the change of price of row 2').waitFor();
  expect(file()).toBe(START.replace('2.5', '21').replace('7', '22'));
  expect(browser.reports).toEqual([]);
});

test('an undo outlives what others change elsewhere, and leaves alone what they changed in its row', async () => {
  await openStock();
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('21');
  await page.keyboard.press('Enter');
  await page.keyboard.type('22');
  await page.keyboard.press('Enter');
  const mine = START.replace('2.5', '21').replace('7', '22');
  await eventually(() => expect(file()).toBe(mine));
  svc.write('stock.csv', mine.replace('21,10', '21,11'));
  await notice().getByText('was changed by someone else').waitFor();
  await page.keyboard.press('Control+z');
  await notice().getByText('Undid the change of price of row 2').waitFor();
  expect(file()).toBe(START.replace('2.5,10', '21,11'));
  await page.keyboard.press('Control+z');
  await notice().getByText('Not undone: Row 1 was changed by someone else meanwhile.').waitFor();
  expect(file()).toBe(START.replace('2.5,10', '21,11'));
  expect(browser.reports).toEqual([]);
});

test('thousands of rows are pasted, selected, copied, deleted and put back, some hundred in one write', async () => {
  const pasted = Array.from({ length: 5_000 }, (_, index) => `${index + 2}\tword ${index}`);
  await page.goto('/ui/list/');
  await cell(0, 1).getByText('a').waitFor();
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(pasted.join('\n'))})`);
  await page.getByRole('button', { name: 'Paste rows' }).click();
  const dialog = page.getByRole('dialog', { name: 'Paste rows into list.csv' });
  await dialog.getByRole('textbox', { name: 'Rows to add' }).focus();
  await page.keyboard.press('Control+v');
  await dialog.getByRole('button', { name: 'Add 5,000 rows to list.csv' }).click();
  await page.getByText('5,001 rows').waitFor();
  const whole = `n,word\n1,a\n${pasted.join('\n').replaceAll('\t', ',')}\n`;
  expect(file('list.csv')).toBe(whole);

  // From the first row to one whose rows were never in sight.
  await page.getByLabel('Go to row').fill('2');
  await page.keyboard.press('Enter');
  await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).click();
  await page.getByLabel('Go to row').fill('3001');
  await page.keyboard.press('Enter');
  await page
    .getByRole('checkbox', { name: 'Select row 3001', exact: true })
    .click({ modifiers: ['Shift'] });
  await page.getByText('3,000 selected').waitFor();
  await page.keyboard.press('Control+c');
  await soon(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(
    `n\tword\n${pasted.slice(0, 3_000).join('\n')}`,
  );
  let requests = 0;
  page.on('request', (request) => {
    if (request.method() !== 'GET' && request.method() !== 'HEAD') requests++;
  });
  await page.keyboard.press('Delete');
  const question = page.getByRole('dialog', { name: 'Delete 3,000 rows of list.csv?' });
  await question.getByRole('button', { name: 'Delete 3,000 rows of list.csv' }).click();
  await notice().getByText('Deleted 3,000 rows of list.csv.').waitFor();
  await page.getByText('2,001 rows').waitFor();
  const rest = `n,word\n1,a\n${pasted.slice(3_000).join('\n').replaceAll('\t', ',')}\n`;
  expect(file('list.csv')).toBe(rest);
  expect(requests).toBe(6);
  await page.keyboard.press('Control+z');
  await notice().getByText('Undid the deletion of 3,000 rows').waitFor();
  await page.keyboard.press('Control+z');
  await notice().getByText('Undid the 5,000 new rows').waitFor();
  expect(file('list.csv')).toBe('n,word\n1,a\n');
  expect(browser.reports).toEqual([]);
});

test('what was typed while the server is away is kept, and saved when it is back', async () => {
  await openStock();
  await svc.kill();
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('99');
  await page.keyboard.press('Enter');
  await notice().getByText('1 value not saved: The server cannot be reached.').waitFor();
  await soon(() => cell(0, 1).getAttribute('aria-invalid')).toBe('true');
  await soon(() => cell(0, 1).textContent()).toBe('99');
  await svc.start();
  await eventually(() => expect(file()).toBe(START.replace('2.5', '99')), 15_000);
  await cell(0, 1).and(page.locator(':not([aria-invalid])')).waitFor();
  expect(otherReports(/ERR_(?:CONNECTION|EMPTY_RESPONSE|SOCKET)|status of 412/)).toEqual([]);
});

test('a session that ends keeps what was typed until somebody signs in again', async () => {
  const other = await openAs(browser, svc, 'wim', { viewport: { width: 900, height: 700 } });
  await svc.accounts.grant('wim', 'stock', 'read', 'write');
  await other.goto('/ui/stock/');
  await cell(0, 1, other).dblclick();
  await other.getByRole('textbox', { name: 'price' }).fill('50');
  await other.context().clearCookies();
  await other.keyboard.press('Enter');
  await notice(other)
    .getByText(/not saved|signed out/)
    .waitFor();
  await soon(() => cell(0, 1, other).textContent()).toBe('50');
  const again = await openAs(browser, svc, 'wim');
  await other.context().addCookies(await again.context().cookies());
  await eventually(() => expect(file()).toBe(START.replace('2.5', '50')), 15_000);
  await again.context().close();
  await other.context().close();
  expect(otherReports(/status of 40[13]/)).toEqual([]);
});

test('a file that is deleted under an edit is told, and what was typed is still there', async () => {
  await page.goto('/ui/gone/');
  await cell(0, 1).dblclick();
  await page.getByRole('textbox', { name: 'price' }).fill('50');
  rmSync(join(svc.docroot, 'gone.csv'));
  await notice().getByText('gone.csv is gone: it was moved or deleted.').waitFor();
  await soon(() => page.getByRole('textbox', { name: 'price' }).inputValue()).toBe('50');
  await page.keyboard.press('Escape');
  // The page would go on looking for its file, and the browser go on telling of it.
  await page.goto('about:blank');
  expect(otherReports(/status of 404/)).toEqual([]);
});

test('odd cells are shown on their line, empty and broken files say what they are', async () => {
  await page.goto('/ui/odd/');
  await cell(0, 1).getByText('line one ↵ line two').waitFor();
  const direction = await cell(1, 1).evaluate((element) => element.matches(':dir(rtl)'));
  expect(direction).toBe(true);
  await page.getByRole('button', { name: '1', exact: true }).click();
  const sheet = page.getByRole('dialog', { name: 'Row 1 of odd.csv' });
  await sheet.getByLabel('code').fill('008');
  await page.keyboard.press('Escape');
  await sheet.getByText('What you typed is not saved yet').waitFor();
  expect(await sheet.getByLabel('code').inputValue()).toBe('008');
  await sheet.getByRole('button', { name: 'Cancel' }).click();
  await page.goto('/ui/empty/');
  await page.getByText('empty.csv is empty: it has no columns.').waitFor();
  await page.goto('/ui/broken/');
  await page.getByRole('heading', { name: 'This file cannot be read' }).waitFor();
  await page.getByText("Cannot read 'broken.parquet'").waitFor();
  expect(otherReports(/status of 422/)).toEqual([]);
});

test('DS-184: readers select and copy rows without any control for writing', async () => {
  const other = await openAs(browser, svc, 'rita', { viewport: { width: 900, height: 700 } });
  await other.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await other.goto('/ui/stock/');
  await cell(0, 0, other).getByText('cup').waitFor();
  await other.getByRole('grid').focus();
  await other.keyboard.press('Shift+ArrowDown');
  await other.keyboard.press('Space');
  await other.getByText('2 selected').waitFor();
  await other.keyboard.press('Control+c');
  await notice(other).getByText('Copied 2 rows').waitFor();
  await soon(() => other.evaluate<string>('navigator.clipboard.readText()')).toBe(
    'name\tprice\tstock\ncup\t2.5\t10\nplate\t7\t0',
  );
  expect(await other.getByRole('checkbox').count()).toBe(0);
  expect(await other.getByRole('button', { name: /Add row|Paste|Undo|Redo|Delete/ }).count()).toBe(
    0,
  );
  await other.context().close();
  expect(browser.reports).toEqual([]);
});

test('fingers edit by a second tap and scroll by their own pixels, also through very many rows', async () => {
  const phone = await openAs(browser, svc, 'ada', PHONE);
  await phone.goto('/ui/stock/');
  await cell(1, 1, phone).getByText('7').waitFor();
  const active = (row: number, column: number) =>
    cell(row, column, phone).and(phone.locator('.active'));
  await cell(0, 1, phone).tap();
  await active(0, 1).waitFor();
  await cell(1, 1, phone).tap();
  // A tap is a click only when the browser is sure that it is no other gesture.
  await active(1, 1).waitFor();
  expect(await phone.locator('.grid input[type=text]').count()).toBe(0);
  await cell(1, 1, phone).tap();
  const price = phone.getByRole('textbox', { name: 'price' });
  await price.fill('dear');
  await price.press('Enter');
  await phone.getByRole('button', { name: 'Discard' }).tap();
  await cell(1, 1, phone).getByText('7').waitFor();
  await cell(1, 1, phone).tap();
  await cell(1, 1, phone).tap();
  await price.fill('8');
  await cell(0, 0, phone).tap();
  await eventually(() => expect(file()).toBe(START.replace('plate,7', 'plate,8')));
  await mayBeLeft(phone);

  await phone.goto('/ui/many/');
  await phone.getByText('700,000 rows').waitFor({ timeout: patienceFor(30_000) });
  await cell(0, 0, phone).waitFor();
  const box = (await phone.getByRole('grid').boundingBox())!;
  const devtools = await phone.context().newCDPSession(phone);
  const x = box.x + box.width / 2;
  const y = box.y + box.height / 2;
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', by = 0) =>
    devtools.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x, y: y - by }],
    });
  await touch('touchStart');
  for (let by = 10; by <= 160; by += 10) await touch('touchMove', by);
  // It stands still before it is lifted: a throw would go on by itself.
  await Bun.sleep(200);
  await touch('touchMove', 161);
  await touch('touchEnd');
  // Five rows, give or take where a gesture begins to count; the scroll bar alone would make nine of it.
  await eventually(async () => {
    const fifth = (await phone.locator('[data-row="5"]').boundingBox({ timeout: 1_000 }))!.y;
    expect(Math.abs(fifth - box.y - 32)).toBeLessThan(40);
  });
  await phone.context().close();
  expect(otherReports(/status of 422/)).toEqual([]);
});

test('without script, rows are filtered by a condition and sorted by several columns', async () => {
  const plain = await openAs(browser, svc, 'rita', { javaScriptEnabled: false });
  await plain.goto('/ui/stock/');
  await plain.getByText('Filter and sort').click();
  await plain.getByLabel('Column', { exact: true }).selectOption('stock');
  await plain.getByLabel('Condition').selectOption('is at least');
  await plain.getByLabel('Value').fill('3');
  await plain.getByLabel('Sort by').selectOption('stock');
  await plain.getByLabel('Direction 1').selectOption('desc');
  await plain.getByLabel('Then by (2)').selectOption('name');
  await plain.getByRole('button', { name: 'Show' }).click();
  await plain.waitForURL(/\?filter=.*&sort=-stock%2Cname$/);
  const names = plain.locator('table.rows tbody tr td:nth-child(2)');
  await soon(() => names.allTextContents()).toEqual(['cup', 'bowl']);
  await plain.getByText('stock ≥ 3').waitFor();
  await plain.getByRole('link', { name: 'Remove the filter stock ≥ 3' }).click();
  await plain.getByText('1–3 of 3 rows').waitFor();
  await plain.goto('/ui/stock/?sort=-_row_id');
  await soon(() => names.allTextContents()).toEqual(['bowl', 'plate', 'cup']);
  await plain.goto('/ui/stock/?q=nothing');
  await plain.getByRole('link', { name: 'Show all rows' }).click();
  await plain.getByText('1–3 of 3 rows').waitFor();
  await plain.context().close();
  expect(browser.reports).toEqual([]);
});

test('no other server was asked', () => {
  expect(browser.foreignRequests).toEqual([]);
});

/**
 * Changing rows on the dataset page: what is typed is found in the file byte by byte, and undone; what does not fit or comes
 * too late is told on the spot.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { accessibilityProblems, signIn, TestBrowser } from '../support/browser.ts';
import { cellOn, noticeOn, openWritten } from '../support/grid-page.ts';
import { type Service, startService } from '../support/service.ts';

const START = 'name,price,stock,sold\ncup,2.5,10,true\nplate,7,0,false\n"bowl, deep",4.5,3,true\n';

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: {
      'products.csv': START,
      'other.csv': START,
      'kinds.csv': 'n\n1\nmany\n3\n',
      'many.csv': `n\n${Array.from({ length: 500 }, (_, index) => `${index}\n`).join('')}`,
    },
  });
  await svc.createSuperuser('ada');
  browser = await TestBrowser.start();
  page = await browser.open(svc, { viewport: { width: 1200, height: 800 } });
  await signIn(page, 'ada');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const file = (name = 'products.csv'): string => readFileSync(join(svc.docroot, name), 'utf8');
const cell = (row: number, column: number) => cellOn(page, row, column);
const notice = () => noticeOn(page);

/** The file as at first, and its page opened anew. */
beforeEach(async () => {
  await openWritten(page, svc, 'products', START);
});

test('a cell is edited by keyboard alone; the bytes are on disk, undone, and objections stand on the cell', async () => {
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'price' }).fill('expensive');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('expected number, received string').waitFor();
  await soon(() => page.getByRole('textbox', { name: 'price' }).inputValue()).toBe('expensive');
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await cell(0, 1).getByText('2.5').waitFor();
  // Typing starts an edit; Tab keeps it and goes on.
  await page.keyboard.type('3.25');
  await page.keyboard.press('Tab');
  await page.getByRole('textbox', { name: 'stock' }).waitFor();
  await eventually(() => expect(file()).toBe(START.replace('2.5', '3.25')));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+z');
  await notice().getByText('Undid the change of price of row 1').waitFor();
  expect(file()).toBe(START);
  // The refused value is a 422, which the console reports.
  expect(browser.reports.filter((report) => !report.includes('status of 422'))).toEqual([]);
  browser.reports.length = 0;
});

test('rows are deleted and added again by undo', async () => {
  await page.getByRole('checkbox', { name: 'Select row 1' }).click();
  await page.getByRole('checkbox', { name: 'Select row 2' }).click({ modifiers: ['Shift'] });
  await page.getByRole('button', { name: 'Delete 2 rows' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 2 rows of products.csv?' });
  await dialog.getByText('new row numbers').waitFor();
  await dialog.getByRole('button', { name: 'Delete 2 rows of products.csv' }).click();
  await notice().getByText('Deleted 2 rows of products.csv.').waitFor();
  expect(file()).toBe('name,price,stock,sold\n"bowl, deep",4.5,3,true\n');
  await notice().getByRole('button', { name: 'Undo' }).click();
  await notice().getByText('with new numbers').waitFor();
  expect(file()).toBe(
    'name,price,stock,sold\n"bowl, deep",4.5,3,true\ncup,2.5,10,true\nplate,7,0,false\n',
  );
});

test('rows that are others by the time somebody agrees are not deleted', async () => {
  await page.getByRole('checkbox', { name: 'Select row 1' }).click();
  await page.keyboard.press('Delete');
  const dialog = page.getByRole('dialog', { name: 'Delete 1 row of products.csv?' });
  await dialog.waitFor();
  const theirs = START.replace('sold\n', 'sold\nfork,1,1,true\n');
  svc.write('products.csv', theirs);
  await page.locator('.grid-notice').getByText('was changed by someone else').waitFor();
  await cell(0, 0).getByText('fork').waitFor();
  await dialog.getByRole('button', { name: 'Delete 1 row of products.csv' }).click();
  await notice().getByText('Not deleted: 1 row is not as it was seen').waitFor();
  expect(file()).toBe(theirs);

  // What one has changed oneself is no other row.
  await page.getByRole('checkbox', { name: 'Select row 1' }).click();
  await page.getByText('1 selected').waitFor();
  await cell(0, 1).dblclick();
  await page.getByRole('textbox', { name: 'price' }).fill('2.50');
  await page.keyboard.press('Enter');
  await eventually(() => expect(file()).toInclude('fork,2.5'));
  await cell(0, 1).and(page.locator(':not([aria-busy])')).waitFor();
  await page.getByRole('button', { name: 'Delete 1 row' }).click();
  await dialog.getByRole('button', { name: 'Delete 1 row of products.csv' }).click();
  await notice().getByText('Deleted 1 row of products.csv.').waitFor();
  expect(file()).toBe(START);
  expect(browser.reports).toEqual([]);
});

test('a row that was the only one of its kind is put back by undo, and its column reads as before (DS-59)', async () => {
  await page.goto('/ui/kinds/');
  await cell(1, 0).getByText('many').waitFor();
  await page.getByRole('checkbox', { name: 'Select row 2' }).click();
  await page.getByRole('button', { name: 'Delete 1 row' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 1 row of kinds.csv?' });
  await dialog.getByRole('button', { name: 'Delete 1 row of kinds.csv' }).click();
  await notice().getByText('Deleted 1 row of kinds.csv.').waitFor();
  expect(file('kinds.csv')).toBe('n\n1\n3\n');
  await notice().getByRole('button', { name: 'Undo' }).click();
  await notice().getByText('with new numbers').waitFor();
  expect(file('kinds.csv')).toBe('n\n1\n3\nmany\n');
});

test('rows of a spreadsheet are pasted after a look at them, a new row is written in a form', async () => {
  await page.getByRole('button', { name: 'Paste rows' }).click();
  const dialog = page.getByRole('dialog', { name: 'Paste rows into products.csv' });
  await dialog
    .getByRole('textbox', { name: 'Rows to add' })
    .fill('stock\tname\n5\t"jug\nwith lid"\nmany\tpan\n');
  await dialog.getByText('The first line names the columns.').waitFor();
  await dialog.getByText('1 cell (marked) will not fit').waitFor();
  await dialog.getByRole('button', { name: 'Add 2 rows to products.csv' }).click();
  await dialog.getByRole('alert').getByText("column 'stock': expected integer").waitFor();
  expect(file()).toBe(START);
  await dialog
    .getByRole('textbox', { name: 'Rows to add' })
    .fill('stock\tname\n5\t"jug\nwith lid"\n6\tpan\n');
  await dialog.getByRole('button', { name: 'Add 2 rows to products.csv' }).click();
  await notice().getByText('Added 2 rows').waitFor();
  expect(file()).toBe(`${START}"jug\nwith lid",,5,\npan,,6,\n`);
  await notice().getByRole('button', { name: 'Undo' }).click();
  await notice().getByText('Undid the 2 new rows').waitFor();
  expect(file()).toBe(START);

  await page.getByRole('button', { name: 'Add row' }).click();
  const sheet = page.getByRole('dialog', { name: 'New row of products.csv' });
  await sheet.getByLabel('name', { exact: true }).fill('spoon');
  await sheet.getByLabel('price', { exact: true }).fill('x');
  await sheet.getByRole('button', { name: 'Add' }).click();
  await sheet.getByRole('alert').getByText('expected number').waitFor();
  await soon(() => sheet.getByLabel('price', { exact: true }).getAttribute('aria-invalid')).toBe(
    'true',
  );
  await sheet.getByLabel('price', { exact: true }).fill('1');
  await sheet.getByRole('button', { name: 'Add' }).click();
  await notice().getByText('Added 1 row').waitFor();
  expect(file()).toBe(`${START}spoon,1,,\n`);
  browser.reports.length = 0;
});

test('who comes too late sees both values and decides; what is being typed survives the change', async () => {
  await cell(0, 1).dblclick();
  const price = page.getByRole('textbox', { name: 'price' });
  await price.fill('9');
  svc.write('products.csv', START.replace('2.5', '3'));
  await notice().getByText('What you are typing is kept.').waitFor();
  await soon(() => price.inputValue()).toBe('9');
  await price.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'products.csv was changed by someone else' });
  await soon(() => dialog.locator('tbody tr').innerText()).toBe('price\t2.5\t3\t9');
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click();
  await notice().getByText('Your value is in the file now.').waitFor();
  expect(file()).toBe(START.replace('2.5', '9'));

  // What somebody did elsewhere is no conflict: both changes are in the file.
  await cell(1, 1).dblclick();
  await price.fill('70');
  svc.write('products.csv', START);
  await notice().getByText('What you are typing is kept.').waitFor();
  await price.press('Enter');
  await eventually(() => expect(file()).toBe(START.replace('plate,7', 'plate,70')));

  await cell(1, 1).dblclick();
  await price.fill('71');
  svc.write('products.csv', START);
  await notice().getByText('What you are typing is kept.').waitFor();
  await price.press('Enter');
  await dialog.getByRole('button', { name: 'Reload' }).click();
  await cell(1, 1).getByText('7', { exact: true }).waitFor();
  expect(file()).toBe(START);
  // The refusal is a 412, which the console reports.
  expect(browser.reports.filter((report) => !report.includes('status of 412'))).toEqual([]);
  browser.reports.length = 0;
});

test('rows changed elsewhere appear by themselves', async () => {
  svc.write('products.csv', `${START}fork,1,1,true\n`);
  await cell(3, 0).getByText('fork').waitFor();
  await page.getByText('4 rows').waitFor();
  expect(browser.reports).toEqual([]);
});

test('columns changed elsewhere are told, with a way to see them', async () => {
  svc.write('products.csv', 'name,weight\ncup,1\n');
  await notice().getByText('The columns of products.csv have changed.').waitFor();
  await notice().getByRole('button', { name: 'Show them' }).click();
  await page.getByRole('columnheader', { name: 'weight' }).waitFor();
  expect(browser.reports).toEqual([]);
});

test('rows that were asked for before a change and come after it make it no conflict', async () => {
  const [edited, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let answers = 0;
  // The second block comes late, whatever is asked for then still later.
  await page.route('**/api/many/?*limit=200*', async (route) => {
    const response = await route.fetch();
    answers++;
    if (answers === 2) await edited.promise;
    if (answers > 2) await changed.promise;
    await route.fulfill({ response });
  });
  const refusals: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 412) refusals.push(response.url());
  });
  const change = async (text: string) => {
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await eventually(() => expect(file('many.csv')).toInclude(`\n${text}\n`));
    await cell(0, 0).and(page.locator(':not([aria-busy])')).waitFor();
  };
  await page.goto('/ui/many/');
  await eventually(() => expect(answers).toBe(2));
  // The first block was fetched by then, which is not yet that the page has it.
  await cell(0, 0).getByText('0', { exact: true }).waitFor();
  await page.getByRole('grid').focus();
  await change('7777');
  edited.resolve();
  // What came is of no use, so it is asked for again.
  await eventually(() => expect(answers).toBe(3));
  await change('8888');
  expect(refusals).toEqual([]);
  changed.resolve();
  await page.unrouteAll({ behavior: 'wait' });
  await page.keyboard.press('Control+End');
  await page.getByRole('gridcell', { name: '499', exact: true }).waitFor();
});

test('rows are copied and pasted with the keys for it', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('checkbox', { name: 'Select row 3' }).click();
  await page.getByText('1 selected').waitFor();
  await page.keyboard.press('Control+c');
  await soon(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(
    'name\tprice\tstock\tsold\nbowl, deep\t4.5\t3\ttrue',
  );
  await page.keyboard.press('Control+v');
  const dialog = page.getByRole('dialog', { name: 'Paste rows into products.csv' });
  await dialog.getByRole('button', { name: 'Add 1 row to products.csv' }).press('Enter');
  await notice().getByText('Added 1 row').waitFor();
  expect(file()).toBe(`${START}"bowl, deep",4.5,3,true\n`);
  expect(browser.reports).toEqual([]);
});

test('in read-only mode there is nothing to write with, even for a superuser (DS-184)', async () => {
  await using frozen = await startService({ files: { 'a.csv': 'x\n1\n' }, args: ['--readonly'] });
  await frozen.createSuperuser('ada');
  const other = await browser.open(frozen);
  await signIn(other, 'ada');
  await other.goto('/ui/a/');
  await other.locator('#grid-0-0').getByText('1').waitFor();
  expect(await other.getByRole('button', { name: /Add row|Paste|Undo|Delete/ }).count()).toBe(0);
  await other.context().close();
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests.filter((url) => !url.startsWith(frozen.url))).toEqual([]);
});

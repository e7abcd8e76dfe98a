/**
 * Blocks of cells as in a spreadsheet: selected by keys and mouse, copied, pasted over, filled down, emptied; one step of undo
 * each, and nobody else's change is overwritten unseen.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { cellOn, noticeOn, openWritten, pressOn, undoAndRedo } from '../support/grid-page.ts';
import { type Service, startService } from '../support/service.ts';

const START =
  'name,price,stock,sold\ncup,2.5,10,true\nplate,7,0,false\n"bowl, deep",4.5,3,true\njug,8,4,true\n';
const ROWS = 2_500;
const listOf = (word: string): string[] =>
  Array.from({ length: ROWS }, (_, at) => `${at},${word}${at},${at}.5,${word}`);
const LIST = `n,word,size,kind\n${listOf('w').join('\n')}\n`;

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({ files: { 'stock.csv': START, 'list.csv': LIST } });
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
const notice = () => noticeOn(page);
const over = () => page.getByRole('dialog', { name: 'Paste over stock.csv' });
const press = (...keys: string[]) => pressOn(page, ...keys);

async function paste(text: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.getByRole('grid').focus();
  await press('Control+v');
}

beforeEach(async () => {
  await openWritten(page, svc, 'stock', START);
  await page.getByRole('grid').focus();
});

test('a block out of a spreadsheet is pasted over cells by keys alone, after a look at what does not fit', async () => {
  await press('ArrowRight', 'ArrowDown');
  await paste('70\t1\ndear\t2\n90\tmany\n');
  await over()
    .getByText(/^Replace 6 values in 3 rows of the file\.$/)
    .waitFor();
  await over().getByText('2 values do not fit and are left out:').waitFor();
  await over().getByText('price of row 3: “dear” (expected number').waitFor();
  await over().getByText('stock of row 4: “many” (expected integer').waitFor();
  expect(await over().locator('thead th').allTextContents()).toEqual(['#', 'price', 'stock']);
  expect(await accessibilityProblems(page)).toEqual([]);
  const go = over().getByRole('button', { name: 'Replace 4 values in 3 rows' });
  await go.and(page.locator(':focus')).waitFor();
  let writes = 0;
  page.on('response', (response) => {
    if (response.request().method() === 'POST') writes++;
  });
  await press('Enter');
  await notice().getByText('Replaced 4 values in 3 rows of stock.csv.').waitFor();
  const pasted =
    'name,price,stock,sold\ncup,2.5,10,true\nplate,70,1,false\n"bowl, deep",4.5,2,true\njug,90,4,true\n';
  expect([file(), writes]).toEqual([pasted, 1]);
  await page.getByText('6 cells in 3 rows selected').waitFor();
  await undoAndRedo(page, 'the paste of 4 values', { file, before: START });
  expect(browser.reports).toEqual([]);
});

test('rows past the last one are added when wanted, columns past the last one are refused with a word', async () => {
  await press('Control+End');
  await cell(3, 3).and(page.locator('.active')).waitFor();
  await press('ArrowLeft');
  await paste('5\tfalse\tmore\n6\ttrue\tmore\n');
  await over().getByText('1 column more than there are to the right').waitFor();
  const added = over().getByRole('checkbox', { name: 'Add 1 row past the last one' });
  await soon(() => added.isChecked()).toBe(true);
  await added.uncheck();
  await over().getByRole('button', { name: 'Replace 2 values in 1 row', exact: true }).waitFor();
  await added.check();
  await over().getByRole('button', { name: 'Replace 2 values in 1 row and add 1 row' }).click();
  await notice().getByText('Replaced 2 values in 1 row and added 1 row of stock.csv.').waitFor();
  expect(file()).toBe(`${START.replace('jug,8,4,true', 'jug,8,5,false')},,6,true\n`);
  await press('Control+z');
  await notice().getByText('Undid the paste of 2 values.').waitFor();
  expect(file()).toBe(START);
  expect(browser.reports).toEqual([]);
});

test('a block is copied, filled down and emptied; one value fills a whole block; markup stays text', async () => {
  await press('Shift+ArrowDown', 'Shift+ArrowRight', 'Control+c');
  await page.getByText('4 cells in 2 rows selected').waitFor();
  await soon(() => cell(1, 1).getAttribute('aria-selected')).toBe('true');
  await soon(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(
    'cup\t2.5\nplate\t7',
  );
  await press(
    'Control+Home',
    'ArrowRight',
    'Shift+ArrowDown',
    'Shift+ArrowRight',
    'Shift+ArrowDown',
  );
  await press('Control+d');
  await notice().getByText('4 values in 2 rows are filled from row 1.').waitFor();
  expect(file()).toBe(START.replace('7,0', '2.5,10').replace('4.5,3', '2.5,10'));
  await press('Control+z');
  await notice().getByText('Undid the filling of 4 values.').waitFor();
  await press('Delete');
  await notice().getByText('6 values in 3 rows are blank now.').waitFor();
  expect(file()).toBe(START.replace('2.5,10', ',').replace('7,0', ',').replace('4.5,3', ','));
  await press('Control+z');
  await notice().getByText('Undid the emptying of 6 values.').waitFor();
  expect(file()).toBe(START);

  // Its own copy goes where it belongs, commas and all.
  await press('Escape', 'Control+Home', 'ArrowDown', 'ArrowDown', 'Shift+ArrowDown', 'Control+c');
  await press('Escape', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'Control+v');
  await over().getByText('Replace 2 values in 2 rows of the file.').waitFor();
  await over().getByRole('button', { name: 'Replace 2 values in 2 rows' }).click();
  await notice().getByText('Replaced 2 values').waitFor();
  expect(file()).toStartWith('name,price,stock,sold\n"bowl, deep",2.5,10,true\njug,7,0,false\n');

  await press('Control+Home', 'Shift+ArrowDown');
  await paste('<img src=x onerror=alert(1)>');
  await over().getByText('<img src=x onerror=alert(1)>').first().waitFor();
  await over().getByRole('button', { name: 'Replace 2 values in 2 rows' }).press('Enter');
  await notice().getByText('Replaced 2 values in 2 rows').waitFor();
  expect(await page.locator('.grid img, dialog img').count()).toBe(0);
  expect(browser.reports).toEqual([]);
});

test('who goes on before the rows come anew goes on from what the last change has left', async () => {
  const come = Promise.withResolvers<void>();
  await press('ArrowRight', 'Shift+ArrowDown');
  await press('Control+d');
  await notice().getByText('price of row 2 is filled from row 1.').waitFor();
  await soon(() => cell(1, 1).textContent()).toBe('2.5');
  await page.route('**/api/stock/?*limit=200*', async (route) => {
    await come.promise;
    await route.continue();
  });
  await press('Control+z');
  await notice().getByText('Undid the filling of price of row 2.').waitFor();
  await soon(() => cell(1, 1).textContent()).toBe('7');
  await press('Delete');
  await notice().getByText('2 values in 2 rows are blank now.').waitFor();
  await press('Control+z');
  await notice().getByText('Undid the emptying of 2 values.').waitFor();
  expect(file()).toBe(START);
  come.resolve();
  await page.unrouteAll({ behavior: 'wait' });
  expect(browser.reports).toEqual([]);
});

test('a block, a cell and rows are cut: copied, then emptied or deleted as ever, in one step of undo', async () => {
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
  await press('Shift+ArrowDown', 'Shift+ArrowRight');
  await page.getByText('4 cells in 2 rows selected').waitFor();
  await press('Control+x');
  await notice().getByText('4 values in 2 rows are on the clipboard, and blank now.').waitFor();
  await soon(clipboard).toBe('cup\t2.5\nplate\t7');
  expect(file()).toBe(START.replace('cup,2.5', ',').replace('plate,7', ','));
  await press('Control+z');
  await notice().getByText('Undid the cut of 4 values.').waitFor();
  expect(file()).toBe(START);

  await press('Escape', 'Control+Home', 'ArrowRight', 'Control+x');
  await notice().getByText('price of row 1 is on the clipboard, and blank now.').waitFor();
  await soon(clipboard).toBe('2.5');
  await press('ArrowDown', 'Control+v');
  const moved = START.replace('2.5', '').replace('plate,7', 'plate,2.5');
  await eventually(() => expect(file()).toBe(moved));
  await cell(1, 1).and(page.locator(':not([aria-busy])')).waitFor();
  await press('Control+z');
  await notice().getByText('Undid the change of price of row 2.').waitFor();
  await press('Control+z');
  await notice().getByText('Undid the cut of price of row 1.').waitFor();
  expect(file()).toBe(START);

  await press('Control+Home', 'Shift+ArrowDown', ' ');
  await page.getByText('2 selected').waitFor();
  await press('Control+x');
  const question = page.getByRole('dialog', { name: 'Delete 2 rows of stock.csv?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await soon(clipboard).toBe('name\tprice\tstock\tsold\ncup\t2.5\t10\ttrue\nplate\t7\t0\tfalse');
  expect(file()).toBe(START);
  await page.locator('[role=grid]:focus').waitFor();
  await press('Control+x');
  await question.getByRole('button', { name: 'Delete 2 rows of stock.csv' }).click();
  await notice().getByText('Deleted 2 rows of stock.csv.').waitFor();
  expect(file()).toBe('name,price,stock,sold\n"bowl, deep",4.5,3,true\njug,8,4,true\n');
  await press('Control+z');
  await notice().getByText('Undid the deletion of 2 rows.').waitFor();
  expect(file()).toEndWith('jug,8,4,true\ncup,2.5,10,true\nplate,7,0,false\n');
  expect(browser.reports).toEqual([]);
});

test('a change that did not reach the server is told until it is tried again', async () => {
  await press('Shift+ArrowDown');
  await page.getByText('2 cells in 2 rows selected').waitFor();
  const failedLook = page.waitForEvent('requestfailed', (request) => request.method() === 'HEAD');
  // Not by the browser's own switch: pages made slow do without it.
  await page.route('**/stock/**', (route) => route.abort());
  await press('Control+x');
  const told = notice().getByText('Nothing was changed: The server cannot be reached.');
  await told.waitFor();
  await failedLook;
  await told.waitFor();
  await page.unroute('**/stock/**');
  expect(file()).toBe(START);
  await notice().getByRole('button', { name: 'Try again' }).click();
  await notice().getByText('2 values in 2 rows are on the clipboard, and blank now.').waitFor();
  expect(file()).toBe(START.replace('cup,', ',').replace('plate,', ','));
  await press('Control+z');
  await notice().getByText('Undid the cut of 2 values.').waitFor();
  expect(file()).toBe(START);
  expect(browser.reports.filter((report) => !report.includes('net::ERR_FAILED'))).toEqual([]);
  browser.reports.length = 0;
});

test('one cell is pasted at once, and stays in the editor when it does not fit; above fills below', async () => {
  await press('ArrowRight');
  await paste('3.25\n');
  await eventually(() => expect(file()).toBe(START.replace('2.5', '3.25')));
  await press('ArrowDown', 'Control+d');
  await notice().getByText('price of row 2 is filled from row 1.').waitFor();
  expect(file()).toBe(START.replace('2.5', '3.25').replace('7', '3.25'));
  await paste('dear');
  await soon(() => page.getByRole('textbox', { name: 'price' }).inputValue()).toBe('dear');
  await press('Escape');
  expect(browser.reports).toEqual([]);
});

test('who comes too late with a block is asked about the rows that are different, and only about those', async () => {
  await paste('a\t1\nb\t2\nc\t3\n');
  await over().getByRole('button', { name: 'Replace 6 values in 3 rows' }).waitFor();
  svc.write('stock.csv', START.replace('plate,7', 'plate,9').replace('10,true', '10,false'));
  await eventually(async () => {
    const rows = await (await svc.as('ada')).fetch('/api/stock/?format=csv');
    expect(await rows.text()).toContain('plate,9');
  });
  await over().getByRole('button', { name: 'Replace 6 values in 3 rows' }).click();
  const question = page.getByRole('dialog', { name: 'stock.csv was changed by someone else' });
  await question.getByText('2 rows are not as you saw them').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await soon(() => question.locator('tbody tr').allInnerTexts()).toContain(
    'price of row 2\t7\t9\t2',
  );
  await question.getByRole('button', { name: 'Leave these as they are' }).click();
  await notice().getByText('2 rows changed by someone else stayed so.').waitFor();
  const theirs = START.replace('plate,7', 'plate,9').replace('10,true', '10,false');
  expect(file()).toBe(theirs.replace('"bowl, deep",4.5', '"c",3'));
  expect(browser.reports.filter((report) => !report.includes('status of 412'))).toEqual([]);
  browser.reports.length = 0;
});

test('thousands of cells are pasted in few writes, in one step of undo', async () => {
  await page.goto('/ui/list/');
  await cell(0, 1).getByText('w0').waitFor();
  const lines = listOf('v').map((line) => line.replace(/^/, '1'));
  await paste(lines.join('\n').replaceAll(',', '\t'));
  const dialog = page.getByRole('dialog', { name: 'Paste over list.csv' });
  let writes = 0;
  page.on('request', (request) => {
    if (request.postData()?.startsWith('{"action":"update"') === true) writes++;
  });
  await dialog.getByRole('button', { name: 'Replace 7,500 values in 2,500 rows' }).click();
  await notice().getByText('Replaced 7,500 values in 2,500 rows of list.csv.').waitFor();
  expect(file('list.csv')).toBe(`n,word,size,kind\n${lines.join('\n')}\n`);
  expect(writes).toBe(5);
  await press('Control+c');
  await soon(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(
    lines.join('\n').replaceAll(',', '\t'),
  );
  await press('Control+z');
  await notice().getByText('Undid the paste of 7,500 values.').waitFor();
  expect(file('list.csv')).toBe(LIST);
  expect(browser.reports).toEqual([]);
});

test('the mouse pulls a block, rows with names of columns are new ones unless told otherwise', async () => {
  await cell(0, 0).hover();
  await page.mouse.down();
  await cell(1, 2).hover();
  await page.mouse.up();
  await page.getByText('6 cells in 2 rows selected').waitFor();
  await press(' ');
  await page.getByText('2 selected').waitFor();
  await press('Control+c', 'Escape', 'ArrowDown', 'Control+v');
  const adding = page.getByRole('dialog', { name: 'Paste rows into stock.csv' });
  await adding.getByRole('button', { name: 'Write over the cells instead…' }).click();
  await over().getByText('The first line names the columns.').waitFor();
  await over().getByRole('button', { name: 'Cancel' }).click();
  expect(file()).toBe(START);
  // The dialog gives the focus back when it has closed; there `?` would be typed into a cell.
  await soon(() => page.evaluate<string>('document.activeElement.role')).toBe('grid');
  await page.evaluate('document.activeElement.blur()');
  await press('?');
  await page.getByText('Fill the block with its first row').waitFor();
  expect(browser.reports).toEqual([]);
});

test('a file that has nulls says what emptying leaves', async () => {
  const rows = await (await svc.as('ada')).fetch('/api/stock/?format=parquet');
  svc.write('kept.parquet', new Uint8Array(await rows.arrayBuffer()));
  await eventually(async () => {
    expect((await (await svc.as('ada')).fetch('/api/kept/')).status).toBe(200);
  });
  await page.goto('/ui/kept/');
  await cell(0, 0).getByText('cup').waitFor();
  await page.getByRole('grid').focus();
  await press('Delete');
  await notice()
    .getByText('name of row 1 is blank now. In name that is an empty text, not null.')
    .waitFor();
  await press('Shift+ArrowDown', 'Shift+ArrowRight', 'Delete');
  await notice().getByText('3 values in 2 rows are blank now. In name that is an empty').waitFor();
  const after = await (await svc.as('ada')).fetch('/api/kept/?limit=2&columns=name,price');
  expect(await after.json()).toEqual([
    { _row_id: 1, name: '', price: null },
    { _row_id: 2, name: '', price: null },
  ]);
  expect(browser.reports).toEqual([]);
});

test('readers select and copy blocks, and have nothing to change them with', async () => {
  const other = await openAs(browser, svc, 'rita', { viewport: { width: 900, height: 700 } });
  await other.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await other.goto('/ui/stock/');
  await cell(0, 0, other).getByText('cup').waitFor();
  await other.getByRole('grid').focus();
  for (const key of ['Shift+ArrowDown', 'Shift+ArrowRight', 'Control+c']) {
    await other.keyboard.press(key);
  }
  await soon(() => other.evaluate<string>('navigator.clipboard.readText()')).toBe(
    'cup\t2.5\nplate\t7',
  );
  for (const key of ['Delete', 'Control+x', 'Control+v', 'Control+d'])
    await other.keyboard.press(key);
  expect(await other.getByRole('dialog').count()).toBe(0);
  await other.keyboard.press('?');
  await other.getByText('Select a block of cells').waitFor();
  expect(await other.getByText(/Paste over|Fill the block|Empty the/).count()).toBe(0);
  expect(file()).toBe(START);
  await other.context().close();
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

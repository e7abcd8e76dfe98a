/**
 * The dataset page as a grid, for those who only look: find rows, put columns in order, see values and charts, share the
 * address. Without a right to write there is nothing to write with (DS-184).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const ROWS = 5_000;
const products = Array.from({ length: ROWS }, (_, index) => {
  const day = new Date(Date.UTC(2024, 0, 1 + (index % 366))).toISOString().slice(0, 10);
  return `item ${index + 1},${(index % 100) + 0.5},${['red', 'green', 'blue'][index % 3]},${day},${index % 2 === 0}`;
});

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'shop/products.csv': `name,price,colour,added,sold\n${products.join('\n')}\n`,
      [`odd/${MARKUP.replaceAll('/', '')}.csv`]: `"${MARKUP}","__proto__","a,""b"\n${MARKUP},"${'long '.repeat(200)}",=1+1\n"two\nlines",,'\n`,
      'empty.csv': 'a,b\n',
    },
  });
  await svc.createSuperuser('ada');
  await svc.accounts.user('rita', { password: PASSWORD });
  await svc.accounts.grant('rita', 'shop/products', 'read');
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

async function openGrid(
  address: string,
  username = 'ada',
  options: Parameters<TestBrowser['open']>[1] = { viewport: { width: 1200, height: 800 } },
): Promise<Page> {
  const page = await browser.open(svc, options);
  await signIn(page, username);
  await page.goto(address);
  await page.getByRole('grid').waitFor();
  return page;
}

const count = (page: Page) => page.locator('.row-count');
const cell = (page: Page, row: number, column: number) => page.locator(`#grid-${row}-${column}`);

test('rows are scrolled to their end, sorted by several columns, filtered by type, and the address shows the same', async () => {
  const page = await openGrid('/ui/shop/products/');
  await page.getByText('5,000 rows').waitFor();
  await page.getByRole('grid').focus();
  await page.keyboard.press('Control+End');
  await cell(page, ROWS - 1, 0)
    .getByText(`item ${ROWS}`)
    .waitFor();
  await page.getByLabel('Go to row').fill('2500');
  await page.keyboard.press('Enter');
  await cell(page, 2499, 0).getByText('item 2500').waitFor();

  await page.getByRole('columnheader', { name: 'colour' }).locator('.head-name').click();
  await page
    .getByRole('columnheader', { name: 'price' })
    .locator('.head-name')
    .click({ modifiers: ['Shift'] });
  await page
    .getByRole('columnheader', { name: 'price' })
    .locator('.head-name')
    .click({ modifiers: ['Shift'] });
  await page.waitForURL('**/?sort=colour%2C-price');
  await cell(page, 0, 1).getByText('99.5').waitFor();

  await page.getByRole('button', { name: 'Menu of price' }).click();
  const menu = page.getByRole('dialog', { name: 'Column price' });
  await menu.getByLabel('Filter price').selectOption('between');
  await menu.getByLabel('Value').fill('10');
  await menu.getByLabel('And').fill('11');
  await menu.getByRole('button', { name: 'Filter' }).click();
  await count(page).getByText('50 rows').waitFor();
  await page.getByText('price ≥ 10 and ≤ 11').waitFor();

  await page.getByRole('button', { name: 'Columns' }).click();
  const columns = page.getByRole('dialog', { name: 'Columns' });
  await columns.getByRole('button', { name: 'None' }).click();
  await soon(() => columns.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
  await columns.getByRole('button', { name: 'All' }).click();
  await columns.getByRole('checkbox', { name: 'added' }).uncheck();
  await columns.getByRole('button', { name: 'Move price up' }).click();
  await columns.getByRole('button', { name: 'Pin price' }).click();
  await columns.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/columns=price%2Cname%2Ccolour%2Csold&pinned=price/);

  const other = await browser.open(svc);
  await signIn(other, 'ada');
  await other.goto(page.url());
  await count(other).getByText('50 rows').waitFor();
  const heads = other.getByRole('columnheader').locator('.head-name');
  await soon(() => heads.allTextContents()).toEqual(['price', 'name', 'colour', 'sold']);
  await other.context().close();

  await page.getByRole('button', { name: 'Export' }).click();
  const share = page.getByRole('dialog', { name: 'Take this view along' });
  for (const [name, format] of [
    ['CSV', 'csv'],
    ['NDJSON', 'ndjson'],
    ['Excel (XLSX)', 'xlsx'],
    ['Parquet', 'parquet'],
  ] as const) {
    const href = await share.getByRole('link', { name, exact: true }).getAttribute('href');
    expect(new URL(href!, svc.url).searchParams.get('format')).toBe(format);
    expect(new URL(href!, svc.url).searchParams.get('columns')).toBe('price,name,colour,sold');
  }
  const csv = (await share.getByRole('link', { name: 'CSV' }).getAttribute('href'))!;
  const lines = (await (await (await svc.as('rita')).fetch(csv)).text()).split('\n');
  expect([lines[0], lines.length]).toEqual(['price,name,colour,sold', 52]);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await share.getByRole('button', { name: 'Copy as curl' }).click();
  await soon(() => page.evaluate<string>('navigator.clipboard.readText()')).toStartWith(
    `curl -H "X-API-Key: $SVC_API_KEY" '${svc.url}/api/shop/products/?`,
  );

  await page.getByLabel('Rows with these words').fill('item 4211');
  await count(page).getByText('1 row').waitFor();
  await page.goBack();
  await page.getByRole('columnheader', { name: 'added' }).waitFor();
  await page.context().close();
});

test('the sidebar counts values and narrows the view; a chart has a table with the same points', async () => {
  const page = await openGrid('/ui/shop/products/');
  await page.getByRole('button', { name: 'Values' }).click();
  const values = page.getByRole('complementary', { name: 'Values of the columns' });
  await values.getByText('100 different').waitFor();
  await values.getByRole('button', { name: /red/ }).click();
  await count(page).getByText('1,667 rows').waitFor();
  await values.getByTitle(/^95 to 100/).click();
  await count(page).getByText('84 rows').waitFor();
  await page.getByRole('button', { name: 'Remove the filter colour = red' }).click();
  await count(page).getByText('250 rows').waitFor();

  await page.goto('/ui/shop/products/');
  await page.getByRole('button', { name: 'Chart', exact: true }).click();
  await page.getByLabel('Kind of chart').selectOption('bar');
  await page.getByLabel('Column across').selectOption('colour');
  await page.getByLabel('Measure').selectOption('count');
  await page.getByRole('img', { name: /^rows by colour: 3 points/ }).waitFor();
  await page.getByText('As a table').click();
  const table = page.getByRole('region', { name: 'The chart as a table' });
  await soon(() => table.locator('tbody tr').allInnerTexts()).toEqual([
    'green\t1667',
    'red\t1667',
    'blue\t1666',
  ]);
  for (const kind of ['line', 'histogram', 'scatter']) {
    await page.getByLabel('Kind of chart').selectOption(kind);
    await page.waitForURL(new RegExp(`chart=${kind}`));
  }
  await page.getByLabel('Column across').selectOption('price');
  await page.getByRole('img', { name: /price by price|by price/ }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.context().close();
});

test('what a filter says is told in words, changed by a press on them, and taken away', async () => {
  const filter = {
    $or: [{ colour: 'red' }, { colour: 'green' }],
    $not: { sold: true },
    price: { $gte: 10, $lte: 11 },
    name: { $in: Array.from({ length: 500 }, (_, at) => `item ${at + 1}`) },
  };
  const address = `/ui/shop/products/?${new URLSearchParams({ filter: JSON.stringify(filter) })}`;
  const page = await openGrid(address, 'rita');
  const chips = page.getByRole('list', { name: 'Conditions and order' }).getByRole('listitem');
  const cut = 'name is item 1, item 2, item 3, item 4, item 5, item 6, item 7, item 8, item 9…';
  await soon(() => chips.locator('.words').allInnerTexts()).toEqual([
    'colour is red or green',
    'sold ≠ true',
    'price ≥ 10 and ≤ 11',
    cut,
  ]);
  const long = chips.getByText(cut);
  await soon(() => long.getAttribute('title')).toContain('item 38');
  await soon(() => long.getAttribute('aria-label')).toStartWith('Change the filter name is item 1');
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 700 });
  await soon(() =>
    page.evaluate<number>('document.documentElement.scrollWidth'),
  ).toBeLessThanOrEqual(320);
  await page.setViewportSize({ width: 1200, height: 800 });

  // What the menu of the column has words for is changed there, all else as JSON.
  await chips.getByText('price ≥ 10 and ≤ 11').click();
  const menu = page.getByRole('dialog', { name: 'Column price' });
  await soon(() => menu.getByLabel('And').inputValue()).toBe('11');
  await menu.getByLabel('And').fill('12');
  await menu.getByRole('button', { name: 'Filter' }).click();
  await chips.getByText('price ≥ 10 and ≤ 12').waitFor();
  await chips.getByText('colour is red or green').focus();
  await page.keyboard.press('Enter');
  const json = page.getByRole('dialog', { name: 'Filter as JSON' });
  await soon(() => json.getByRole('textbox').inputValue()).toContain('"$or":');
  await json.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Remove the filter name is item 1, item 2' }).click();
  await page.getByRole('button', { name: 'Remove the filter sold ≠ true' }).click();
  await page.getByRole('button', { name: 'Remove the filter colour is red or green' }).click();
  await count(page).getByText('100 rows').waitFor();
  await soon(() => new URL(page.url()).searchParams.get('filter')).toBe(
    '{"price":{"$gte":"10","$lte":"12"}}',
  );
  await page.context().close();
});

test('DS-184: without a right to write there is no control for it, and rows are still read by keyboard', async () => {
  const page = await openGrid('/ui/shop/products/', 'rita');
  await cell(page, 0, 0).getByText('item 1').waitFor();
  for (const name of ['Add row', 'Paste rows', 'Undo', /^Delete/]) {
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  }
  expect(await page.getByRole('checkbox').count()).toBe(0);
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'Row 2 of products.csv' });
  await sheet.getByText('item 2').waitFor();
  expect(await sheet.getByRole('textbox').count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('grid').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('x');
  expect(await page.locator('.grid input').count()).toBe(0);
  await page.context().close();
});

test('what the files say is only ever text, also in menus, panels and messages', async () => {
  const page = await openGrid(
    `/ui/odd/${encodeURIComponent(MARKUP.replaceAll('/', ''))}/?values=1`,
  );
  await cell(page, 0, 0).getByText(MARKUP).waitFor();
  await page.getByRole('button', { name: `Menu of ${MARKUP}` }).click();
  await page.getByLabel('Value', { exact: true }).fill(MARKUP);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await count(page).getByText('1 row').waitFor();
  await page.getByText('__proto__ string').waitFor();
  await page.getByRole('button', { name: 'Chart', exact: true }).click();
  await page.getByRole('img', { name: /^rows by/ }).waitFor();
  await page.getByRole('button', { name: 'Menu of __proto__' }).click();
  await page.getByLabel('Value', { exact: true }).fill('long');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByText('__proto__ contains long').waitFor();
  await count(page).getByText('1 row').waitFor();
  await page.getByRole('button', { name: '1', exact: true }).click();
  await page.getByRole('dialog').getByText(MARKUP).first().waitFor();
  expect(await page.locator('img').count()).toBe(1);
  await page.context().close();
});

test('wrong filters, no rows and no matches are told with a way out', async () => {
  const page = await openGrid('/ui/shop/products/?filter=%7B%22no%22%3A1%7D');
  await page.getByRole('alert').getByText("unknown column 'no'").waitFor();
  await page.getByRole('button', { name: 'Show all rows' }).click();
  await count(page).getByText('5,000 rows').waitFor();
  await page.getByLabel('Rows with these words').fill('nothing of the kind');
  await page.getByText('No rows match.').waitFor();
  await page.getByRole('button', { name: 'Show all rows' }).click();
  await count(page).getByText('5,000 rows').waitFor();
  await page.goto('/ui/shop/products/?q=item&filter=%7B%22colour%22%3A%22none%22%7D');
  await page.getByText('No rows match.').waitFor();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await count(page).getByText('5,000 rows').waitFor();
  await soon(() => new URL(page.url()).search).toBe('?q=item');
  await page.goBack();
  await page.getByText('No rows match.').waitFor();
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await soon(() => new URL(page.url()).searchParams.get('q')).toBe(null);
  await page.getByText('No rows match.').waitFor();

  await page.goto('/ui/empty/');
  await page.getByText('empty.csv has no rows yet.').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Paste from a spreadsheet' }).click();
  const pasting = page.getByRole('dialog', { name: 'Paste rows into empty.csv' });
  await pasting.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Add the first row' }).click();
  const sheet = page.getByRole('dialog', { name: 'New row of empty.csv' });
  await sheet.getByLabel('a', { exact: true }).fill('first');
  await sheet.getByRole('button', { name: 'Add' }).click();
  await cell(page, 0, 0).getByText('first').waitFor();
  await page.getByText('empty.csv has no rows yet.').waitFor({ state: 'hidden' });
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
  await page.getByText('empty.csv has no rows yet.').waitFor();
  await page.context().close();
  await svc.accounts.grant('rita', 'empty', 'read');
  const reader = await openGrid('/ui/empty/', 'rita');
  await reader.getByText('You may read it, not change it').waitFor();
  await soon(() => reader.locator('.grid-overlay button').count()).toBe(0);
  await reader.context().close();
  // The refused filter is a 422, which the console reports.
  const others = browser.reports.filter((report) => !report.includes('status of 422'));
  expect(others).toEqual([]);
  browser.reports.length = 0;
});

test('the page fits a phone of 320 px, in the dark, and axe finds nothing', async () => {
  const page = await openGrid('/ui/shop/products/?values=1', 'ada', {
    colorScheme: 'dark',
    viewport: { width: 320, height: 700 },
  });
  await cell(page, 0, 0).getByText('item 1').waitFor();
  await page.getByText('100 different').waitFor();
  await soon(() =>
    page.evaluate<number>('document.documentElement.scrollWidth'),
  ).toBeLessThanOrEqual(320);
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.context().close();
});

test('nothing was reported and nobody else was asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/**
 * The journey of a person who never saw svc, with the pages alone: from the one-time link to the saved search. Only what is in
 * sight is clicked, and nothing has to be known beforehand. What they do with the keyboard only is keyboard-journey.test.ts.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { found } from '../http/searching.ts';
import { workbookFile } from '../plugins/workbook-files.ts';
import { TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const PRODUCTS =
  'name,price,colour\nblue cup,2,blue\nred cup,3,red\nplate,-4,white\nbowl,9,white\n';
const WORKBOOK = {
  name: 'stock.xlsx',
  mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  buffer: workbookFile({
    sheets: {
      Stock:
        '<row r="1"><c r="A1" t="inlineStr"><is><t>item</t></is></c></row>' +
        '<row r="2"><c r="A2" t="inlineStr"><is><t>teapot</t></is></c></row>',
    },
  }),
};

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: {
      'shop/products.csv': PRODUCTS,
      'shop/guide.md': '# How to order\n\nCups come in boxes of six.\n',
      'finance/salaries.csv': 'who,amount\nada,1\n',
      'archive/2024/orders.csv': 'n\n1\n',
    },
    config: { upload: { enabled: true } },
  });
  browser = await TestBrowser.start();
  page = await browser.open(svc, { viewport: { width: 1280, height: 800 } });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const file = (): string => readFileSync(join(svc.docroot, 'shop/products.csv'), 'utf8');
const cell = (row: number, column: number) => page.locator(`#grid-${row}-${column}`);
const notice = () => page.locator('.grid-notice');
const menu = (name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });

/** Another page by the menu, once all of it is there. */
async function go(name: string): Promise<void> {
  const address = await menu(name).getAttribute('href');
  await menu(name).click();
  await page.waitForURL(({ pathname }) => pathname === address || pathname === `${address}/`);
}

/** The log of a small site: three errors yesterday, others before and today. */
async function sendLog(): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const events = [
    [today - 2 * DAY_MS + 1, 'error'],
    ...[1, 2, 3].map((hour) => [today - DAY_MS + hour * 3_600_000, 'error']),
    [today - DAY_MS + 1, 'info'],
    [today, 'error'],
  ].map(([at, level]) => ({
    host: 'web-1',
    sourcetype: 'json',
    data: JSON.stringify({ event_time: new Date(Number(at)).toISOString(), level, path: '/shop' }),
  }));
  const client = await svc.as('grace');
  const response = await client.fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(201);
}

test('1. they sign in: an account by the one-time link, then by the login page', async () => {
  const link = await eventually(() => {
    const found = /Create the first superuser: (\S+)/.exec(svc.stdout());
    if (found === null) throw new Error('no link was printed');
    return found[1]!;
  });
  await page.goto(link);
  await page.getByLabel('User name').fill('grace');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Resources' }).waitFor();
  await page.getByRole('button', { name: 'grace, your account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('User name').fill('grace');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Resources' }).waitFor();
});

test('1b. whoever follows a link reads what this is, mistypes the password, and ends where the link leads', async () => {
  const other = await browser.open(svc);
  await other.goto('/');
  await soon(() => other.locator('main').innerText()).toContain(
    'Sign in to see what has been shared',
  );
  await other.goto('/shop/guide');
  await other.getByLabel('User name').fill('grace');
  await other.getByLabel('Password').fill('not this one');
  await other.keyboard.press('Enter');
  await other.getByRole('alert').getByText('Invalid credentials').waitFor();
  await other.getByLabel('Password').fill(PASSWORD);
  await other.keyboard.press('Enter');
  await other.waitForURL('**/shop/guide');
  await soon(() => other.locator('h1').innerText()).toBe('How to order');
  await other.context().close();
});

test('2. they find a file: by jumping to its name, by a word in it, by a part of its name', async () => {
  await page.getByRole('button', { name: 'Go to…' }).click();
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await palette.getByRole('combobox').fill('prod');
  await palette.getByRole('option', { name: 'shop/products' }).click();
  await cell(0, 0).getByText('blue cup').waitFor();
  const client = await svc.as('grace');
  await eventually(async () => expect(await found(client, 'plate')).toEqual(['shop/products#3']));
  await page.getByRole('searchbox', { name: 'Search everything' }).fill('plate');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'plate', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/ui/shop/products/');
  await cell(2, 0).and(page.locator('.active')).getByText('plate').waitFor();
  await page.getByRole('link', { name: 'shop', exact: true }).click();
  await page.getByRole('link', { name: 'products', exact: true }).click();
  await page.getByText('4 rows').waitFor();
  await page.getByRole('navigation', { name: 'Path' }).getByText('Resources').click();
  await page.getByPlaceholder('Filter by name').fill('prod');
  await page.getByText('1 of 4 match').waitFor();
  await page.getByRole('link', { name: 'products', exact: true }).click();
  await page.waitForURL('**/ui/shop/products/');
  await page.getByText('4 rows').waitFor();
});

test('3. they filter it', async () => {
  await page.getByRole('button', { name: 'Menu of price' }).click();
  const column = page.getByRole('dialog', { name: 'Column price' });
  await column.getByLabel('Filter price').selectOption('< less than');
  await column.getByLabel('Value').fill('0');
  await column.getByRole('button', { name: 'Filter' }).click();
  await page.locator('.row-count').getByText('1 row', { exact: true }).waitFor();
  await cell(0, 0).getByText('plate').waitFor();
});

test('4. they fix a wrong value', async () => {
  await cell(0, 1).dblclick();
  await page.getByRole('textbox', { name: 'price' }).fill('4');
  await page.keyboard.press('Enter');
  await eventually(() => expect(file()).toBe(PRODUCTS.replace('-4', '4')));
});

test('5. they undo it', async () => {
  await page.getByRole('button', { name: 'Undo' }).click();
  await notice().getByText('Undid the change of price of row 3').waitFor();
  expect(file()).toBe(PRODUCTS);
  await page.getByRole('button', { name: /^Remove the filter/ }).click();
  await page.locator('.row-count').getByText('4 rows').waitFor();
});

test('6. they chart a column', async () => {
  await page.getByRole('button', { name: 'Chart', exact: true }).click();
  await page.getByLabel('Kind of chart').selectOption('bar');
  await page.getByLabel('Column across').selectOption('colour');
  await page.getByLabel('Measure').selectOption('count');
  await page.getByRole('img', { name: /^rows by colour: 3 points/ }).waitFor();
});

test('7. they upload a workbook and open its sheet', async () => {
  await go('Resources');
  const form = page.locator('form[action="/api/uploads"]');
  await form.getByLabel('File to send').setInputFiles(WORKBOOK);
  await form.getByRole('button', { name: 'Upload' }).click();
  await form.getByText('stock.xlsx was created.').waitFor();
  const stored = readFileSync(join(svc.docroot, 'stock.xlsx'));
  expect(stored.equals(WORKBOOK.buffer)).toBe(true);
  await page.locator('.tree').getByText('stock', { exact: true }).waitFor();
  await form.getByRole('link', { name: 'Open stock/Stock' }).click();
  await page.waitForURL('**/ui/stock/Stock/');
  await cell(0, 0).getByText('teapot').waitFor();
});

test('7b. the address of what they see shows the same to whoever opens it', async () => {
  await go('Resources');
  await page.getByPlaceholder('Filter by name').fill('guide');
  await page.getByText('1 of 5 match').waitFor();
  await page.waitForURL(/filter=guide/);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await soon(() => other.getByRole('link', { name: 'guide', exact: true }).isVisible()).toBe(true);
  expect(await other.getByRole('link', { name: 'products', exact: true }).count()).toBe(0);
  await other.close();
});

test('8. they give a colleague read access to one folder, who sees it and nothing else', async () => {
  await go('Administration');
  await page.getByRole('link', { name: 'make an account' }).click();
  const user = page.locator('details[open]');
  await user.getByLabel('User name').fill('colin');
  await user.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the user' }).click();
  await page.getByText('The user was created.').waitFor();

  await go('Resources');
  await go('Administration');
  await page.getByRole('link', { name: 'Give somebody access to a folder' }).click();
  await page.getByLabel('User or group').fill('colin');
  await page.getByLabel('Resource').fill('shop/*');
  await page.getByRole('button', { name: 'Give access' }).click();
  await page.getByText('The right is given.').waitFor();
  await page.getByRole('link', { name: 'Who may read shop/*?' }).click();
  await page.getByRole('row', { name: 'colin' }).waitFor();

  const other = await browser.open(svc);
  await other.goto('/');
  await other.getByRole('main').getByRole('link', { name: 'Sign in' }).click();
  await other.getByLabel('User name').fill('colin');
  await other.getByLabel('Password').fill(PASSWORD);
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await other.locator('#count').getByText('2 resources').waitFor();
  await soon(async () => {
    const links = await other.locator('.tree a').allInnerTexts();
    return links.map((text) => text.trim()).toSorted();
  }).toEqual(['Open', 'guide', 'products']);
  await other.getByRole('link', { name: 'products', exact: true }).click();
  await other.getByText('4 rows').waitFor();
  expect(await other.getByRole('button', { name: 'Add row' }).count()).toBe(0);
  expect((await other.goto('/ui/finance/salaries/'))!.status()).toBe(403);
  await other.context().close();
});

test('9. they see who changed what', async () => {
  await go('Administration');
  await page.getByRole('link', { name: 'See who changed what' }).click();
  await page.getByLabel('Resource').fill('shop/products');
  await page.getByRole('button', { name: 'Filter' }).click();
  const changed = page.getByRole('row', { name: /grace .*Updated dataset row 3/ });
  await changed.first().waitFor();
  // The change and its undoing.
  await soon(() => changed.count()).toBe(2);
});

test("10. they find yesterday's errors in the logs, save that search and run it again", async () => {
  await sendLog();
  await go('Events');
  await page.locator('.editor .cm-content').click();
  await page.keyboard.type('level=error');
  await page.keyboard.press('Escape');
  await page.locator('#time summary').click();
  await page.getByRole('button', { name: /^Yesterday/ }).click();
  await page
    .getByRole('status')
    .getByText(/^3 rows/)
    .waitFor();
  await soon(() => page.locator('#found .lines > li').count()).toBe(3);
  await page.getByText('Save', { exact: true }).click();
  await page.getByLabel('Name').fill("Yesterday's errors");
  await page.getByRole('button', { name: 'Save this search' }).click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await go('Resources');
  await go('Saved searches');
  await page.getByRole('link', { name: "Yesterday's errors", exact: true }).click();
  await page
    .getByRole('status')
    .getByText(/^3 rows/)
    .waitFor();
});

test('nothing was reported but the refusals, and no other server asked', () => {
  const reports = browser.reports.filter((report) => !/status of 40[13]/.test(report));
  expect(reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/**
 * The essential steps of newcomer-journey.test.ts with the keyboard only: signing in, finding a file and a row, filtering,
 * correcting and undoing, asking the logs and saving the question.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { found } from '../http/searching.ts';
import { TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

const PRODUCTS =
  'name,price,colour\nblue cup,2,blue\nred cup,3,red\nplate,-4,white\nbowl,9,white\n';

let svc: Service;
let browser: TestBrowser;
let keys: Page;

beforeAll(async () => {
  svc = await startService({
    files: { 'shop/products.csv': PRODUCTS, 'finance/salaries.csv': 'who,amount\nada,1\n' },
  });
  await svc.createSuperuser('grace');
  const client = await svc.as('grace');
  const now = new Date().toISOString();
  const response = await client.fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(
      ['error', 'info'].map((level) => ({
        host: 'web-1',
        sourcetype: 'json',
        data: JSON.stringify({ event_time: now, level }),
      })),
    ),
  });
  expect(response.status).toBe(201);
  await eventually(async () => expect(await found(client, 'plate')).toEqual(['shop/products#3']));
  browser = await TestBrowser.start();
  keys = await browser.open(svc, { viewport: { width: 1280, height: 800 } });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const file = (): string => readFileSync(join(svc.docroot, 'shop/products.csv'), 'utf8');

/** Tab to the control of that name, as somebody does who cannot use a mouse. */
async function tabTo(name: RegExp, most = 60): Promise<void> {
  const label = `(() => {
    const one = document.activeElement;
    return one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent ?? '';
  })()`;
  for (let presses = 0; presses < most; presses++) {
    await keys.keyboard.press('Tab');
    if (name.test((await keys.evaluate<string>(label)).trim())) return;
  }
  throw new Error(`no way to ${name}`);
}

async function jumpTo(text: string): Promise<void> {
  // The keys work once their button is there.
  await keys.getByRole('button', { name: 'Go to…' }).waitFor();
  await keys.keyboard.press('Control+k');
  await keys.getByRole('dialog', { name: 'Go to' }).getByRole('option').first().waitFor();
  await keys.keyboard.type(text);
  await keys.locator('.palette li[aria-selected=true]', { hasText: text }).waitFor();
  await keys.keyboard.press('Enter');
}

test('they sign in and jump to a file', async () => {
  await keys.goto('/auth/login');
  await keys.getByLabel('User name').and(keys.locator(':focus')).waitFor();
  await keys.keyboard.type('grace');
  await keys.keyboard.press('Tab');
  await keys.keyboard.type(PASSWORD);
  await keys.keyboard.press('Enter');
  await keys.getByRole('heading', { name: 'Resources' }).waitFor();
  await jumpTo('shop/products');
  await keys.locator('#grid-0-0').getByText('blue cup').waitFor();
});

test('they find a row by its words and stand on it in its table', async () => {
  await keys.goto('/');
  await keys.keyboard.press('/');
  await soon(() => keys.evaluate<string>('document.activeElement.name')).toBe('q');
  await keys.keyboard.type('plate');
  await keys.keyboard.press('Enter');
  await keys.getByRole('link', { name: 'plate', exact: true }).waitFor();
  await keys.getByRole('searchbox').and(keys.locator(':focus')).waitFor();
  await tabTo(/^plate$/);
  await keys.keyboard.press('Enter');
  await keys.waitForURL((url) => url.pathname === '/ui/shop/products/');
  await keys.locator('.active').getByText('plate').waitFor();
  await keys.getByRole('grid').and(keys.locator(':focus')).waitFor();
});

test('they filter, fix a value and undo it', async () => {
  await jumpTo('shop/products');
  await keys.waitForURL('**/ui/shop/products/');
  await keys.locator('#grid-0-0').getByText('blue cup').waitFor();
  await tabTo(/^Rows of products\.csv$/);
  await keys.keyboard.press('ArrowRight');
  await keys.keyboard.press('Alt+ArrowDown');
  const column = keys.getByRole('dialog', { name: 'Column price' });
  await column.waitFor();
  await tabTo(/^Filter price$/);
  await keys.keyboard.press('<');
  await tabTo(/^Value$/);
  await keys.keyboard.type('0');
  await keys.keyboard.press('Enter');
  await keys.locator('.row-count').getByText('1 row', { exact: true }).waitFor();
  await keys.locator('#grid-0-1').getByText('4').waitFor();
  await keys.getByRole('grid').and(keys.locator(':focus')).waitFor();
  await keys.keyboard.type('5');
  await keys.keyboard.press('Enter');
  await eventually(() => expect(file()).toBe(PRODUCTS.replace('-4', '5')));
  await keys.getByRole('grid').and(keys.locator(':focus')).waitFor();
  await keys.keyboard.press('Control+z');
  await keys.locator('.grid-notice').getByText('Undid').waitFor();
  expect(file()).toBe(PRODUCTS);
});

test('they ask the logs and save the question', async () => {
  await jumpTo('Events');
  await keys.getByRole('heading', { name: 'Events' }).waitFor();
  await keys.locator('.editor').waitFor();
  await keys.keyboard.press('e');
  await keys.keyboard.type('level=error');
  await keys.keyboard.press('Control+Enter');
  await keys.waitForURL(/q=level/);
  await tabTo(/^Save$/, 120);
  await keys.keyboard.press('Enter');
  await tabTo(/^Name$/);
  await keys.keyboard.type('By keyboard');
  await keys.keyboard.press('Enter');
  await keys.getByText('Saved.', { exact: true }).waitFor();
  await jumpTo('By keyboard');
  await keys
    .getByRole('status')
    .getByText(/^1 row\b/)
    .waitFor();
});

test('no page complained or asked another server', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

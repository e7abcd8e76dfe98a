/**
 * Readers who are faster than the page: what they type, choose and press before its scripts run or its lists are there is taken
 * all the same, and nothing that comes late takes it away.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const MAX_BYTES = 1_000;
const STOCK = 'name,n\ncup,1\njug,2\npan,3\npot,4\n';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'shop/products.csv': 'name\ncup\n',
      'shop/orders.csv': 'n\n1\n',
      'shop/stock.csv': STOCK,
    },
    config: { upload: { enabled: true, max_size_bytes: MAX_BYTES } },
  });
  await svc.accounts.user('ada', { superuser: true });
  const writer = await svc.as('ada');
  const sent = await writer.fetch('/api/events/', {
    method: 'POST',
    body: JSON.stringify([{ host: 'web-1', sourcetype: 'text', data: 'hello' }]),
  });
  expect(sent.status).toBe(201);
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

/** Keeps answers to such addresses back until the returned function is called. */
async function hold(page: Page, addresses: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(addresses, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

test('a list follows what was typed, and a form takes the file that was chosen, before the script ran', async () => {
  const page = await openAs(browser, svc, 'ada');
  const release = await hold(page, '**/landing*.js');
  await page.goto('/', { waitUntil: 'commit' });
  await page.getByPlaceholder('Filter by name').fill('orders');
  const form = page.locator('form[action="/api/uploads"]');
  const buffer = Buffer.from('n\n1\n');
  await form
    .getByLabel('File to send')
    .setInputFiles({ name: 'early.csv', mimeType: 'text/csv', buffer });
  release();
  await page.getByText('1 of 3 match “orders”').waitFor();
  await soon(() => form.getByLabel('Save as').inputValue()).toBe('early.csv');
  await page.context().close();
});

test('a list of administration follows what was typed before the script ran', async () => {
  const page = await openAs(browser, svc, 'ada');
  const release = await hold(page, '**/admin*.js');
  await page.goto('/admin/ui/users', { waitUntil: 'commit' });
  await page.getByLabel('Name contains').fill('nobody of that name');
  release();
  await page.getByText('Nothing matches.').waitFor();
  await page.context().close();
});

test('a search of a table goes on in the grid that takes the place of the plain page', async () => {
  const page = await openAs(browser, svc, 'ada');
  const release = await hold(page, '**/grid*.js');
  await page.goto('/ui/shop/products/', { waitUntil: 'commit' });
  await page.getByLabel('Rows with these words').focus();
  await page.keyboard.type('no');
  release();
  await page.getByText('No rows match.').waitFor();
  await page.keyboard.type('body');
  await page.waitForURL('**/ui/shop/products/?q=nobody');
  await soon(() => page.getByLabel('Rows with these words').inputValue()).toBe('nobody');
  await page.context().close();
});

test('a filter of a table that was begun in the plain page is finished in the grid', async () => {
  const page = await openAs(browser, svc, 'ada');
  const release = await hold(page, '**/grid*.js');
  await page.goto('/ui/shop/products/', { waitUntil: 'commit' });
  await page.getByLabel('Filter as a JSON object').focus();
  await page.keyboard.type('{"name":');
  release();
  await page.getByRole('dialog', { name: 'Filter as JSON' }).waitFor();
  await page.keyboard.type('"saucer"}');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByText('No rows match.').waitFor();
  await page.context().close();
});

test('a form of conditions and order that was begun in the plain page is finished in the grid', async () => {
  const page = await openAs(browser, svc, 'ada');
  const release = await hold(page, '**/grid*.js');
  await page.goto('/ui/shop/stock/?filter={"n":{"$gte":2}}', { waitUntil: 'commit' });
  await page.getByText('Filter and sort').click();
  await page.getByLabel('Column', { exact: true }).selectOption('name');
  await page.getByLabel('Condition', { exact: true }).selectOption('is not');
  await page.getByLabel('Sort by').selectOption('n');
  await page.getByLabel('Direction 1').selectOption('desc');
  await page.getByLabel('Value').focus();
  await page.keyboard.type('ju');
  release();
  const form = page.getByRole('dialog', { name: 'Filter and sort' });
  await form.waitFor();
  await form.getByLabel('Value').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('g');
  await page.keyboard.press('Enter');
  await page.getByText('name ≠ jug').waitFor();
  await page.getByText('n ≥ 2').waitFor();
  await page.waitForURL((url) => url.searchParams.get('sort') === '-n');
  await soon(() => page.locator('[role=gridcell][aria-colindex="2"]').allInnerTexts()).toEqual([
    'pot',
    'pan',
  ]);

  // Also when the form is closed by then.
  const releaseAgain = await hold(page, '**/grid*.js');
  await page.goto('/ui/shop/stock/', { waitUntil: 'commit' });
  await page.getByText('Filter and sort').click();
  await page.getByLabel('Sort by').selectOption('name');
  await page.getByText('Filter and sort').click();
  releaseAgain();
  await form.getByRole('button', { name: 'Cancel' }).waitFor();
  await soon(() => form.getByLabel('Sort by').inputValue()).toBe('name');
  await page.context().close();
});

test('whoever types a query while the editor comes goes on typing in it', async () => {
  const page = await openAs(browser, svc, 'ada');
  const release = await hold(page, '**/query-editor*.js');
  await page.goto('/events', { waitUntil: 'commit' });
  await page.getByLabel('Query').focus();
  await page.keyboard.type('host=');
  release();
  await page.locator('.editor .cm-focused').waitFor();
  await page.keyboard.type('web-1');
  await soon(() => page.locator('.editor .cm-content').innerText()).toBe('host=web-1');
  await page.context().close();
});

test('Enter in the palette waits for its list', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/');
  const release = await hold(page, '**/_svc/resources');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('shop/orders');
  await page.keyboard.press('Enter');
  release();
  await page.waitForURL('**/ui/shop/orders/');
  await page.context().close();
});

test('moments typed as soon as their boxes open stay', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/events');
  // In one go: the page itself hears of the opening a moment later.
  await page.evaluate(`{
    const box = document.querySelector('input[name=from]');
    const heard = new Promise((done) => box.closest('details').addEventListener('toggle', done));
    document.querySelector('details:has(input[name=from]) summary').click();
    box.value = '2026-01-02T03:04';
    window.heard = heard;
  }`);
  await page.evaluate('window.heard.then(() => null)');
  await soon(() => page.locator('input[name=from]').inputValue()).toBe('2026-01-02T03:04');
  await page.context().close();
});

test('a menu that has closed takes the focus from nobody', async () => {
  const page = await openAs(browser, svc, 'ada');
  for (const [address, opener, menu] of [
    ['/events?form=table', 'a.value', '.value-menu'],
    ['/ui/shop/products/', '.head-menu', '.of-column'],
  ] as const) {
    await page.goto(address);
    await page.locator(opener).first().click();
    await page.locator(menu).waitFor();
    // In one go: the page itself hears of the closing a moment later.
    await page.evaluate(
      `document.querySelector('${menu}').hidePopover(); document.querySelector('.find input').focus()`,
    );
    await page.locator(menu).waitFor({ state: 'detached' });
    await soon(() => page.evaluate<string>('document.activeElement.name')).toBe('q');
    await page.goto(address);
    await page.locator(opener).first().click();
    await page.keyboard.press('Escape');
    await page.locator(menu).waitFor({ state: 'detached' });
    const back = menu === '.value-menu' ? opener : '[role=grid]';
    await page.locator(`${back}:focus`).waitFor();
  }
  await page.context().close();
});

test('what became of an upload is not told beside what is told later', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/');
  const release = await hold(page, '**/_svc/resources');
  const form = page.locator('form[action="/api/uploads"]');
  const choose = (name: string, buffer: Buffer): Promise<void> =>
    form.getByLabel('File to send').setInputFiles({ name, mimeType: 'text/csv', buffer });
  await choose('first.csv', Buffer.from('n\n1\n'));
  await form.getByRole('button', { name: 'Upload' }).click();
  await form.getByText('first.csv was created.').waitFor();
  await choose('large.csv', Buffer.alloc(MAX_BYTES + 1, 'x'));
  const answered = page.waitForResponse('**/_svc/resources');
  release();
  await (await answered).finished();
  await page.getByRole('link', { name: 'first', exact: true }).waitFor();
  await soon(() => form.getByRole('status').innerText()).toBe(
    'This file is larger than an upload may be.',
  );
  await page.context().close();
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

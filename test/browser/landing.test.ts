/**
 * The start page in a browser: a tree that folds, a filter that follows what is typed, what an empty list says, and all of it
 * by keyboard, narrow, dark and without script (DS-182, DS-183).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually, soon } from '../http/eventually.ts';
import { found } from '../http/searching.ts';
import type { Page } from 'playwright-core';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let bare: Service;
let browser: TestBrowser;

const numbered = Array.from({ length: 110 }, (_, index) => [
  `archive/y${index % 3}/n${index}.csv`,
  'a\n1\n',
]);

beforeAll(async () => {
  [svc, bare] = await Promise.all([
    startService({
      files: {
        'shop/products.csv': 'name,price\ncup,2\nplate,3\n',
        'shop/broken.csv': new Uint8Array([0x61, 0x0a, 0xff, 0x0a]),
        'shop/guide.md': '# Guide\n\ntext\n'.padEnd(1_536),
        'notes.txt': 'note',
        ...Object.fromEntries(numbered),
      },
      config: { upload: { enabled: true } },
    }),
    startService({ files: {} }),
  ]);
  await svc.accounts.user('ada', { superuser: true });
  await svc.accounts.grant('bob', 'shop/*', 'read');
  await bare.accounts.user('ada', { superuser: true });
  // How many rows there are is known once they were read.
  await (await svc.as('ada')).fetch('/api/shop/products/');
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await Promise.all([svc?.[Symbol.asyncDispose](), bare?.[Symbol.asyncDispose]()]);
});

async function started(username: string, options = {}): Promise<Page> {
  const page = await openAs(browser, svc, username, options);
  await page.goto('/');
  return page;
}

const row = (page: Page, name: string) =>
  page.locator('.entry', { has: page.getByRole('link', { name, exact: true }) });

test('sizes are written as the reader writes numbers, and with a point where there is no script', async () => {
  for (const [javaScriptEnabled, size] of [
    [true, '1,5 KiB'],
    [false, '1.5 KiB'],
  ] as const) {
    const page = await started('ada', { locale: 'de-DE', javaScriptEnabled });
    await page.getByText('shop', { exact: true }).click();
    const amount = row(page, 'guide').locator('.amount');
    await soon(async () => (await amount.textContent())?.trim()).toBe(size);
    expect(await page.getByText(/Up to 10[0-9]* MiB\./).count()).toBe(1);
    await page.context().close();
  }
});

/** Its name leads to its page. */
const openShop = (page: Page): Promise<void> =>
  page.locator('summary', { hasText: 'shop' }).locator('.fine').first().click();

test('folders open and close; a file has its kind, its rows, its time, or why it cannot be read', async () => {
  await eventually(async () => {
    const client = await svc.as('ada');
    const { problems } = (await (await client.fetch('/')).json()) as { problems?: unknown[] };
    expect(problems).toHaveLength(1);
    expect((await client.fetch('/api/shop/products/')).status).toBe(200);
  });
  const page = await started('ada');
  const products = row(page, 'products');
  expect(await products.isVisible()).toBe(false);
  await openShop(page);
  await soon(() => products.locator('.kind').textContent()).toBe('CSV');
  await soon(() => products.locator('.amount').textContent()).toBe('2 rows');
  await soon(() => products.locator('time').getAttribute('title')).toEndWith('Z');
  await soon(() => row(page, 'broken').locator('.problem').innerText()).toBe(
    'invalid UTF-8 at byte offset 2',
  );
  await soon(() => page.getByText('1 with a problem').isVisible()).toBe(true);
  await products.getByRole('link', { name: 'products', exact: true }).click();
  await page.waitForURL('**/ui/shop/products/');
  await page.context().close();
});

test('the list follows the filter while one types, and the address follows the list', async () => {
  const page = await started('ada');
  await page.keyboard.press('f');
  await page.keyboard.type('n10');
  await page.getByText('11 of 114 match “n10”').waitFor();
  await soon(() => row(page, 'n10').isVisible()).toBe(true);
  await soon(() => new URL(page.url()).searchParams.get('filter')).toBe('n10');
  await page.getByPlaceholder('Filter by name').fill('nothing at all');
  await page.getByRole('link', { name: 'Search in the contents' }).waitFor();
  await page.getByPlaceholder('Filter by name').fill('');
  await page.getByText('114 resources').waitFor();
  await soon(() => new URL(page.url()).search).toBe('');
  await page.context().close();
});

test('without script the form filters, folders fold, and a folder has a page', async () => {
  const options = { javaScriptEnabled: false, viewport: { width: 320, height: 700 } };
  const page = await started('bob', options);
  await soon(() => page.getByRole('status').first().innerText()).toBe('3 resources');
  await page.getByPlaceholder('Filter by name').fill('guide');
  await page.getByRole('button', { name: 'Filter' }).click();
  await soon(() => page.getByRole('status').first().innerText()).toBe('1 of 3 match “guide”');
  await row(page, 'guide').getByRole('link', { name: 'guide' }).click();
  await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'shop' }).click();
  await soon(() => page.locator('h1').innerText()).toBe('shop');
  await soon(() => row(page, 'guide').isVisible()).toBe(true);
  for (const part of ['.kind', '.amount', 'time']) {
    await soon(async () => [part, await row(page, 'guide').locator(part).isVisible()]).toEqual([
      part,
      true,
    ]);
  }
  await soon(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
  await page.context().close();
});

test('an empty list says what to do to whom it may concern', async () => {
  const page = await openAs(browser, bare, 'ada');
  await page.goto('/');
  await soon(() => page.locator('main').innerText()).toContain('Put files into the folder');
  const other = await openAs(browser, bare, 'bob');
  await other.goto('/');
  const text = await other.locator('main').innerText();
  expect(text).toContain('Nothing has been shared with you yet.');
  expect(text).toContain('Your user name here is bob');
  expect(text).not.toContain('folder');
  await Promise.all([page.context().close(), other.context().close()]);
});

test('controls are for those who may use them', async () => {
  const [ada, bob] = [await started('ada'), await started('bob')];
  const upload = (page: Page) => page.getByRole('heading', { name: 'Upload a file' }).count();
  await soon(async () => [await upload(ada), await upload(bob)]).toEqual([1, 0]);
  expect(await bob.getByText('archive').count()).toBe(0);
  await Promise.all([ada.context().close(), bob.context().close()]);
});

test('the last searches are offered again, and forgotten with the sign-out', async () => {
  const client = await svc.as('bob');
  await eventually(async () => expect(await found(client, 'plate')).toEqual(['shop/products#2']));
  const page = await started('bob');
  expect(await page.locator('#recent').isVisible()).toBe(false);
  await page.keyboard.press('/');
  await page.keyboard.type('plate');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/search?q=plate');
  await page.getByRole('link', { name: 'plate' }).first().waitFor();
  await page.goto('/');
  const recent = page.locator('#recent');
  await recent.getByRole('link', { name: 'plate' }).click();
  await page.waitForURL('**/search?q=plate');
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/auth/login');
  await soon(() => page.evaluate<number>('localStorage.length')).toBe(0);
  await page.context().close();
});

test('by keyboard alone: into the list, a folder opened, a file reached', async () => {
  const page = await started('ada');
  await page.keyboard.press('f');
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  /** How many presses of the key come before something that begins so. */
  const pressUntil = async (key: string, start: string): Promise<number> => {
    for (let presses = 1; presses <= 16; presses++) {
      await page.keyboard.press(key);
      if ((await focused()).startsWith(start)) return presses;
    }
    throw new Error(`${key} does not lead to ${start}, but to ${await focused()}`);
  };
  await pressUntil('Tab', 'shop');
  await page.keyboard.press('Enter');
  await soon(() => row(page, 'broken').isVisible()).toBe(true);
  const steps = await pressUntil('Tab', 'broken');
  for (let step = 0; step < steps; step++) await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await soon(() => row(page, 'broken').isVisible()).toBe(false);
  await page.context().close();
});

for (const [colorScheme, width] of [
  ['light', 1280],
  ['dark', 320],
] as const) {
  test(`nobody is shut out: ${colorScheme}, ${width} pixels wide`, async () => {
    const page = await started('ada', { colorScheme, viewport: { width, height: 800 } });
    await openShop(page);
    const problems = await accessibilityProblems(page);
    await soon(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
    await page.context().clearCookies();
    await page.goto('/');
    problems.push(...(await accessibilityProblems(page)));
    expect(problems).toEqual([]);
    await page.context().close();
  });
}

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

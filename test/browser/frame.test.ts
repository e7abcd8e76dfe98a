/**
 * What every page has: a remembered look, keys, the palette, a folding menu, all of it usable by people who cannot see or
 * cannot use a mouse.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, signIn, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: { 'shop/products.csv': 'name,price\ncup,2\n', 'shop/orders.csv': 'n\n1\n' },
    config: { upload: { enabled: true } },
  });
  await svc.createSuperuser('ada');
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('the look is switched, and remembered on the next page', async () => {
  const page = await browser.open(svc, { colorScheme: 'light' });
  await page.goto('/auth/login');
  const paper = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const light = await paper();
  const button = page.getByRole('button', { name: /^Look:/ });
  await button.click();
  await soon(() => button.getAttribute('aria-label')).toBe('Look: light');
  await button.click();
  await soon(paper).not.toBe(light);
  const dark = await paper();
  await page.goto('/');
  await soon(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
  await soon(() => paper()).toBe(dark);
  await page.getByRole('button', { name: /^Look:/ }).click();
  await page.goto('/auth/login');
  await soon(() => paper()).toBe(light);
  await page.context().close();
});

test('Ctrl-K goes to a resource by a few of its letters, by keyboard alone', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('ordr');
  await page.getByRole('option', { name: 'shop/orders' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/ui/shop/orders/');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.context().close();
});

test('? lists the keys, / goes to the search', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await page.keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keys' });
  await soon(() => list.innerText()).toContain('Search everything');
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await soon(() => page.evaluate<string>('document.activeElement.name')).toBe('q');
  await page.context().close();
});

test('on a phone the menu folds, and opens without script', async () => {
  const options = { javaScriptEnabled: false, viewport: { width: 320, height: 640 } };
  const page = await browser.open(svc, options);
  await signIn(page, 'ada');
  const link = page.locator('#menu').getByText('API', { exact: true });
  expect(await link.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await link.click();
  await page.waitForURL('**/docs');
  await page.getByRole('button', { name: 'Your account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/auth/login');
  await page.context().close();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`nobody is shut out: ${colorScheme}`, async () => {
    const page = await browser.open(svc, { colorScheme });
    const problems: string[] = [];
    const look = async (path: string): Promise<void> => {
      await page.goto(path);
      for (const problem of await accessibilityProblems(page)) problems.push(`${path} ${problem}`);
    };
    await look('/');
    await look('/auth/login');
    await signIn(page, 'ada');
    await look('/');
    await look('/ui/shop/products/');
    await page.keyboard.press('Control+k');
    await page.getByRole('option').first().waitFor();
    problems.push(...(await accessibilityProblems(page)));
    expect(problems).toEqual([]);
    await page.context().close();
  });
}

test('no page complained', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/**
 * Going back and pressing twice: what a browser kept of a page is not shown to whoever comes after a sign-out, boxes say what
 * is shown after Back, a form is sent once, and lists of a page that stays open are those of now.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { soon } from '../http/eventually.ts';
import { openAs, signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({ files: { 'shop/products.csv': 'name,price\ncup,2\npot,7\n' } });
  await svc.accounts.user('ada', { superuser: true, password: PASSWORD });
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('Back after the sign-out shows nothing of what was read before', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await page.goto('/ui/shop/products/');
  await page.getByRole('gridcell', { name: 'cup' }).waitFor();
  await page.goto('/');
  await page.getByRole('button', { name: 'ada' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/auth/login');
  await page.goBack({ waitUntil: 'commit' });
  await soon(() => page.locator('main').innerText()).not.toContain('products');
  await page.goto('/auth/login');
  await page.evaluate('history.go(-2)');
  await page.waitForURL('**/auth/login?next=/ui/shop/products/');
  await page.getByLabel('User name').waitFor();
  await page.context().close();
});

test('Back from a search leaves the words of the view before in the box', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/ui/shop/products/');
  await page.getByRole('button', { name: 'Values' }).click();
  const box = page.getByLabel('Rows with these words');
  await box.fill('pot');
  await page.waitForURL('**/?q=pot&values=1');
  await page.goBack();
  await soon(() => box.inputValue()).toBe('');
  await page.locator('.row-count', { hasText: '2 rows' }).waitFor();
  await page.context().close();
});

test('an address that sorts by a column that is not there says so above the rows', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/ui/shop/products/?sort=weight');
  await page.getByRole('gridcell', { name: 'cup' }).waitFor();
  await page.locator('.grid-notice', { hasText: "unknown column 'weight'" }).waitFor();
  await page.goto('/ui/shop/products/?columns=weight');
  await page.locator('.grid-notice', { hasText: "unknown column 'weight'" }).waitFor();
  await page.context().close();
});

test('an address that asks for a chart there is none of shows the rows', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/ui/shop/products/?chart=pie&x=name');
  await page.getByRole('gridcell', { name: 'cup' }).waitFor();
  await page.locator('button[aria-pressed=false]', { hasText: 'Chart' }).waitFor();
  await page.context().close();
});

test('without script a table without rows has none yet; one with rows has none that match', async () => {
  svc.write('shop/none.csv', 'name\n');
  const client = await svc.as('ada');
  const textOf = async (path: string): Promise<string> =>
    (await client.fetch(path, { headers: { Accept: 'text/html' } })).text();
  await soon(() => textOf('/ui/shop/none/')).toContain('No rows yet');
  await soon(() => textOf('/ui/shop/products/?q=saucer')).toContain('No rows match');
});

test('a form that is sent twice while its answer is on its way makes one thing', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/profile');
  const { promise, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  await page.route(
    (url) => url.pathname.startsWith('/profile'),
    async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      sent++;
      const response = await route.fetch();
      await promise;
      // The one before is overtaken where two were sent.
      await route.fulfill({ response }).catch(() => undefined);
    },
  );
  await page.getByLabel('What it is for').fill('once');
  // Pressed in the page: from outside, a press waits until the page before it has gone.
  const pressed = page.waitForRequest('**/?pressed');
  await page.evaluate(`{
    const make = [...document.querySelectorAll('button')].find((one) => one.textContent === 'Make a key');
    make.click();
    setTimeout(() => { make.click(); fetch('/?pressed'); }, 200);
  }`);
  await pressed;
  await soon(() => sent).toBe(1);
  resolve();
  await page.getByText('The key is made.').waitFor();
  expect(sent).toBe(1);
  await soon(() => page.getByRole('cell', { name: 'once', exact: true }).count()).toBe(1);
  await page.context().close();
});

test('a list that is filtered after the session has ended becomes the page for those who are not signed in', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/');
  await page.getByRole('link', { name: 'products' }).waitFor();
  await page.context().clearCookies();
  await page.getByPlaceholder('Filter by name').fill('prod');
  await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
  await soon(() => page.locator('main').innerText()).not.toContain('products');
  await page.context().close();
});

test('the palette knows a file that came after it was opened first', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/');
  await page.keyboard.press('Control+k');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Escape');
  svc.write('shop/returns.csv', 'n\n1\n');
  const client = await svc.as('ada');
  await soon(async () => (await client.fetch('/api/shop/returns/')).status).toBe(200);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('returns');
  await page.getByRole('option', { name: 'shop/returns' }).waitFor();
  await page.context().close();
});

test('nothing was reported but refused addresses, and no other server asked', () => {
  const others = browser.reports.filter((one) => !/status of (?:401|422)/.test(one));
  expect(others).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

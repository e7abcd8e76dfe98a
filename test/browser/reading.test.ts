/**
 * Signing in and looking at data in a real browser: pages work without script, in light and dark and on a phone, and
 * nothing is reported on the console or against the content policy.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually, soon } from '../http/eventually.ts';
import { signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const rows = Array.from({ length: 120 }, (_, index) => `item ${index + 1},${index * 1.5}`);

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'shop/products.csv': `name,price\n${MARKUP},1\n${rows.join('\n')}\n`,
      [`${MARKUP.replaceAll('/', '')}.csv`]: 'a\n1\n',
      'broken.csv': new Uint8Array([0x61, 0x0a, 0xff, 0x0a]),
    },
  });
  await svc.createSuperuser('ada');
  const client = await svc.as('ada');
  // A page without script shows what was known when it was asked for.
  await eventually(async () => {
    const { problems } = (await (await client.fetch('/')).json()) as { problems?: unknown[] };
    expect(problems).toHaveLength(1);
  });
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

for (const [look, options] of [
  [
    'light, without JavaScript',
    { javaScriptEnabled: false, colorScheme: 'light', viewport: { width: 1200, height: 800 } },
  ],
  [
    'dark, without JavaScript',
    { javaScriptEnabled: false, colorScheme: 'dark', viewport: { width: 1200, height: 800 } },
  ],
  [
    'narrow and without JavaScript',
    { javaScriptEnabled: false, viewport: { width: 320, height: 700 } },
  ],
] as const) {
  test(`sign in, find a file, sort, page, search and filter it: ${look}`, async () => {
    const page = await browser.open(svc, options);
    await signIn(page, 'ada');
    await soon(() => page.getByText('invalid UTF-8 at byte offset 2').count()).toBe(1);
    await page.getByRole('link', { name: 'products', exact: true }).click();
    await soon(() => page.getByRole('status').textContent()).toBe('1–50 of 121 rows');
    await soon(() => page.locator('td', { hasText: MARKUP }).first().textContent()).toBe(MARKUP);
    await page.getByRole('link', { name: 'Next' }).click();
    await soon(() => page.getByRole('status').textContent()).toBe('51–100 of 121 rows');
    await page.getByRole('link', { name: 'price' }).click();
    await page.waitForURL(/sort=price/);
    await page.getByRole('link', { name: 'price' }).click();
    await page.waitForURL(/sort=-price/);
    await soon(() => page.locator('tbody tr').first().locator('td').last().textContent()).toBe(
      '178.5',
    );
    await page.getByPlaceholder('Search words').fill('item 119');
    await page.getByRole('button', { name: 'Apply' }).click();
    await soon(() => page.getByRole('status').textContent()).toBe('1–1 of 1 row');
    await page.getByPlaceholder(/^Filter/).fill('{"nothing":1}');
    await page.getByRole('button', { name: 'Apply' }).click();
    await soon(() => page.getByRole('alert').textContent()).toBe(
      "Invalid filter: unknown column 'nothing'",
    );
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(options.viewport.width);
    await page.getByRole('button', { name: 'Your account' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${svc.url}/auth/login`);
    await page.context().close();
  });
}

test('the first superuser is made through the one-time link', async () => {
  await using fresh = await startService({ files: { 'a.csv': 'x\n1\n' } });
  const link = await eventually(() => {
    const found = /Create the first superuser: (\S+)/.exec(fresh.stdout());
    if (!found) throw new Error('no link was printed');
    return found[1]!;
  });
  const page = await browser.open(fresh);
  await page.goto(link);
  await page.getByLabel('User name').fill('grace');
  await page.getByLabel('Password').first().fill(PASSWORD);
  await page.locator('main button[type=submit]').click();
  await page.waitForURL(`${fresh.url}/`);
  await soon(() => page.getByRole('link', { name: 'a', exact: true }).count()).toBe(1);
  await page.context().close();
});

test('the browser had nothing to complain about but the wrong filter', () => {
  const expected = /status of 422/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
});

/**
 * The guide in a real browser: read without script, on a phone, in the dark and on paper, with the keyboard; code is copied.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService();
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('from chapter to chapter by their links, without script, 320 pixels wide', async () => {
  const page = await openAs(browser, svc, 'anna', {
    javaScriptEnabled: false,
    viewport: { width: 320, height: 700 },
  });
  await page.goto('/docs/guide');
  await page.getByRole('link', { name: 'Limits', exact: true }).click();
  const neighbours = page.getByRole('navigation', { name: 'Previous and next chapter' });
  await neighbours.getByRole('link', { name: 'Next Security' }).click();
  await page.getByRole('link', { name: 'systemd unit' }).click();
  await soon(() => page.url()).toEndWith('/docs/guide/install#a-systemd-unit-without-a-package');
  await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Guide' }).click();
  await soon(() => page.getByRole('heading', { level: 1 }).innerText()).toBe('Guide');
  await page.context().close();
});

for (const [look, options] of [
  ['on a phone', { viewport: { width: 320, height: 700 } }],
  ['in the dark', { colorScheme: 'dark', viewport: { width: 1280, height: 900 } }],
] as const) {
  test(`nothing is in the way of anybody, and nothing wider than the page: ${look}`, async () => {
    const page = await openAs(browser, svc, 'anna', options);
    for (const path of ['/docs/guide/configuration', '/docs/guide?q=key']) {
      await page.goto(path);
      const widths = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([path, widths]).toEqual([path, 0]);
      expect([path, await accessibilityProblems(page)]).toEqual([path, []]);
    }
    await page.context().close();
  });
}

test('a block of code is copied as it stands', async () => {
  const page = await openAs(browser, svc, 'anna', {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.goto('/docs/guide/tour');
  const block = page.locator('pre', { hasText: 'mkdir shop' });
  await block.hover();
  await block.getByRole('button', { name: 'Copy' }).click();
  await block.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toStartWith('mkdir shop\ncat > shop/products.csv');
  expect(copied).not.toContain('Copy');
  await page.context().close();
});

test('a key goes to the search, a hit leads to its heading', async () => {
  const page = await openAs(browser, svc, 'anna');
  await page.goto('/docs/guide/tour');
  await page.keyboard.press('g');
  await page.keyboard.type('identity provider');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Sections found' }).getByRole('link').first().click();
  await soon(() => page.url()).toEndWith('/docs/guide/permissions#an-identity-provider');
  await page.context().close();
});

test('printed, a chapter is its text without navigation', async () => {
  const page = await openAs(browser, svc, 'anna');
  await page.emulateMedia({ media: 'print' });
  await page.goto('/docs/guide/backup');
  expect(await page.getByRole('navigation').count()).toBe(0);
  await soon(() => page.getByRole('heading', { name: 'Restoring' }).isVisible()).toBe(true);
  await page.context().close();
});

test('no page complained or asked another server', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

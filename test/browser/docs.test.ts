/**
 * The pages of the API (DS-193): the caller's own operations, at once also among thousands of files, offline, and requests
 * tried there work with the session of the page; read without script, by keyboard, narrow and dark.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const many = Array.from({ length: 60 }, (_, index) => [`many/t${index}.csv`, 'a\n1\n']);

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'shop/products.csv': `name,price\ncup,2\n${MARKUP},3\n`,
      [`shop/${MARKUP}.csv`]: `${MARKUP}\n1\n`,
      'secret.csv': 'n\n1\n',
      ...Object.fromEntries(many),
    },
    config: { upload: { enabled: true } },
  });
  await svc.accounts.user('ada', { superuser: true });
  await svc.accounts.grant('bob', 'shop/*', 'read');
  // A page waits a moment only for the columns of a file that was never read.
  expect((await (await svc.as('bob')).fetch('/api/shop/products/')).status).toBe(200);
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const file = (): string => readFileSync(join(svc.docroot, 'shop/products.csv'), 'utf8');
const answer = (page: Page) => page.getByRole('region', { name: 'Answer' });
const address = (method: string, path: string): string =>
  `/docs?${new URLSearchParams({ method, path })}`;

test('DS-193 a change found on the page and tried there is made with the session', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto('/docs');
  await page.keyboard.press('f');
  await page.keyboard.type('products');
  await page.getByRole('status').getByText('1 resource matches “products”').waitFor();
  await soon(() => new URL(page.url()).search).toBe('?filter=products');
  await page.getByRole('link', { name: 'POST /api/shop/products/' }).click();
  await page
    .getByRole('heading', { name: 'Append rows to, or change several rows of shop/products' })
    .waitFor();
  const body = page.getByRole('textbox', { name: 'Body' });
  const example = JSON.parse(await body.inputValue()) as unknown;
  expect(example).toEqual({ action: 'create', data: [{ name: 'cup', price: 2 }] });
  await body.fill('{"action":"create","data":[{"name":"jug","price":9}]}');
  await soon(() => page.locator('#curl').innerText()).toContain('"name":"jug"');
  await page.getByRole('button', { name: 'Send POST' }).click();
  await answer(page)
    .getByText(/^200 OK · \d+ ms$/)
    .waitFor();
  expect(file()).toEndWith('jug,9\n');
  await page.context().close();
});

test('a list is asked for with its parameters, by keyboard; a refusal says why', async () => {
  const page = await openAs(browser, svc, 'bob');
  await page.goto(address('get', '/api/shop/products/'));
  await page.getByLabel(/^limit/).fill('1');
  await page.getByLabel(/^sort/).fill('name');
  await page.keyboard.press('Control+Enter');
  const shown = answer(page).locator('pre.body');
  await shown.filter({ hasText: '"price": 3' }).waitFor();
  expect(await shown.locator('img').count()).toBe(0);
  await soon(async () => JSON.parse((await shown.textContent())!)).toHaveLength(1);
  await answer(page).getByText('Headers').click();
  await soon(() => answer(page).locator('details pre').innerText()).toMatch(
    /^x-total-count: [23]$/m,
  );
  await page.getByLabel(/^limit/).fill('none');
  await page.keyboard.press('Enter');
  await answer(page).getByText('422 Unprocessable Entity').waitFor();
  await page.context().close();
});

test('nothing is listed that the caller may not use, nor has a page', async () => {
  const bob = await openAs(browser, svc, 'bob');
  await bob.goto('/docs');
  await soon(() => bob.getByRole('status').innerText()).toStartWith('2 resources and ');
  expect(await bob.locator('summary', { hasText: 'Administration' }).count()).toBe(0);
  expect(await bob.locator('a[href*="post&path=%2Fapi%2Fshop"]').count()).toBe(0);
  for (const [method, path] of [
    ['get', '/api/secret/'],
    ['post', '/api/shop/products/'],
    ['get', '/admin/users'],
  ] as const) {
    expect((await bob.goto(address(method, path)))!.status()).toBe(404);
  }
  const nobody = await browser.open(svc);
  await nobody.goto('/docs');
  await nobody.locator('summary', { hasText: 'Server' }).click();
  await nobody.getByText('Ask whether the server can work').waitFor();
  expect(await nobody.locator('main').innerText()).not.toContain('Your data');
  expect((await nobody.goto(address('get', '/api/shop/products/')))!.status()).toBe(404);
  await Promise.all([bob.context().close(), nobody.context().close()]);
});

test('without script the list folds, filters and pages, and every request has its command', async () => {
  const viewport = { width: 320, height: 700 };
  const page = await openAs(browser, svc, 'ada', { javaScriptEnabled: false, viewport });
  await page.goto('/docs');
  await page.getByRole('link', { name: 'Next' }).click();
  await page.locator('summary', { hasText: 'shop/products' }).click();
  await page.getByRole('link', { name: 'DELETE /api/shop/products/' }).click();
  const command = page.locator('#curl');
  await soon(() => command.innerText()).toStartWith(
    `curl -X DELETE '${svc.url}/api/shop/products/'`,
  );
  await soon(() => command.innerText()).toContain('"_row_id": 1');
  expect(await page.getByRole('button', { name: /^Send/ }).count()).toBe(0);
  await page.goto('/docs?filter=no+such+words');
  await page.getByRole('link', { name: 'Show all of them' }).click();
  await soon(() => new URL(page.url()).search).toBe('');
  await page.context().close();
});

test('a file is chosen and sent as a form; an answer of another kind is named, not shown', async () => {
  const page = await openAs(browser, svc, 'ada');
  await page.goto(address('post', '/api/uploads'));
  await page.getByLabel('filename').fill('sent.csv');
  const buffer = Buffer.from('a\n1\n');
  await page.locator('input[type=file]').setInputFiles({ name: 'x', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Send POST' }).click();
  await answer(page)
    .getByText(/^201 Created/)
    .waitFor();
  expect(readFileSync(join(svc.docroot, 'sent.csv'), 'utf8')).toBe('a\n1\n');
  await page.goto(address('get', '/api/shop/products/'));
  await page.getByLabel(/^format/).selectOption('parquet');
  await page.getByRole('button', { name: 'Send GET' }).click();
  await answer(page)
    .getByText(/vnd\.apache\.parquet, not shown/)
    .waitFor();
  await page.context().close();
});

for (const [colorScheme, width] of [
  ['light', 1280],
  ['dark', 320],
] as const) {
  test(`nobody is shut out: ${colorScheme}, ${width} pixels wide`, async () => {
    const page = await openAs(browser, svc, 'ada', {
      colorScheme,
      viewport: { width, height: 800 },
    });
    const problems: string[] = [];
    for (const path of [
      '/docs?filter=user',
      address('get', `/api/shop/${encodeURIComponent(MARKUP)}/`),
      address('put', '/admin/users/{user_id}/status'),
      address('post', '/auth/login'),
    ]) {
      expect([path, (await page.goto(path))!.status()]).toEqual([path, 200]);
      for (const problem of await accessibilityProblems(page)) problems.push(`${path} ${problem}`);
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (wide > width) problems.push(`${path} is ${wide} wide`);
    }
    expect(problems).toEqual([]);
    await page.context().close();
  });
}

test('no page complained or asked another server', () => {
  const expected = /^error: Failed to load resource: .*4(?:04|22)/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/**
 * The profile page (DS-184): keys, sessions and password, also without script, and nothing of it for a key with scopes.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({ files: { 'shop/products.csv': 'name,price\ncup,2\n' } });
  await svc.accounts.user('bea', { password: PASSWORD });
  await svc.accounts.grant('bea', 'shop/*', 'read', 'write');
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('make a key with fewer rights, use it, revoke it: without script', async () => {
  const page = await browser.open(svc, { javaScriptEnabled: false });
  await signIn(page, 'bea');
  await page.getByRole('button', { name: 'your account' }).click();
  await page.locator('#account').getByRole('link', { name: 'Your profile' }).click();
  await page.getByLabel('What it is for').fill('nightly report');
  await page.getByLabel('Days until it expires').fill('30');
  await page.getByLabel('Rights').fill('read:shop/*');
  await page.getByRole('button', { name: 'Make a key' }).click();
  const key = await page.getByLabel('Your new API key').inputValue();
  const client = svc.withHeaders({ 'X-API-Key': key });
  expect((await client.fetch('/api/shop/products/')).status).toBe(200);
  expect((await client.fetch('/profile')).status).toBe(403);
  await page.goto('/profile');
  expect(await page.getByText(key).count()).toBe(0);
  await page.getByRole('button', { name: 'Revoke nightly report' }).click();
  await soon(() => page.getByRole('status').innerText()).toBe('The key no longer works.');
  expect((await client.fetch('/api/shop/products/')).status).toBe(401);
  await page.context().close();
});

test('a wrong form says what was wrong, and keeps the page', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'bea');
  await page.goto('/profile');
  await page.getByLabel('Rights').fill('everything');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await soon(() => page.getByRole('alert').innerText()).toContain('scopes');
  await page.getByLabel('Present password').fill('not it');
  await page.getByLabel('New password').fill('another Horse 8 battery');
  await page.getByRole('button', { name: 'Change it' }).click();
  await soon(() => page.getByRole('alert').innerText()).toBe('Current password is incorrect');
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.context().close();
  browser.reports.length = 0;
});

test('end another session, then change the password, which ends them all', async () => {
  const [here, there] = [await browser.open(svc), await browser.open(svc)];
  await signIn(there, 'bea');
  await signIn(here, 'bea');
  await here.goto('/profile');
  await soon(() => here.getByRole('cell', { name: 'this one' }).count()).toBe(1);
  const end = here.getByRole('button', { name: /^End session/ });
  for (let left = await end.count(); left > 0; left--) {
    await end.first().click();
    await soon(() => end.count()).toBe(left - 1);
    await soon(() => here.getByRole('status').innerText()).toBe('The session is over.');
  }
  await there.goto('/profile');
  await soon(() => new URL(there.url()).pathname).toBe('/auth/login');
  const next = 'another Horse 8 battery';
  await here.getByLabel('Present password').fill(PASSWORD);
  await here.getByLabel('New password').fill(next);
  await here.getByRole('button', { name: 'Change it' }).click();
  await here.waitForURL('**/auth/login');
  await signIn(here, 'bea', next);
  await here.context().close();
  await there.context().close();
});

test('DS-22 on a read-only site nothing is offered that would be refused', async () => {
  await using frozen = await startService({ files: {}, config: { readonly: true } });
  await frozen.accounts.user('bea', { password: PASSWORD });
  await frozen.accounts.apiKey('bea');
  const page = await browser.open(frozen);
  await signIn(page, 'bea');
  await page.goto('/profile');
  await page.getByText('This site is read-only for now').waitFor();
  await soon(() => page.getByRole('region', { name: 'API keys' }).getByRole('row').count()).toBe(2);
  expect(await page.locator('main').getByRole('button').count()).toBe(0);
  expect(await page.locator('main form').count()).toBe(0);
  await page.context().close();
});

test('no page complained', () => {
  expect(browser.reports).toEqual([]);
});

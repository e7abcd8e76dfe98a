/** Sharing in the browser: from a view of the grid to somebody without an account, by pointer and by keys (DS-270 to DS-274). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const ROWS = 'id,customer,amount,margin\n1,Acme,10,0.1\n2,Bolt,20,0.2\n3,Acme,30,0.3\n';
const VIEW = new URLSearchParams({
  filter: '{"customer":"Acme"}',
  sort: '-amount',
  columns: 'id,amount',
});

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: { 'sales/orders.csv': ROWS, 'sales/notes.md': '# Notes\n', 'in/x.csv': 'a\n1\n' },
    config: { upload: { enabled: true } },
  });
  await svc.accounts.user('ada', { superuser: true });
  await svc.accounts.user('bea', {});
  await svc.accounts.group('sales team', ['bea']);
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

async function linkShown(): Promise<string> {
  return page.locator('.sharing .notice input').inputValue();
}

test('a view of the grid becomes a link, and its reader sees that view and nothing else', async () => {
  await page.goto(`/ui/sales/orders/?${VIEW}`);
  await page.locator('.grid').waitFor();
  await page.getByRole('link', { name: 'Share' }).click();
  await page.getByText('only rows where customer = Acme').waitFor();
  await page.getByLabel('For', { exact: true }).fill('Acme');
  await page.getByRole('button', { name: 'Make a link' }).press('Enter');
  await page.getByText('The link').first().waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  const guest = await browser.open(svc, { viewport: { width: 390, height: 844 } });
  await guest.goto(await linkShown());
  await guest.locator('.grid').waitFor();
  await guest.getByText('2 rows').waitFor();
  const shown = await guest.locator('body').innerText();
  expect(shown).toContain('30');
  for (const hidden of ['Bolt', 'customer', 'margin', 'ada', 'Sign in', 'Search']) {
    expect(shown).not.toContain(hidden);
  }
  expect(await accessibilityProblems(guest)).toEqual([]);
  // Sorting by the head of a column is none of the keys and clicks that do something here.
  await guest.locator('.grid .head').nth(1).click();
  expect(guest.url()).not.toContain('sort');
  await guest.getByRole('button', { name: 'Export' }).click();
  await guest.getByRole('link', { name: 'CSV' }).waitFor();
  const href = await guest.getByRole('link', { name: 'CSV' }).getAttribute('href');
  const csv = await guest.evaluate(async (address) => (await fetch(address)).text(), href!);
  expect(csv).toBe('id,amount\n3,30\n1,10\n');
  await guest.context().close();
});

test('withdrawn, it is a page that says so', async () => {
  const address = await linkShown();
  await page.getByRole('button', { name: 'Withdraw the link Acme' }).click();
  await page.getByText('The link opens nothing any more.').waitFor();
  const guest = await browser.open(svc);
  await guest.goto(address);
  await guest.getByRole('heading', { name: 'This link does not work' }).waitFor();
  expect(await accessibilityProblems(guest)).toEqual([]);
  await guest.context().close();
});

test('a group gets a folder in three steps, and loses it again', async () => {
  await page.goto('/?folder=sales');
  await page.getByRole('link', { name: 'Share' }).click();
  await page.getByLabel('User or group').fill('sales');
  await page.locator('#receiver-names option[value="sales team"]').waitFor({ state: 'attached' });
  await page.getByLabel('User or group').fill('sales team');
  await page.keyboard.press('Enter');
  await page.getByText('The right is given.').waitFor();
  const row = page.getByRole('row', { name: 'sales team' });
  await soon(() => row.innerText()).toContain('bea');
  const bea = await svc.as('bea');
  expect((await bea.fetch('/api/sales/orders/')).status).toBe(200);
  expect(await accessibilityProblems(page)).toEqual([]);
  await row.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The right is taken back.').waitFor();
  expect((await bea.fetch('/api/sales/orders/')).status).toBe(403);
});

test('files, folders and people are suggested', async () => {
  await page.goto('/admin/ui/explain');
  await page.getByLabel('Resource').fill('sal');
  await page.locator('#resource-names option[value="sales/*"]').waitFor({ state: 'attached' });
  await page.locator('#resource-names option[value="sales/orders"]').waitFor({ state: 'attached' });
  await page.getByLabel('User', { exact: true }).fill('be');
  await soon(() => page.locator('#user-names option').count()).toBe(1);
  expect(await accessibilityProblems(page)).toEqual([]);
});

test('a refusal that is explained is mended where it stands', async () => {
  await page.goto('/admin/ui/explain?user=bea&resource=sales/orders&right=read');
  await page.getByText('bea may not read sales/orders').waitFor();
  await page.getByRole('button', { name: 'Give access' }).click();
  await page.getByText('The right is given.').waitFor();
  await page.goto('/admin/ui/explain?user=bea&resource=sales/orders&right=read');
  await page.getByText('bea may read sales/orders').waitFor();
});

test('a folder with a password is opened, read, and left by its own path', async () => {
  await page.goto('/auth/share?resource=sales/*');
  await page.getByLabel('Password (optional)').fill('lorry-velvet-anchor-17');
  await page.getByRole('button', { name: 'Make a link' }).click();
  await page.getByText('The link').first().waitFor();
  const guest = await browser.open(svc);
  await guest.goto(await linkShown());
  expect(await accessibilityProblems(guest)).toEqual([]);
  await guest.keyboard.type('wrong');
  await guest.keyboard.press('Enter');
  await guest.getByText('That is not the password of this link.').waitFor();
  await guest.getByLabel('Password').fill('lorry-velvet-anchor-17');
  await guest.keyboard.press('Enter');
  await guest.getByRole('link', { name: 'notes.md' }).click();
  await guest.getByRole('heading', { name: 'Notes' }).waitFor();
  await guest.getByRole('link', { name: 'All files' }).click();
  await guest.getByRole('link', { name: 'orders.csv' }).click();
  await guest.getByText('3 rows').waitFor();
  await guest.context().close();
});

test('a file is sent into a folder by whoever has its link', async () => {
  await page.goto('/auth/share?resource=in/*');
  await page.getByLabel('Opens it').selectOption('upload');
  await page.getByRole('button', { name: 'Make a link' }).click();
  await page.getByText('The link').first().waitFor();
  const guest = await browser.open(svc);
  await guest.goto(await linkShown());
  expect(await accessibilityProblems(guest)).toEqual([]);
  const file = join(svc.stateDir, '..', '..', 'x.csv');
  writeFileSync(file, 'b\n2\n');
  await guest.getByLabel('File').setInputFiles(file);
  await guest.getByRole('button', { name: 'Send' }).click();
  await guest.getByText('x.csv was received.').waitFor();
  expect(readFileSync(join(svc.docroot, 'in/x.csv'), 'utf8')).toBe('a\n1\n');
  expect(readFileSync(join(svc.docroot, 'in/x (2).csv'), 'utf8')).toBe('b\n2\n');
  await guest.context().close();
});

test('administrators see all links', async () => {
  await page.goto('/admin/ui/links');
  await page.getByText('3 links').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: /^Withdraw link \d+ to in/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw the link' }).click();
  await page.getByText('The link opens nothing any more.').waitFor();
});

test('nothing was complained about, and nothing asked elsewhere', () => {
  const expected = /status of 40[14]/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/**
 * Folders at their own addresses, and files renamed, moved, deleted, put back and uploaded there by pointer and keys
 * (DS-280 to DS-282).
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: {
      'sales/x.csv': 'a,b\n1,2\n',
      'sales/deep/y.csv': 'a\n1\n',
      'notes/plan.md': '# Plan\n',
      'secret/s.csv': 'a\n1\n',
    },
    config: { upload: { enabled: true } },
  });
  await svc.accounts.user('ada', { password: PASSWORD });
  for (const folder of ['sales/*', 'notes/*'])
    await svc.accounts.grant('ada', folder, 'read', 'write');
  browser = await TestBrowser.start();
  page = await browser.open(svc);
  await signIn(page, 'ada');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const at = (rel: string): string => join(svc.docroot, rel);

test('a folder has a page, also from its bare address; one that may not be known has none', async () => {
  await page.goto(`${svc.url}/sales/`);
  expect(new URL(page.url()).pathname).toBe('/ui/sales/');
  expect(await page.locator('h1').textContent()).toBe('sales');
  await page.locator('.tree a[href="/ui/sales/x/"]').waitFor();
  for (const path of ['/ui/secret/', '/secret/', '/ui/none/']) {
    expect((await page.goto(`${svc.url}${path}`))?.status()).toBe(403);
  }
});

test('a file is renamed, moved by dragging, deleted with a key and put back', async () => {
  await page.goto(`${svc.url}/ui/sales/`);
  await page.getByRole('button', { name: 'Actions for x' }).click();
  await page.getByRole('button', { name: 'Rename or move' }).click();
  await page.getByLabel('Its path from the top folder').fill('sales/z.csv');
  await page.getByRole('button', { name: 'Move', exact: true }).click();
  const row = page.locator('.tree a[href="/ui/sales/z/"]');
  await row.waitFor();
  expect(existsSync(at('sales/z.csv'))).toBe(true);
  await row.dragTo(page.locator('[data-folder="sales/deep"]'));
  await soon(() => existsSync(at('sales/deep/z.csv'))).toBe(true);
  // Until then the button is that of the change before.
  await page.getByText('sales/z.csv is sales/deep/z.csv now.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await soon(() => existsSync(at('sales/z.csv'))).toBe(true);
  await row.waitFor();
  await row.focus();
  await page.keyboard.press('Delete');
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await soon(() => existsSync(at('sales/z.csv'))).toBe(false);
  await page.getByText('sales/z.csv is in the trash.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await soon(() => existsSync(at('sales/z.csv'))).toBe(true);
});

test('a folder is made and an upload goes into the folder one is in', async () => {
  await page.goto(`${svc.url}/ui/notes/`);
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name of the folder').fill('plan.md');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('alert').getByText("There is a 'notes/plan.md' already").waitFor();
  await page.getByLabel('Name of the folder').fill('drafts');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('.tree [href="/ui/notes/drafts/"]').first().click();
  await page.waitForURL('**/ui/notes/drafts/');
  await page
    .getByLabel('File')
    .setInputFiles({ name: 'up.csv', mimeType: 'text/csv', buffer: Buffer.from('n\n1\n') });
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.locator('.tree a[href="/ui/notes/drafts/up/"]').waitFor();
  expect(readFileSync(at('notes/drafts/up.csv'), 'utf8')).toBe('n\n1\n');
});

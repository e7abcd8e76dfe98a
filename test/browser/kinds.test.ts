/**
 * A resource is of the same kind on every page: list, search, API, administration, palette (DS-23, DS-183, DS-193).
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { filesBelow } from '../../build/example-files.ts';
import { soon } from '../http/eventually.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const KINDS: Readonly<Record<string, string>> = {
  'climate/co2-curve': 'SVG',
  'climate/index': 'Markdown',
  'climate/monthly': 'Program',
  'climate/seattle-weather': 'CSV',
  'earth/earthquakes': 'Parquet',
  'energy/iowa-electricity/Generation': 'Excel',
  'media/chord': 'MP3',
  about: 'HTML',
};

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({
    files: filesBelow(join(import.meta.dir, '../../examples/docroot')),
  });
  await svc.accounts.user('ada', { superuser: true });
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

/** The kinds that a page tells of the resources above, by name. */
async function kindsIn(rows: string, name: string): Promise<Record<string, string>> {
  const told = await page.evaluate<[string, string][]>(`
    [...document.querySelectorAll(${JSON.stringify(rows)})].map((row) =>
      [${JSON.stringify(name)}, '.kind'].map((part) => row.querySelector(part)?.textContent.trim()))
  `);
  return Object.fromEntries(told.filter(([resource]) => resource in KINDS));
}

test('the list of a folder, the API and administration call each kind by one name', async () => {
  await page.goto('/docs');
  await soon(() => kindsIn('.operations details', '.name')).toEqual({ ...KINDS });
  await page.goto('/admin/ui/resources');
  await soon(() => kindsIn('#list tbody tr', 'a')).toEqual({ ...KINDS });
  await page.goto('/');
  for (const [path, kind] of Object.entries(KINDS)) {
    const entry = page.locator('.tree .entry', {
      has: page.locator(`a[href$="/${path}"], a[href$="/${path}/"]`),
    });
    await soon(async () => [path, await entry.locator('.kind').textContent()]).toEqual([
      path,
      kind,
    ]);
  }
});

test('administration offers the kinds there are by their names', async () => {
  await page.goto('/admin/ui/resources');
  const choice = page.getByLabel('Kind');
  await soon(() => choice.locator('option').allInnerTexts()).toEqual([
    'All',
    ...[
      'CSV',
      'Dashboard',
      'Excel',
      'HTML',
      'Markdown',
      'Media',
      'Other file',
      'Parquet',
      'Program',
    ],
  ]);
  await choice.selectOption('Excel');
  await soon(() => kindsIn('#list tbody tr', 'a')).toEqual({
    'energy/iowa-electricity/Generation': 'Excel',
  });
});

test('search and palette say it as the list does', async () => {
  await soon(async () => {
    await page.goto('/search?q=chord');
    return page.locator('.results .kind').allTextContents();
  }).toContain('MP3');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('co2-curve');
  await soon(() => page.getByRole('option').first().innerText()).toEndWith('SVG');
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

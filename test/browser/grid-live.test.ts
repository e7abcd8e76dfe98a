/** What others do to a dataset shows in the grid as it happens: their cells, their names, and that they are there (DS-261). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  svc = await startService({ files: { 'stock.csv': 'name,n\ncup,1\nplate,2\nbowl,3\n' } });
  await svc.createSuperuser('ada');
  await svc.accounts.user('bea', { superuser: true });
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada');
  await page.goto('/ui/stock/');
  await page.locator('#grid-2-1').getByText('3').waitFor();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const colours = (row: number): Promise<string[]> =>
  page.evaluate(
    `[0, 1].map((column) => getComputedStyle(document.getElementById('grid-${row}-' + column)).animationName)`,
  );

test('the cell somebody else changed is marked, by name, without a reload', async () => {
  const bea = await svc.as('bea');
  const body = JSON.stringify({ action: 'update', data: { _row_id: 2, n: 22 } });
  const answer = await bea.fetch('/api/stock/', { method: 'PATCH', body });
  expect(answer.status).toBe(200);
  await page.locator('#grid-1-1.changed').getByText('22').waitFor();
  expect(await colours(1)).toEqual(['none', 'cell-changed']);
  expect(await colours(0)).toEqual(['none', 'none']);
  await page.locator('.grid-notice').getByText('stock.csv was changed by bea.').waitFor();
  svc.write('stock.csv', 'name,n\ncup,1\nplate,22\nbowl,33\n');
  await page.locator('#grid-2-1.changed').getByText('33').waitFor();
  await page.locator('.grid-notice').getByText('was changed by someone else').waitFor();
});

test('who else looks at it is told until they leave', async () => {
  const people = page.locator('.people');
  await soon(() => people.textContent()).toBe('');
  const stop = new AbortController();
  const bea = await svc.as('bea');
  const stream = await bea.fetch('/api/stock/changes?people=1&format=sse', { signal: stop.signal });
  expect(stream.status).toBe(200);
  await soon(() => people.textContent()).toBe('Also here: bea');
  stop.abort();
  await soon(() => people.textContent()).toBe('');
  expect(browser.reports).toEqual([]);
});

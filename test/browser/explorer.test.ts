/**
 * What makes the explorer pleasant: events as a table, spans between two moments, queries asked before, a pause of the live tail,
 * and the query for a terminal; letters typed in its editor are letters.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const HOUR_MS = 3_600_000;

let svc: Service;
let browser: TestBrowser;
let page: Page;

async function send(events: readonly object[]): Promise<void> {
  const response = await (
    await svc.as('ada')
  ).fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(201);
}

beforeAll(async () => {
  svc = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await svc.accounts.user('ada', { superuser: true });
  const now = Date.now();
  await send(
    [1, 2, 3, 4, 5].map((hours) => ({
      host: MARKUP,
      sourcetype: 'json',
      data: JSON.stringify({
        event_time: new Date(now - hours * HOUR_MS).toISOString(),
        level: 'error',
        hours,
      }),
    })),
  );
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { timezoneId: 'Asia/Kolkata' });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const summary = () => page.locator('.tools').getByRole('status');

test('letters that are keys elsewhere are typed into the editor', async () => {
  await page.goto('/events');
  await page.locator('.editor .cm-content').click();
  await page.keyboard.type('level=error / ?c');
  await soon(() => page.locator('.editor .cm-content').innerText()).toBe('level=error / ?c');
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('events are shown as a table of their fields, and as lines again', async () => {
  await page.goto('/events?q=level%3Derror&earliest=-24h');
  await page.getByRole('link', { name: 'As a table' }).click();
  await page.waitForURL(/form=table/);
  const heads = () => page.locator('#result th').allInnerTexts();
  await soon(heads).toContain('hours');
  await soon(async () => (await heads())[0]).toBe('_time');
  await soon(async () => (await heads()).at(-1)).toBe('data');
  await soon(() => page.locator('#result tbody tr').first().innerText()).toContain(MARKUP);
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'As lines' }).click();
  await soon(() => page.locator('#found .lines > li').count()).toBe(5);
});

test('a span between two moments is in the time of the reader, and in the address', async () => {
  await page.waitForLoadState();
  await page.locator('#time summary').click();
  const local = (hours: number): string => {
    const at = new Date(Date.now() - hours * HOUR_MS + 5.5 * HOUR_MS);
    return at.toISOString().slice(0, 19);
  };
  await page.getByLabel('From (your time)').fill(local(3.5));
  await page.getByLabel('To (your time)').fill(local(1.5));
  await page.getByRole('button', { name: 'Use this time' }).click();
  await summary()
    .getByText(/^2 rows/)
    .waitFor();
  const { searchParams } = new URL(page.url());
  expect(searchParams.get('earliest')).toMatch(/Z$/);
  expect(searchParams.get('latest')).toMatch(/Z$/);
  expect(searchParams.get('from')).toBeNull();
});

test('queries asked before are there to ask again', async () => {
  await page.goto('/events?q=hours%3D1&earliest=-7d');
  await page.getByText('History', { exact: true }).click();
  await page
    .getByRole('link', { name: /^level=error/ })
    .first()
    .click();
  await page.waitForURL(/level/);
  await page.getByText('History', { exact: true }).click();
  await page.getByRole('link', { name: 'hours=1 Last 7 days' }).click();
  await summary()
    .getByText(/^1 row/)
    .waitFor();
});

test('the query is copied for a terminal', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByText('Export', { exact: true }).click();
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const curl = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(curl).toContain(`'${svc.url}/search2/api/run/'`);
  expect(curl).toContain('"query":"hours=1 ');
});

test('live events are held back while paused, and shown afterwards', async () => {
  await page.goto('/events');
  await page.getByRole('button', { name: 'Watch live' }).click();
  await eventually(async () => {
    await send([{ host: 'web-9', sourcetype: 'text', data: 'first' }]);
    await soon(() => page.locator('#tail li').count()).toBeGreaterThan(0);
  });
  await page.getByRole('button', { name: 'Pause' }).click();
  await send([{ host: 'web-9', sourcetype: 'text', data: `held ${MARKUP}` }]);
  await page.getByRole('button', { name: /waiting\)$/ }).waitFor();
  expect(await page.locator('#tail').getByText('held').count()).toBe(0);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.locator('#tail').getByText(`held ${MARKUP}`).waitFor();
  await page.getByRole('button', { name: /^Stop watching/ }).click();
});

test('without script the boxes are UTC, and the choice replaces them', async () => {
  const plain = await openAs(browser, svc, 'ada', { javaScriptEnabled: false });
  await plain.goto('/events?q=level%3Derror');
  await plain.locator('#time summary').click();
  const utc = (hours: number): string =>
    new Date(Date.now() - hours * HOUR_MS).toISOString().slice(0, 19);
  await plain.getByLabel('From (UTC)').fill(utc(3.5));
  await plain.getByLabel('To (UTC)').fill(utc(1.5));
  await plain.getByRole('button', { name: 'Use this time' }).click();
  await soon(() => plain.getByRole('status').innerText()).toMatch(/^2 rows/);
  await plain.locator('#time summary').click();
  await plain.getByRole('button', { name: 'Last 24 hours' }).click();
  await soon(() => plain.getByRole('status').innerText()).toMatch(/^5 rows/);
  await plain.context().close();
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

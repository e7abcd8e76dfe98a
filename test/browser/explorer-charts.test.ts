/**
 * Charts without the language: fields are counted, drawn over time and split by clicks, each writing the query that does it;
 * the forms of charts, by pointer and keys; lines with columns of their own, an event as a tree; the time in one place.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Client, type Service, startService } from '../support/service.ts';

const MINUTE_MS = 60_000;

let svc: Service;
let browser: TestBrowser;
let page: Page;
let writer: Client;

async function send(...events: readonly object[]): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(events);
  const response = await writer.fetch('/api/events/', { method: 'POST', headers, body });
  expect(response.status).toBe(201);
}

beforeAll(async () => {
  svc = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await svc.accounts.user('ada', { superuser: true });
  writer = await svc.as('ada');
  const now = Date.now();
  await send(
    ...Array.from({ length: 240 }, (_, index) => ({
      host: `web-${index % 3}`,
      sourcetype: 'json',
      data: JSON.stringify({
        event_time: new Date(now - (index + 1) * 5 * MINUTE_MS).toISOString(),
        level: ['info', 'info', 'warn', 'error'][index % 4],
        ms: index,
        user: { name: `user ${index % 5}`, roles: ['reader'] },
      }),
    })),
  );
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { viewport: { width: 1280, height: 900 } });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const query = () => page.locator('#query textarea').inputValue();
const parameter = (name: string) => new URL(page.url()).searchParams.get(name);
const chart = () => page.getByRole('application', { name: /^Chart of the result/ });
const legend = (within: string) => page.locator(`${within} .chart-legend li`).allInnerTexts();
const field = (name: string) => page.locator(`#fields details[data-field="${name}"]`);

async function act(name: string, label: string): Promise<void> {
  const details = field(name);
  await details.waitFor();
  if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
  await details.getByRole('button', { name: `${label}: ${name}` }).click();
}

test('from “errors?” to errors by host over time in four clicks, and the query is there to learn from', async () => {
  await page.goto('/events');
  await field('level').locator('summary').click();
  await field('level')
    .getByRole('button', { name: /^error/ })
    .click();
  await page.waitForURL(/error/);
  await act('host', 'Over time');
  await page.waitForURL(/timechart/);
  await soon(() => query()).toBe('level=error | timechart count by host');
  await soon(() => legend('#chart-place')).toEqual(['web-0', 'web-1', 'web-2']);
  expect(parameter('chart')).toBe('stacked-bar');
  expect(await accessibilityProblems(page)).toEqual([]);
});

test('every form is drawn from the menu, and stands in the address with its axis', async () => {
  const kinds = page.getByRole('combobox', { name: 'Kind of chart' });
  for (const form of ['line', 'area', 'stacked-area', 'bar', 'pie', 'heat-map']) {
    await kinds.selectOption(form);
    await chart().locator('canvas').waitFor();
    await soon(() => parameter('chart')).toBe(form);
  }
  await kinds.selectOption('single');
  await soon(() => page.locator('#chart-place .single').count()).toBe(3);
  expect(await page.getByLabel('Log scale').isVisible()).toBe(false);
  await kinds.selectOption('line');
  await page.getByLabel('Log scale').check();
  await page.getByLabel('Most of the axis').fill('100');
  await page.keyboard.press('Enter');
  await soon(() => [parameter('log'), parameter('max')]).toEqual(['1', '100']);
  await page.reload();
  await soon(() => page.getByLabel('Most of the axis').inputValue()).toBe('100');
  await soon(() => kinds.inputValue()).toBe('line');
});

test('a point of a chart is read by keys, a series hidden, and Enter leads to its events', async () => {
  await page.goto('/events?q=*+%7C+stats+count+by+host,level&chart=stacked-bar');
  await soon(() => legend('#chart-place')).toEqual(['error', 'warn', 'info']);
  const info = page.locator('#chart-place').getByRole('button', { name: 'info' });
  await info.click();
  await soon(() => info.getAttribute('aria-pressed')).toBe('false');
  await chart().focus();
  await page.keyboard.press('ArrowRight');
  const said = page.locator('#chart-place div[aria-live]');
  await soon(() => said.innerText()).toBe('web-0: error: 20, warn: 20');
  await page.keyboard.press('ArrowDown');
  await soon(() => said.innerText()).toBe('web-0: error: 20');
  await soon(() => page.locator('#chart-place .chart-tip p.chosen').innerText()).toBe('error: 20');
  await page.keyboard.press('Enter');
  await page.waitForURL(/web-0/);
  await soon(() => query()).toBe('host=web-0');
});

test('the bars are split by a field, by levels in their colours', async () => {
  await page.goto('/events');
  await page.getByRole('combobox', { name: 'Split the bars' }).selectOption('By level');
  await soon(() => legend('#histogram')).toEqual(['error', 'warn', 'info']);
  await soon(() => parameter('by')).toBe('level');
  const colors = await page.evaluate<string[]>(
    `[...document.querySelectorAll('#histogram .swatch')].map((one) => one.style.getPropertyValue('--swatch'))`,
  );
  expect(colors).toEqual(['red', 'amber', 'blue'].map((name) => `var(--series-${name})`));
  await act('host', 'Split');
  await soon(() => legend('#histogram')).toEqual(['web-0', 'web-1', 'web-2']);
  await page.reload();
  await soon(() => legend('#histogram')).toEqual(['web-0', 'web-1', 'web-2']);
});

test('lines have the columns that were picked, and the colour of their level', async () => {
  await page.goto('/events?q=ms%3D3');
  await act('user.name', 'Column');
  await page.waitForURL(/columns=/);
  const heads = () => page.locator('#found .lines-head > span').allInnerTexts();
  await soon(heads).toEqual(['Time', 'host ×', 'user.name ×', 'Event']);
  await soon(() => page.locator('#found .cell').allInnerTexts()).toEqual(['web-0', 'user 3']);
  await soon(() => page.locator('#found .lines > li').getAttribute('class')).toBe('level-error');
  await page.getByRole('link', { name: 'Without the column host' }).click();
  await soon(heads).toEqual(['Time', 'user.name ×', 'Event']);
  await soon(() => query()).toBe('ms=3');
});

test('an open event is copied and shown as a tree', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('#found .lines summary').first().click();
  await page.getByRole('button', { name: 'As a tree' }).click();
  const tree = page.getByRole('group', { name: 'The event as a tree' });
  await soon(() => tree.innerText()).toMatch(/user\s+\{2\}\s+name\s+"user 3"/);
  expect(await page.locator('#found .event-fields').isVisible()).toBe(false);
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = JSON.parse(
    await page.evaluate<string>('navigator.clipboard.readText()'),
  ) as object;
  expect(copied).toMatchObject({ ms: 3 });
});

test('an event has an address, where it stands among those around it', async () => {
  await page.goto('/events?q=ms%3D30');
  await page.locator('#found .lines summary').first().click();
  await page.getByRole('link', { name: /^Link to this event/ }).click();
  await page.getByRole('heading', { name: /^Event \d+$/ }).waitFor();
  const marked = page.locator('.lines > li[aria-current=true]');
  await soon(() => marked.locator('.event-fields').innerText()).toMatch(/ms\s+30/);
  await soon(() => page.locator('.lines > li').count()).toBe(21);
  await marked.getByRole('button', { name: 'As a tree' }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
});

test('saving stays where one is; a saved search opens with its time, chart and name, and is updated', async () => {
  await page.goto('/events?q=level%3Derror+%7C+timechart+count+by+host&earliest=-7d');
  await page.getByRole('combobox', { name: 'Kind of chart' }).selectOption('stacked-area');
  await page.getByText('Save', { exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill('Errors by host');
  await page.getByRole('button', { name: 'Save this search' }).click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await page.goto('/savedsearches');
  await page.getByRole('link', { name: 'Open Errors by host' }).click();
  await page.getByRole('heading', { name: 'Errors by host' }).waitFor();
  await soon(() => query()).toBe('level=error | timechart count by host');
  await soon(() => page.locator('#time summary').innerText()).toBe('Last 7 days');
  const kinds = page.getByRole('combobox', { name: 'Kind of chart' });
  await soon(() => kinds.inputValue()).toBe('stacked-area');
  await kinds.selectOption('bar');
  await page.getByRole('button', { name: 'Update' }).click();
  await page.getByText('The saved search is as it is here now.').waitFor();
  await soon(() => [parameter('chart'), parameter('done')]).toEqual(['bar', null]);
  expect(await accessibilityProblems(page)).toEqual([]);
});

test('the time is one place: by keys, relative, and again every so often', async () => {
  await page.goto('/events?q=ms%3D3');
  await page.keyboard.press('t');
  const time = page.locator('#time');
  await soon(() => time.getAttribute('open')).toBe('');
  await page.keyboard.press('Escape');
  await soon(() => time.getAttribute('open')).toBe(null);
  await page.keyboard.press('t');
  await page.getByLabel('How many').fill('90');
  await page.getByLabel('Unit').selectOption('minutes');
  await page.getByLabel('How many').press('Enter');
  await page.waitForURL(/earliest=-90m/);
  await soon(() => time.locator('summary').innerText()).toBe('Last 90 minutes');
  await soon(() => query()).toBe('ms=3');
  await page.clock.install();
  await page.goto('/events?q=host%3Dagain');
  await page.getByText('Nothing matches in this time').waitFor();
  await time.locator('summary').click();
  await page.getByLabel('Search again every').selectOption('10 s');
  expect(parameter('refresh')).toBe('10');
  await send({ host: 'again', data: 'here it is' });
  await page.clock.runFor(11_000);
  await page.locator('#found .line').getByText('here it is').waitFor();
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

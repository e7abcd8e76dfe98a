/**
 * The event explorer and the saved searches: find, narrow by clicking, zoom, watch live, chart, save, share; with hostile
 * events, and without script.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { accessibilityProblems, signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Client, type Service, startService } from '../support/service.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
let svc: Service;
let browser: TestBrowser;
let writer: Client;

async function send(events: readonly object[]): Promise<void> {
  const response = await writer.fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(201);
}

beforeAll(async () => {
  svc = await startService({ files: { 'shop/products.csv': 'name,price\ncup,2\n' } });
  await svc.createSuperuser('ada');
  writer = await svc.as('ada');
  const now = Date.now();
  await send(
    Array.from({ length: 60 }, (_, index) => ({
      host: `web-${index % 3}`,
      source: 'app',
      sourcetype: 'json',
      data: JSON.stringify({
        event_time: new Date(now - index * 60_000).toISOString(),
        level: index % 4 === 0 ? 'error' : 'info',
        ms: index,
        note: index === 7 ? MARKUP : 'fine',
      }),
    })),
  );
  await send([{ host: MARKUP, source: MARKUP, sourcetype: 'text', data: `hostile ${MARKUP}` }]);
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

async function explorer(page: Page, query = ''): Promise<void> {
  await page.goto(`/events${query}`);
  await page.getByRole('heading', { name: 'Events' }).waitFor();
}

test('find, open an event, keep only its value, count: without script', async () => {
  const page = await browser.open(svc, {
    javaScriptEnabled: false,
    viewport: { width: 320, height: 700 },
  });
  await signIn(page, 'ada');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Events', exact: true })
    .click();
  await page.getByLabel('Query').fill('level=error');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await soon(() => page.getByRole('status').innerText()).toMatch(/^15 rows · .* scanned · .* ms$/);
  await page.locator('.lines li', { hasText: 'web-0' }).first().locator('summary').click();
  await page.getByRole('link', { name: 'Only events with host web-0' }).first().click();
  await soon(() => page.getByLabel('Query').inputValue()).toBe('level=error host=web-0');
  await soon(() => page.getByRole('status').innerText()).toMatch(/^5 rows/);
  await page.getByLabel('Query').fill('level=error | stats count by host | sort host');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await soon(() => page.locator('#result tbody tr').allInnerTexts()).toEqual([
    'web-0\t5',
    'web-1\t5',
    'web-2\t5',
  ]);
  await page.context().close();
});

test('what is wrong with a query stands at its place, with what was meant', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await explorer(page, '?q=error+%7C+stat+count');
  await soon(() => page.locator('.query-problem mark').innerText()).toBe('stat');
  await soon(() => page.getByRole('alert').innerText()).toContain("did you mean 'stats'?");
  await page.context().close();
});

test('the editor completes, the histogram zooms, fields narrow, the result is charted', async () => {
  const page = await browser.open(svc, { viewport: { width: 1280, height: 900 } });
  await signIn(page, 'ada');
  await explorer(page);
  await page.locator('#histogram canvas').waitFor();
  await soon(() => page.locator('#histogram p').innerText()).toMatch(/^61 events, each bar/);
  // What comes beside and above it has come: it stays where it is.
  await page.locator('#fields summary').first().waitFor();
  const box = (await page.locator('#histogram .u-over').boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.9, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.999, box.y + 20, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/latest=2/);
  await explorer(page);
  await page.locator('#fields').getByText('level', { exact: true }).click();
  await page
    .locator('#fields')
    .getByRole('button', { name: /^error/ })
    .click();
  await page.waitForURL(/level/);
  await soon(() => page.getByRole('status').innerText()).toMatch(/^15 rows/);
  await page.locator('.editor .cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' | timech');
  await page.locator('.cm-tooltip-autocomplete', { hasText: 'timechart' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.type(' count by host');
  await page.keyboard.press('Control+Enter');
  await page.locator('#result').waitFor();
  await page.locator('figure.chart canvas').waitFor();
  await page.context().close();
});

test('events come in live, pause under the pointer, and hostile ones stay text', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await explorer(page);
  await page.getByRole('button', { name: 'Watch live' }).click();
  await eventually(async () => {
    await send([{ host: 'web-9', sourcetype: 'text', data: `fresh ${MARKUP}` }]);
    await soon(() => page.locator('#tail li').count()).toBeGreaterThan(0);
  });
  await soon(() => page.locator('#tail li .line').first().innerText()).toBe(`fresh ${MARKUP}`);
  await page.getByRole('button', { name: /^Stop watching/ }).click();
  await page.context().close();
});

test('save a search, share it, open, change, copy and delete it', async () => {
  const page = await browser.open(svc);
  await signIn(page, 'ada');
  await explorer(page, '?q=level%3Derror&earliest=-7d');
  await page.getByText('Save', { exact: true }).click();
  await page.getByLabel('Name').fill(`Errors ${MARKUP}`);
  await page.getByLabel('Everybody may see it').check();
  await page.getByRole('button', { name: 'Save this search' }).click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  await soon(() => new URL(page.url()).pathname).toBe('/events');
  await page.getByRole('heading', { name: `Errors ${MARKUP}` }).waitFor();
  await svc.accounts.user('bea', { password: PASSWORD });
  const other = await browser.open(svc);
  await signIn(other, 'bea');
  await other.goto('/savedsearches');
  await soon(() => other.getByRole('link', { name: `Errors ${MARKUP}`, exact: true }).count()).toBe(
    1,
  );
  expect(await other.getByText('Change', { exact: true }).count()).toBe(0);
  await other.context().close();
  await page.goto('/savedsearches');
  await page.getByRole('link', { name: `Errors ${MARKUP}`, exact: true }).click();
  await soon(() => page.locator('.tools').getByRole('status').innerText()).toMatch(/^15 rows/);
  await page.goto('/savedsearches');
  await page.getByText('Delete', { exact: true }).click();
  await page.getByRole('button', { name: /^Delete it/ }).click();
  await soon(() => page.getByRole('status').innerText()).toBe(
    `The search “Errors ${MARKUP}” is deleted.`,
  );
  await page.context().close();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`nobody is shut out: ${colorScheme}`, async () => {
    const page = await browser.open(svc, { colorScheme });
    await signIn(page, 'ada');
    const problems: string[] = [];
    for (const path of ['/events', '/events?q=*+%7C+stats+count+by+host', '/savedsearches']) {
      await page.goto(path, { waitUntil: 'networkidle' });
      for (const problem of await accessibilityProblems(page)) problems.push(`${path} ${problem}`);
    }
    expect(problems).toEqual([]);
    await page.context().close();
  });
}

test('no page complained', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

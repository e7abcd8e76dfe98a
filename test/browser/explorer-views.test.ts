/**
 * The explorer as people read it: the histogram by keys and by finger, values kept and left out wherever they stand, completion
 * of values, charts that stand in the address, the live tail with its states, errors with a way on, other places and paper.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Client, type Service, startService } from '../support/service.ts';

const MARKUP = '<img src=x onerror=alert(1)>';
const HOUR_MS = 3_600_000;

let svc: Service;
let browser: TestBrowser;
let page: Page;
let writer: Client;

async function send(...events: readonly object[]): Promise<void> {
  const response = await writer.fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(201);
}

beforeAll(async () => {
  svc = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await svc.accounts.user('ada', { superuser: true });
  writer = await svc.as('ada');
  const now = Date.now();
  await send(
    ...Array.from({ length: 1_200 }, (_, index) => ({
      host: `web-${index % 3}`,
      sourcetype: 'json',
      data: JSON.stringify({
        event_time: new Date(now - (1 + (index % 20)) * HOUR_MS).toISOString(),
        level: index % 4 === 0 ? 'error' : 'info',
        user: `user ${index % 90}`,
        ms: index,
      }),
    })),
  );
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', {
    locale: 'de-DE',
    timezoneId: 'Europe/Berlin',
    viewport: { width: 1280, height: 900 },
  });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const summary = () => page.locator('.tools').getByRole('status');
const query = () => page.locator('#query textarea').inputValue();
const bars = (on: Page = page) => on.getByRole('application', { name: /^Events over time/ });

test('how many match, and every number and time, are as the reader writes them', async () => {
  await page.goto('/events');
  await summary()
    .getByText(/^first 100 of 1\.200 rows · .* scanned · .* ms$/)
    .waitFor();
  await page.locator('#histogram').getByText('1.200 events, each bar 30 minutes').waitFor();
  const time = page.locator('.lines time').first();
  await soon(() => time.innerText()).toMatch(/^\d\d\.\d\d\.\d{4}, \d\d:\d\d:\d\d$/);
  await soon(() => time.getAttribute('title')).toMatch(/Z$/);
});

test('the histogram is walked, marked and zoomed by keys, and zoomed out of again', async () => {
  await page.keyboard.press('h');
  await page.keyboard.press('Home');
  for (let step = 0; step < 8; step++) await page.keyboard.press('ArrowRight');
  for (let step = 0; step < 3; step++) await page.keyboard.press('Shift+ArrowRight');
  const said = page.locator('#histogram div[aria-live]');
  await soon(() => said.innerText()).toMatch(/ to .*: \d+ events$/);
  const told = /: (\d+) events$/.exec(await said.innerText())![1]!;
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/latest=/);
  await summary()
    .getByText(new RegExp(`^(first 100 of )?${told} rows`))
    .waitFor();
  const { searchParams } = new URL(page.url());
  const span = Date.parse(searchParams.get('latest')!) - Date.parse(searchParams.get('earliest')!);
  expect(span).toBe(2 * HOUR_MS);
  await soon(() => page.locator('#time summary').innerText()).toMatch(/^\d\d\.\d\d\.\d{4}, .* – /);
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await page.waitForURL((url) => {
    const { searchParams: asked } = url;
    return Date.parse(asked.get('latest')!) - Date.parse(asked.get('earliest')!) === 4 * HOUR_MS;
  });
});

test('a finger marks a part of the histogram', async () => {
  const phone = await openAs(browser, svc, 'ada', {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 320, height: 700 },
  });
  await phone.goto('/events');
  const over = phone.locator('#histogram .u-over');
  await over.waitFor();
  // What comes above it has come: it stays where it is.
  await phone.locator('#fields summary').first().waitFor({ state: 'attached' });
  await over.scrollIntoViewIfNeeded();
  const { x, y, width } = (await over.boundingBox())!;
  const session = await phone.context().newCDPSession(phone);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', part?: number) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: part === undefined ? [] : [{ x: x + width * part, y: y + 20 }],
    });
  await touch('touchStart', 0.3);
  for (const part of [0.4, 0.5, 0.6]) await touch('touchMove', part);
  await touch('touchEnd');
  await phone.waitForURL(/latest=/);
  await soon(() => phone.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
  await phone.context().close();
});

test('a value is kept or left out from the sidebar and from the table, by keys too', async () => {
  await page.goto('/events?form=table');
  await page.locator('#fields').getByText('level', { exact: true }).click();
  await page.getByRole('button', { name: 'No events with level info' }).click();
  await summary()
    .getByText(/^first 100 of 300 rows/)
    .waitFor();
  await soon(() => query()).toBe('NOT level=info');
  await page.locator('a.value[data-field="host"]').first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menu').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await soon(() => page.getByRole('menu').count()).toBe(0);
  await page.keyboard.press('Enter');
  await page
    .getByRole('menuitem', { name: 'Only events with it' })
    .and(page.locator(':focus'))
    .waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/host/);
  await soon(() => query()).toMatch(/^NOT level=info NOT host=web-\d$/);
  await summary()
    .getByText(/^first 100 of 200 rows/)
    .waitFor();
  await soon(() => new URL(page.url()).searchParams.get('form')).toBe('table');
});

test('values are completed, rare ones too, and Enter searches', async () => {
  await page.goto('/events');
  await page.locator('.editor .cm-content').click();
  await page.keyboard.type('level=er');
  // What is proposed for fewer letters is greyed; Enter takes what is chosen.
  const proposed = page.locator(
    '.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled) li',
  );
  const chosen = proposed.and(page.locator('[aria-selected=true]'));
  await chosen.filter({ hasText: 'error' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.type(' user="user 8');
  await proposed.filter({ hasText: 'user 88' }).waitFor();
  await page.keyboard.type('8');
  await soon(() => proposed.count()).toBe(1);
  await chosen.filter({ hasText: 'user 88' }).waitFor();
  await page.keyboard.press('Enter');
  await soon(() => query()).toBe('level=error user="user 88"');
  await page.keyboard.press('Enter');
  await page.waitForURL(/user/);
  await summary()
    .getByText(/^\d+ rows? ·/)
    .waitFor();
});

test('fields of a dataset are completed from what comes before', async () => {
  await page.goto('/events');
  await page.locator('.editor .cm-content').click();
  await page.keyboard.type('from a | sort ');
  await page.keyboard.press('Control+Space');
  await page.locator('.cm-completionLabel', { hasText: /^n$/ }).waitFor();
  await page.keyboard.press('Escape');
});

test('results over time are drawn at once; what is chosen stands in the address', async () => {
  await page.goto('/events?q=*+%7C+timechart+count+by+level');
  await page.locator('figure.chart canvas').waitFor();
  await page.getByRole('button', { name: 'Hide the chart' }).click();
  await soon(() => new URL(page.url()).searchParams.get('chart')).toBe('0');
  await page.reload();
  await page.getByRole('button', { name: 'Chart', exact: true }).waitFor();
  expect(await page.locator('figure.chart').count()).toBe(0);
  await page.goto('/events?q=*+%7C+stats+count+sum(ms)+by+host&chart=1');
  await page.locator('figure.chart canvas').waitFor();
  await soon(() => page.locator('figure.chart .chart-legend li').allInnerTexts()).toEqual([
    'count',
    'sum(ms)',
  ]);
  await soon(() => page.locator('#result tbody tr').first().innerText()).toBe(
    'web-0\t400\t239.400',
  );
  expect(await accessibilityProblems(page)).toEqual([]);
});

test('the live tail stands in the address, says how it goes, and its lines open', async () => {
  await page.goto('/events?q=host%3Dlive&live=1');
  const status = page.locator('#tail-status');
  await status.getByText('Waiting for new events…').waitFor();
  await eventually(async () => {
    await send({ host: 'live', sourcetype: 'json', data: JSON.stringify({ note: MARKUP }) });
    expect(await page.locator('#tail li').count()).toBeGreaterThan(0);
  });
  await status.getByText(/^\d+ new events?, newest first\.$/).waitFor();
  await page.locator('#tail summary').first().focus();
  await page.keyboard.press('Enter');
  await page.locator('#tail dd', { hasText: MARKUP }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole('button', { name: `Only events with note ${MARKUP}` }).click();
  await page.waitForURL(/note/);
  await soon(() => query()).toBe(`host=live note=${JSON.stringify(MARKUP)}`);
});

test('the text of an event breaks between words, and behind the commas of an object', async () => {
  const words = 'The quick brown fox jumps over the lazy watchdog again and again and again';
  await send({ host: 'prose', sourcetype: 'text', data: words });
  const phone = await openAs(browser, svc, 'ada', { viewport: { width: 320, height: 700 } });
  await phone.goto('/events?q=host%3Dprose');
  const line = phone.locator('.lines .line').first();
  await soon(() => line.innerText()).toBe(words);
  // How many lines each word stands on.
  await soon(() =>
    phone.evaluate<number[]>(`(() => {
      const text = document.querySelector('.lines .line').firstChild;
      return [...text.data.matchAll(/\\S+/g)].map(({ index, 0: word }) => {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        return range.getClientRects().length;
      });
    })()`),
  ).toEqual(words.split(' ').map(() => 1));
  await phone.goto('/events?q=user%3Duser*');
  const object = phone.locator('.lines .line').first();
  await soon(() => object.locator('wbr').count()).toBe(3);
  await soon(async () => Object.keys(JSON.parse((await object.textContent())!) as object)).toEqual([
    'event_time',
    'level',
    'user',
    'ms',
  ]);
  await phone.context().close();
});

test('a tail that is refused says why', async () => {
  await page.goto('/events');
  await page.route('**/api/events/tail*', (route) =>
    route.fulfill({ status: 429, json: { detail: 'Too many tail streams.' } }),
  );
  await page.getByRole('button', { name: 'Watch live' }).click();
  await page.getByText('Live events stopped. Too many tail streams.').waitFor();
  await soon(() => page.getByRole('button', { name: 'Watch live' }).count()).toBe(1);
  await page.unroute('**/api/events/tail*');
});

test('a histogram and fields that cannot be had say so and are asked again', async () => {
  const busy = { status: 429, json: { detail: 'Too many searches running.' } };
  for (const path of ['histogram', 'fields']) {
    await page.route(`**/api/events/${path}*`, (route) => route.fulfill(busy), { times: 1 });
  }
  await page.goto('/events');
  await page.getByText(/counted over time: Too many searches running\./).waitFor();
  await page.locator('#fields').getByText('The fields could not be read.').waitFor();
  await page.locator('#histogram').getByRole('button', { name: 'Try again' }).click();
  await bars().waitFor();
});

test('an error stands in the query as typed, with a way on; the queries before stay at hand', async () => {
  await page.goto('/events?q=error+%7C+stat+count&earliest=-7d');
  const problem = page.getByRole('alert');
  await soon(() => problem.locator('pre').innerText()).toBe('error | stat count');
  await soon(() => problem.locator('mark').innerText()).toBe('stat');
  await soon(() => summary().innerText()).toBe('Nothing was searched');
  await soon(() => page.getByText('History', { exact: true }).isVisible()).toBe(true);
  expect(await page.getByText('Save', { exact: true }).count()).toBe(0);
  await problem.getByRole('link', { name: 'Search with “stats”' }).click();
  await soon(() => query()).toBe('error | stats count');
  await soon(() => new URL(page.url()).searchParams.get('earliest')).toBe('-7d');
  await summary()
    .getByText(/^1 row ·/)
    .waitFor();
});

test('who may read no event is told so, and nobody waits for a histogram of nothing', async () => {
  const other = await openAs(browser, svc, 'nina');
  await other.goto('/events');
  await other.getByText('You may not read any events yet.').waitFor();
  expect(await other.locator('#histogram').isVisible()).toBe(false);
  await other.goto('/events?q=from+a');
  expect(await other.getByText('You may not read any events yet.').count()).toBe(0);
  await other.context().close();
});

test('on paper stands what was asked, over which time, and the bars fit', async () => {
  const paper = await openAs(browser, svc, 'ada', { viewport: { width: 800, height: 1000 } });
  await paper.goto('/events?q=level%3Derror');
  await bars(paper).waitFor();
  await paper.emulateMedia({ media: 'print' });
  await paper.getByText('Last 24 hours', { exact: true }).last().waitFor();
  for (const name of ['Export', 'Zoom out', 'Show more', 'Copy']) {
    await soon(async () => [
      name,
      await paper.getByText(name, { exact: true }).isVisible(),
    ]).toEqual([name, false]);
  }
  await soon(() => paper.evaluate<number>('document.documentElement.scrollWidth')).toBe(800);
  await paper.context().close();
});

test('nothing was reported but the refusals, and no other server asked', () => {
  expect(browser.reports.filter((report) => !report.includes('status of 429'))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

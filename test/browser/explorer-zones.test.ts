/**
 * The explorer in other places, also on the days when their clocks change: a span of time stays the one it is whatever the boxes
 * can say of it, what somebody types is their own time, and an hour that comes twice is told apart (EV-2, SL-62).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

/** Around the ends of summer time in Berlin and New York, one event each half hour. */
const NIGHTS = ['2024-10-26T22:00:00Z', '2024-11-03T03:00:00Z', '2024-03-31T00:00:00Z'];
const HALF_HOUR_MS = 1_800_000;

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await svc.accounts.user('ada', { superuser: true });
  const moments = NIGHTS.flatMap((night) =>
    Array.from({ length: 12 }, (_, index) => Date.parse(night) + index * HALF_HOUR_MS),
  );
  const response = await (
    await svc.as('ada')
  ).fetch('/api/events/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify([
      ...moments.map((moment) => ({
        host: 'owl',
        sourcetype: 'json',
        data: JSON.stringify({ event_time: new Date(moment).toISOString(), hoot: 'hoo' }),
      })),
      // In the forms of EV-2: without a zone it is UTC.
      ...['2020-01-02T03:04:05', '2020-01-02T08:34:05+05:30'].map((time) => ({
        host: 'wren',
        sourcetype: 'json',
        data: JSON.stringify({ event_time: time }),
      })),
    ]),
  });
  expect(response.status).toBe(201);
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const opened = (locale: string, timezoneId: string): Promise<Page> =>
  openAs(browser, svc, 'ada', { locale, timezoneId });

const endsOf = (page: Page) => {
  const { searchParams } = new URL(page.url());
  return [searchParams.get('earliest'), searchParams.get('latest')];
};

async function showSpan(page: Page, earliest: string, latest: string): Promise<void> {
  await page.goto(`/events?${new URLSearchParams({ q: 'host=owl', earliest, latest })}`);
  await page.locator('#time summary').click();
}

async function between(page: Page, from: string, to: string): Promise<(string | null)[]> {
  await page.getByLabel('From (your time)').fill(from);
  await page.getByLabel('To (your time)').fill(to);
  await search(page);
  return endsOf(page);
}

/** The address may be the one there was: the page that answers is another. */
async function search(page: Page): Promise<void> {
  const came = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Use this time' }).click();
  await came;
}

// Without change, as typed in the hour that comes twice, and in the one that is left out.
test.each([
  {
    place: ['de-DE', 'Europe/Berlin'],
    span: ['2024-10-27T01:15:30.250Z', '2024-10-27T01:45:00.500Z'],
    box: '2024-10-27T02:15:30',
    twice: ['2024-10-27T02:00', '2024-10-27T02:30', '2024-10-27T00:00', '2024-10-27T01:30'],
    left: ['2024-03-31T02:15', '2024-03-31T03:30', '2024-03-31T01:00', '2024-03-31T01:30'],
    rows: [3, 1],
  },
  {
    place: ['ar-EG', 'America/New_York'],
    span: ['2024-11-03T06:15:00.000Z', '2024-11-03T06:45:00.000Z'],
    box: '2024-11-03T01:15',
    twice: ['2024-11-03T01:00', '2024-11-03T01:30', '2024-11-03T05:00', '2024-11-03T06:30'],
    left: ['2024-03-10T02:30', '2024-03-10T03:00', '2024-03-10T07:00', '2024-03-10T07:00'],
    rows: [3, 0],
  },
  {
    place: ['ja-JP', 'Asia/Kolkata'],
    span: ['2024-10-27T01:15:30.250Z', '2024-10-27T01:45:00.500Z'],
    box: '2024-10-27T06:45:30',
    twice: ['2024-10-27T05:30', '2024-10-27T07:00', '2024-10-27T00:00', '2024-10-27T01:30'],
    left: ['2024-03-31T06:30', '2024-03-31T07:00', '2024-03-31T01:00', '2024-03-31T01:30'],
    rows: [3, 1],
  },
] as const)(
  'spans in $place stay the moments they are, and mean the reader’s clock when typed',
  async ({ place: [locale, zone], span: [from, to], box, twice, left, rows }) => {
    const page = await opened(locale, zone);
    await showSpan(page, from, to);
    await soon(() => page.getByLabel('From (your time)').inputValue()).toBe(box);
    await search(page);
    expect(endsOf(page)).toEqual([from, to]);
    for (const [index, [start, end, first, last]] of [twice, left].entries()) {
      await showSpan(page, '2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z');
      const ends = await between(page, start, end);
      expect(ends).toEqual([`${first}:00.000Z`, `${last}:00.000Z`]);
      await soon(() => page.locator('.lines > li').count()).toBe(rows[index]!);
    }
    await page.context().close();
  },
);

test('the two hours of one name are told apart by their zones', async () => {
  const page = await opened('en-US', 'America/New_York');
  await showSpan(page, '2024-11-03T05:30:00Z', '2024-11-03T06:31:00Z');
  await soon(() => page.locator('.lines time').allInnerTexts()).toEqual([
    expect.stringMatching(/1:30:00\sAM EST$/),
    expect.stringMatching(/1:00:00\sAM EST$/),
    expect.stringMatching(/1:30:00\sAM EDT$/),
  ]);
  await soon(() => page.locator('#time summary').innerText()).toMatch(
    /1:30:00\sAM EDT – .*1:31:00\sAM EST$/,
  );
  await page.context().close();
});

test('bars of days are days of the server, and so are today and yesterday', async () => {
  const page = await opened('fr-FR', 'America/New_York');
  await page.goto('/events?q=host%3Dowl&earliest=2024-08-01&latest=2024-11-10T00:00:00Z');
  await page
    .locator('#histogram')
    .getByText(/each bar 1 (?:day|week) \(UTC\)$/)
    .waitFor();
  await page.keyboard.press('h');
  await page.keyboard.press('End');
  await soon(() => page.locator('#histogram div[aria-live]').innerText()).toMatch(
    /^\d+ nov\. 2024: \d+ events?$/,
  );
  const spans = (on: Page) => on.locator('#time .spans button').allTextContents();
  await soon(() => spans(page)).toContain('Today (UTC)');
  await soon(() => page.locator('#time summary').innerText()).toMatch(
    /^31 juil\. 2024, 20:00:00 – 9 nov\. 2024, 19:00:00$/,
  );
  await page.context().close();
  const near = await opened('en-GB', 'UTC');
  await near.goto('/events');
  await soon(() => spans(near)).toContain('Today');
  await near.context().close();
});

test('a time that an event tells without a zone is UTC, with one it is that moment', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await openAs(browser, svc, 'ada', {
      locale: 'en-GB',
      timezoneId: 'Asia/Kolkata',
      javaScriptEnabled,
    });
    await page.goto('/events?q=host%3Dwren&earliest=');
    const text = javaScriptEnabled ? '2 Jan 2020, 08:34:05' : '2020-01-02 03:04:05 UTC';
    await soon(() => page.locator('.lines time').allInnerTexts()).toEqual([text, text]);
    await page.context().close();
  }
});

test('nothing was reported, and no other server asked', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

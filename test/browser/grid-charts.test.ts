/**
 * The axes of a chart, by the texts that are drawn: dates, moments, numbers, names, negative, single and no values, also on a
 * phone in the dark.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually, soon } from '../http/eventually.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const day = (index: number, ms = 86_400_000): string =>
  new Date(Date.UTC(2024, 0, 5) + index * ms).toISOString();
const lines = (count: number, line: (index: number) => string): string =>
  `${Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('')}`;

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'days.csv': `day,v\n${lines(9, (at) => `${day(at).slice(0, 10)},${9 - at}`)}`,
      'hours.csv': `at,v\n${lines(49, (at) => `${day(at, 600_000)},${at}`)}`,
      'one.csv': 'day,v,n\n2024-03-01,5,3\n',
      'minus.csv': 'n,v,name\n-5,-3,a\n0,0,b\n1000000,-12000000,d\n',
      'names.csv': `name,v\n${lines(40, (at) => `a rather long name of a thing ${at},${at}`)}`,
    },
  });
  await svc.createSuperuser('ada');
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

/** A page that notes what is drawn as text. */
async function openPage(options: Parameters<TestBrowser['open']>[1]): Promise<Page> {
  const page = await openAs(browser, svc, 'ada', options);
  await page.addInitScript(`{
    window.drawn = [];
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      window.drawn.push(text);
      return fillText.call(this, text, ...rest);
    };
    CanvasRenderingContext2D.prototype.clearRect = function (...rest) {
      window.drawn.length = 0;
      return clearRect.call(this, ...rest);
    };
  }`);
  return page;
}

/** Texts of the chart that an address asks for, with plain spaces. */
async function textsOf(page: Page, address: string, last: string): Promise<string[]> {
  await page.goto(address);
  return eventually(async () => {
    const texts = await page.evaluate<string[]>('window.drawn');
    expect(texts).toContain(last);
    return texts.map((text) => text.replaceAll(/\s/g, ' '));
  });
}

test('days, hours, numbers and names are marked where people expect it, each once', async () => {
  const page = await openPage({ viewport: { width: 1000, height: 700 } });
  const days = await textsOf(page, '/ui/days/?chart=line&x=day&y=v&measure=mean', 'mean of v');
  expect(days).toEqual(
    expect.arrayContaining(['Jan 5, 2024', 'Jan 6', 'Jan 7', 'Jan 12', 'Jan 13']),
  );
  expect(new Set(days).size).toBe(days.length);
  const bars = await textsOf(page, '/ui/days/?chart=bar&x=day&y=v&measure=sum', 'sum of v');
  const dates = bars.filter((text) => text.startsWith('2024-'));
  expect(dates).toEqual(Array.from({ length: 9 }, (_, at) => day(at).slice(0, 10)));
  const hours = await textsOf(page, '/ui/hours/?chart=scatter&x=at&y=v', 'v');
  expect(hours).toEqual(expect.arrayContaining(['12:00 AM', 'Jan 5, 2024', '1:00 AM', '8:00 AM']));
  const numbers = await textsOf(page, '/ui/minus/?chart=line&x=n&y=v&measure=sum', 'sum of v');
  expect(numbers).toEqual(expect.arrayContaining(['0', '100K', '1M', '-12M']));
  const bins = await textsOf(page, '/ui/minus/?chart=histogram&x=v&measure=count', 'rows');
  expect(bins).toEqual(expect.arrayContaining(['-12M', '-6M', '0']));
  const names = await textsOf(page, '/ui/names/?chart=bar&x=name&y=v&measure=sum', 'sum of v');
  expect(names).toEqual(expect.arrayContaining(['a rather long name of a thing 39', '40']));
  await soon(() =>
    page.locator('.chart-canvas').evaluate((box) => box.clientHeight),
  ).toBeGreaterThan(600);
  const single = await textsOf(page, '/ui/one/?chart=line&x=day&y=v&measure=mean', 'mean of v');
  expect(single.filter((text) => /\d{4}/.test(text))).toEqual(['Mar 1, 2024']);
  const alone = await textsOf(page, '/ui/one/?chart=histogram&x=n&measure=count', 'rows');
  expect(alone).toContain('3');
  expect(alone.join()).not.toContain('–');
  await page.context().close();
  expect(browser.reports).toEqual([]);
});

test('a phone in the dark has room for all texts', async () => {
  const page = await openPage({ colorScheme: 'dark', viewport: { width: 320, height: 700 } });
  const days = await textsOf(page, '/ui/days/?chart=line&x=day&y=v&measure=mean', 'mean of v');
  expect(days.filter((text) => text.startsWith('Jan'))).toEqual(['Jan 5, 2024', 'Jan 13']);
  const names = await textsOf(page, '/ui/names/?chart=bar&x=name&y=v&measure=sum', 'sum of v');
  expect(names).toContain('a rather l…ng 39');
  await soon(() =>
    page.evaluate<number>('document.documentElement.scrollWidth'),
  ).toBeLessThanOrEqual(320);
  await page.context().close();
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

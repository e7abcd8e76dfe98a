/**
 * Search, documents, media and refusals in a browser: found things lead where they should, the address shares the view, and
 * nobody is shut out (sections 17, 19, 22 of the contract).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { clip, tone } from '../http/media-files.ts';
import { eventually, soon } from '../http/eventually.ts';
import { searched } from '../http/searching.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const GUIDE = `---
owner: Ada
---
# Guide to cups

First.

## Handles

Left or right.

## Sizes & colours

### Small
`;

const svg = (width: number, height: number): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="9" height="9"/></svg>`;

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: {
      'shop/products.csv': 'name,price\nblue cup,2\nred cup,3\nplate,4\n',
      'shop/guide.md': GUIDE,
      'draft/figures.md': '# Figures\n\n![Curve](curve.svg) ![Plan](/secret/plan.svg)\n\nBelow.\n',
      'draft/curve.svg': svg(600, 300),
      'secret/plan.svg': svg(400, 200),
      'shop/many.csv': `word\n${'porcelain\n'.repeat(30)}`,
      'shop/long.csv': `word\n${'saucer\n'.repeat(299)}teaspoon\n${'saucer\n'.repeat(100)}`,
      'music/a-song.mp3': tone(),
      'music/b-song.mp3': tone(),
      'music/c-film.mp4': clip(),
      'other.mp3': tone(),
      'secret/plan.txt': 'cup',
    },
  });
  await svc.accounts.grant('bob', 'shop/*', 'read');
  await svc.accounts.grant('bob', 'music/*', 'read');
  await svc.accounts.grant('eve', 'shop/*', 'read');
  await svc.accounts.grant('fay', 'draft/*', 'read');
  browser = await TestBrowser.start();
  const bob = await svc.as('bob');
  await eventually(async () => {
    for (const [word, count] of [
      ['porcelain', 30],
      ['teaspoon', 1],
      ['cup', 3],
      ['plate', 1],
    ] as const) {
      expect((await searched(bob, word, { limit: '100' })).count).toBe(count);
    }
  });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('the search follows what is typed; kinds narrow it; a row opens its table at that row', async () => {
  const page = await openAs(browser, svc, 'bob');
  await page.goto('/search');
  await page.getByRole('searchbox').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('cup');
  const results = page.locator('.results li');
  await page.getByText('3 results').waitFor();
  await soon(() => page.locator('.chips').innerText()).toBe('Everything\nTables\nDocuments\nMedia');
  await soon(() => results.locator('mark').first().innerText()).toMatch(/^cups?$/);
  expect(await page.locator('main').innerText()).not.toContain('plan');
  await page.getByRole('link', { name: 'Tables' }).click();
  await page.getByText('2 results').waitFor();
  await soon(() => page.getByRole('link', { name: 'Tables' }).getAttribute('aria-current')).toBe(
    'true',
  );
  await soon(() => new URL(page.url()).searchParams.get('type')).toBe(
    'csv,excel,parquet,json,sqlite,dbf',
  );
  await results.getByRole('link', { name: 'red cup' }).click();
  await page.waitForURL((url) => url.pathname === '/ui/shop/products/');
  await soon(() => new URL(page.url()).search).toBe('?at=2');
  await page.locator('[role=gridcell].active', { hasText: 'red cup' }).waitFor();
  await soon(() => page.getByText('blue cup').count()).toBe(1);
  await page.goto('/search?q=teaspoon');
  await results.getByRole('link', { name: 'teaspoon' }).click();
  await page.locator('[role=gridcell].active', { hasText: 'teaspoon' }).waitFor();
  await page.getByText('400 rows').waitFor();
  await page.context().close();
});

test('a search that takes its time says so', async () => {
  const page = await openAs(browser, svc, 'bob');
  await page.goto('/search');
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**/search?q=plate', async (route) => {
    await promise;
    await route.continue();
  });
  await page.getByRole('searchbox').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('plate');
  await page.getByRole('status').getByText('Looking…').waitFor();
  resolve();
  await page.getByRole('status').getByText('1 result').waitFor();
  await page.context().close();
});

test('without script a row opens the page of its table that it is on', async () => {
  const page = await openAs(browser, svc, 'bob', { javaScriptEnabled: false });
  await page.goto('/search?q=teaspoon');
  await page.getByRole('link', { name: 'teaspoon', exact: true }).click();
  await soon(() => page.getByRole('status').innerText()).toBe('251–300 of 400 rows');
  await soon(() => page.getByRole('cell', { name: 'teaspoon' }).count()).toBe(1);
  await page.getByRole('link', { name: 'Next' }).click();
  await soon(() => page.getByRole('status').innerText()).toBe('301–350 of 400 rows');
  await page.context().close();
});

test('pages of results are plain links, and what is not found says so', async () => {
  const page = await openAs(browser, svc, 'bob', { javaScriptEnabled: false });
  await page.goto('/search?q=porcelain');
  await soon(() => page.getByRole('status').innerText()).toBe('Results 1–20, and more');
  await page.getByRole('link', { name: 'Next' }).click();
  await soon(() => page.getByRole('status').innerText()).toBe('Results 21–30');
  await page.getByRole('searchbox').fill('nowhere');
  await page.getByRole('button', { name: 'Search' }).click();
  await soon(() => page.getByRole('status').innerText()).toBe('Nothing found');
  await soon(() => page.locator('.empty').innerText()).toContain('Try fewer or other words');
  await page.context().close();
});

test('a document has its way, outline, source and download, and links to its sections', async () => {
  const page = await openAs(browser, svc, 'bob');
  await page.goto('/shop/guide');
  await soon(() => page.getByRole('navigation', { name: 'Path' }).innerText()).toBe(
    'Resources\nshop',
  );
  await soon(() => page.locator('.place time').getAttribute('title')).toEndWith('Z');
  await page.getByRole('link', { name: 'Sizes & colours' }).click();
  await soon(() => new URL(page.url()).hash).toBe('#sizes--colours');
  await page.locator('h2', { hasText: 'Handles' }).hover();
  await page.getByRole('link', { name: 'Link to this section' }).first().click();
  await soon(() => new URL(page.url()).hash).toBe('#handles');
  await page.getByRole('link', { name: 'Source', exact: true }).click();
  await soon(() => page.locator('pre.source').textContent()).toBe(GUIDE);
  await soon(() => new URL(page.url()).search).toBe('?source=true');
  await page.getByRole('link', { name: 'Page', exact: true }).click();
  await page.getByText('Left or right.').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toBe('guide.md');
  await page.context().close();
});

async function placeOf(element: Locator) {
  return (await element.boundingBox())!;
}

test('a wide page has the outline beside its text, a phone has it folded up below the heading', async () => {
  const wide = await openAs(browser, svc, 'bob', { javaScriptEnabled: false });
  await wide.goto('/shop/guide');
  const outline = (page: Page) => page.getByRole('navigation', { name: 'On this page' });
  await soon(() => outline(wide).getByRole('link').count()).toBe(3);
  await soon(() => outline(wide).locator('summary').isVisible()).toBe(false);
  const [beside, text] = [await placeOf(outline(wide)), await placeOf(wide.locator('.text'))];
  expect(beside.x).toBeGreaterThan(text.x + text.width - 1);
  await wide.context().close();
  const phone = await openAs(browser, svc, 'bob', {
    javaScriptEnabled: false,
    viewport: { width: 320, height: 640 },
  });
  await phone.goto('/shop/guide');
  const links = outline(phone).getByRole('link');
  await soon(() => links.count()).toBe(0);
  const below = await placeOf(outline(phone));
  const heading = await placeOf(phone.locator('h1'));
  expect(below.y).toBeGreaterThan(heading.y);
  await phone.getByText('On this page').first().click();
  await links.filter({ hasText: 'Handles' }).click();
  await soon(() => new URL(phone.url()).hash).toBe('#handles');
  await phone.context().close();
});

test('the text of a document stays where it is when a picture comes late; nothing is told of others’ pictures', async () => {
  const page = await openAs(browser, svc, 'fay', { viewport: { width: 1000, height: 800 } });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  // A busy worker may not know the size in time for the first page.
  await soon(async () => {
    const answer = await (
      await svc.as('fay')
    ).fetch('/draft/figures', {
      headers: { Accept: 'text/html' },
    });
    return answer.text();
  }).toContain('<img width="600" height="300" src="curve.svg"');
  await page.route('**/curve.svg', async (route) => {
    await released;
    await route.continue();
  });
  await page.goto('/draft/figures', { waitUntil: 'domcontentloaded' });
  const text = page.getByText('Below.');
  const before = await placeOf(text);
  await soon(() => page.getByAltText('Plan').getAttribute('width')).toBe(null);
  release();
  await soon(() =>
    page.evaluate<boolean>(`document.querySelector('[alt="Curve"]').naturalWidth > 0`),
  ).toBe(true);
  expect(await placeOf(text)).toEqual(before);
  await page.context().close();
});

test('the gallery filters, sorts and is walked through with the arrows; the player goes on in the folder', async () => {
  const page = await openAs(browser, svc, 'bob', { viewport: { width: 1280, height: 800 } });
  await page.goto('/ui/media');
  await soon(() => page.getByRole('status').innerText()).toBe('3 files');
  await page.getByLabel('Kind').selectOption('Films');
  await page.getByText('1 file', { exact: true }).waitFor();
  await soon(() => new URL(page.url()).searchParams.get('type')).toBe('video');
  await page.getByLabel('Kind').selectOption('Sound and films');
  await page.getByText('3 files').waitFor();
  await page.getByPlaceholder('Filter by name').fill('nothing of that name');
  await page.getByRole('link', { name: 'Show all media' }).waitFor();
  await page.getByPlaceholder('Filter by name').fill('');
  await page.getByText('3 files').waitFor();
  await page.getByLabel('Order').selectOption('Largest first');
  await page.waitForURL((url) => url.searchParams.get('sort') === 'size');
  await page.locator('h1').click();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowRight', 'Home']) {
    await page.keyboard.press(key);
  }
  await soon(() => page.evaluate<string>('document.activeElement.pathname')).toBe(
    '/ui/music/b-song',
  );
  await page.keyboard.press('Enter');
  await page.waitForURL('**/ui/music/b-song');
  await soon(() => page.getByRole('navigation', { name: 'In this folder' }).innerText()).toContain(
    '2 of 3 in this folder',
  );
  await soon(() => page.locator('.facts').innerText()).toContain('Ann');
  await page.keyboard.press('n');
  await page.waitForURL('**/ui/music/c-film');
  await page.keyboard.press('p');
  await page.waitForURL('**/ui/music/b-song');
  await page.context().close();
});

test('a refusal names who one is, and nothing of what is there', async () => {
  const page = await openAs(browser, svc, 'eve');
  await page.goto('/secret/plan');
  await soon(() => page.locator('h1').innerText()).toBe('You may not open this');
  await soon(() => page.locator('main').innerText()).toContain('You are signed in as eve');
  await page.goto('/shop/nothing');
  await soon(() => page.locator('h1').innerText()).toBe('Nothing here');
  await page.locator('main').getByRole('link', { name: 'Search' }).click();
  await page.waitForURL('**/search');
  await page.goto('/ui/media');
  expect(await page.locator('main').innerText()).toContain('No accessible media resources');
  await page.context().close();
});

for (const [colorScheme, width] of [
  ['light', 1280],
  ['dark', 320],
] as const) {
  test(`nobody is shut out: ${colorScheme}, ${width} pixels wide`, async () => {
    const viewport = { width, height: 800 };
    const page = await openAs(browser, svc, 'bob', { colorScheme, viewport });
    const problems: string[] = [];
    for (const path of [
      '/search?q=cup',
      '/shop/guide',
      '/shop/guide?source=true',
      '/ui/media',
      '/ui/music/b-song',
      '/shop/nothing',
    ]) {
      await page.goto(path);
      for (const problem of await accessibilityProblems(page)) problems.push(`${path} ${problem}`);
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (wide > width) problems.push(`${path} is ${wide} wide`);
    }
    expect(problems).toEqual([]);
    await page.context().close();
  });
}

test('nothing was reported but the refusals, and no other server asked', () => {
  const expected = /^error: Failed to load resource: .*40[34]/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/**
 * Markup in every name the product knows, and every page that can be reached from the start page (S-X 5, 6): nothing runs,
 * nothing is wider than a narrow phone, the content policy has nothing to refuse.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { id3Frame, mp3 } from '../http/media-files.ts';
import { workbookFile } from '../plugins/workbook-files.ts';
import { openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const MARKUP = `"><img src=x onerror=alert(1)>'&lt;{{1234*1111}}`;
const SCRIPT = `<script>alert(1)<\\u002fscript>`;
const SHEET = '&lt;img src=x onerror=alert(1)&gt;';
const LONG = 'x'.repeat(150);
const NARROW = 320;
/** Pages of one kind differ in what they show only. */
const MAX_PAGES = 45;

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  const quoted = `"${MARKUP.replaceAll('"', '""')}"`;
  const tag = (name: string) => id3Frame(name, Buffer.from(`\x03${MARKUP}`));
  svc = await startService({
    files: {
      [`${MARKUP}/${MARKUP}.csv`]: `${quoted},"=${LONG}"\n${quoted},${LONG}\n,"${SCRIPT}"\n`,
      [`${MARKUP}/${MARKUP}.md`]: `# ${MARKUP} ${LONG}\n\n## ${SCRIPT}\n\n## b\n`,
      [`${MARKUP}/${MARKUP}.mp3`]: mp3(['TIT2', 'TPE1', 'TALB', 'TCON'].map(tag)),
      [`${MARKUP}.txt`]: MARKUP,
      [`${MARKUP} broken.csv`]: new Uint8Array([0x61, 0x0a, 0xff, 0x0a]),
      [`${LONG}.csv`]: `${LONG}\n1\n`,
      [`${MARKUP}.xlsx`]: workbookFile({
        sheets: {
          [SHEET]: `<row r="1"><c r="A1" t="inlineStr"><is><t>${SHEET}</t></is></c></row><row r="2"><c r="A2" t="inlineStr"><is><t>${SHEET}</t></is></c></row>`,
        },
      }),
    },
    config: { upload: { enabled: true } },
  });
  await svc.accounts.user(MARKUP, { superuser: true });
  await svc.accounts.grant(MARKUP, MARKUP, 'read', 'write');
  await svc.accounts.group(MARKUP, [MARKUP]);
  const client = await svc.inBrowserAs(MARKUP);
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await client.fetch(path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    expect([path, answer.ok]).toEqual([path, true]);
  };
  await post('/api/apikeys', { description: MARKUP });
  const event = { data: `${MARKUP} ${LONG}`, source: MARKUP, host: MARKUP, sourcetype: MARKUP };
  await post('/api/events/', { ...event, extracted_fields: { [MARKUP]: MARKUP } });
  await post('/api/savedsearches/', { name: MARKUP, query: 'search error' });
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

/** What is wrong with the page as it stands. */
async function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const faults = [];
    const wide = document.documentElement.scrollWidth;
    if (wide > ${NARROW}) faults.push('is ' + wide + ' pixels wide');
    // In the text of a document a picture may stand, if nothing hangs on it.
    const made = [...document.querySelectorAll('img[src="x"]')].filter((one) => one.closest('article') === null);
    if (made.length > 0 || document.querySelector('[onerror]') !== null) faults.push('holds an element of a name');
    if (document.body.innerText.includes("1370974")) faults.push('evaluates what stands in braces');
    return faults;
  })()`);
}

/** Addresses of other pages; two that differ in the values of their parameters only are one. */
async function linksOn(page: Page): Promise<string[]> {
  const hrefs = await page.evaluate<string[]>(
    '[...document.querySelectorAll("a[href]:not([download])")].map((link) => link.href)',
  );
  return hrefs.filter((href) => {
    const { origin, pathname, search } = new URL(href);
    const isOther = /^\/(?:api|schema|media|_svc|openapi\.json)(?:\/|$)/.test(pathname);
    return origin === svc.url && !isOther && !/[?&](?:download|raw|format)=/.test(search);
  });
}

function kindOf(href: string): string {
  const { pathname, searchParams } = new URL(href);
  return `${pathname}?${[...searchParams.keys()].toSorted().join('&')}`;
}

test('no page runs, breaks or hides anything because of a name', async () => {
  const page = await openAs(browser, svc, MARKUP, { viewport: { width: NARROW, height: 700 } });
  const q = encodeURIComponent(MARKUP);
  const pending = [
    '/',
    `/?filter=${q}&folder=${q}`,
    `/search?q=${q}`,
    '/search?q=img',
    `/ui/media?filter=${q}`,
    `/nothing/${q}`,
    '/auth/login',
    '/profile',
  ].map((path) => svc.url + path);
  const seen = new Set(pending.map(kindOf));
  const faults: string[] = [];
  let visited = 0;
  for (
    let href = pending.shift();
    href !== undefined && visited < MAX_PAGES;
    href = pending.shift()
  ) {
    const answer = await page.goto(href);
    // Rows, bars and fields come after the page.
    if (/^\/(?:ui|events)(?:\/|$)/.test(new URL(href).pathname)) {
      await page.waitForLoadState('networkidle');
    }
    visited++;
    if (answer?.headers()['content-type']?.startsWith('text/html') !== true) continue;
    // Sandboxed documents of the folder are pages of their own.
    for (const fault of await faultsOf(page)) faults.push(`${href} ${fault}`);
    for (const link of await linksOn(page)) {
      if (seen.has(kindOf(link))) continue;
      seen.add(kindOf(link));
      pending.push(link);
    }
  }
  expect(faults).toEqual([]);
  expect(visited).toBeGreaterThan(12);
  await page.context().close();
});

test('the palette, the list of keys and a live filter show names as text', async () => {
  const page = await openAs(browser, svc, MARKUP, { viewport: { width: NARROW, height: 700 } });
  await page.goto('/');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('onerror');
  await page.getByRole('option', { name: MARKUP }).first().waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByPlaceholder('Filter by name').fill(MARKUP);
  await page.getByText(`match “${MARKUP}”`).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.context().close();
});

test('a refused upload and a refused sign-in repeat what was typed as text', async () => {
  const page = await openAs(browser, svc, MARKUP, { viewport: { width: NARROW, height: 700 } });
  await page.goto('/');
  const form = page.locator('form[action="/api/uploads"]');
  const file = { name: `${MARKUP}.exe.py`, mimeType: 'text/csv', buffer: Buffer.from('n\n') };
  await form.getByLabel('File').setInputFiles(file);
  await form.getByRole('button', { name: 'Upload' }).click();
  await form.getByText('Not stored:').waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.context().clearCookies();
  await page.goto(`/auth/login?next=${encodeURIComponent(`/${MARKUP}`)}`);
  await page.getByLabel('User name').fill(MARKUP);
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('alert').waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await soon(() => page.getByLabel('User name').inputValue()).toBe(MARKUP);
  await page.context().close();
});

test('nothing was reported but refusals, and no other server asked', () => {
  const expected = /^error: Failed to load resource: .*4(?:0[0134]|22)/;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

/** Dashboards: shown, refreshed without flicker, narrowed, edited by keys and by pointer, on a phone (DS-285, DS-286). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventually } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const OPS = `# Ours
title: Operations
time: { earliest: '' }
variables:
  - name: host
    label: Host
    type: choice
    query: '* | stats count by host | sort host'
    all: All hosts
rows:
  - panels:
      # how many
      - title: Total
        query: '* | where {host}="" or host={host} | stats count'
        form: single
        width: 3
      - title: By host
        query: '* | stats count by host'
        form: bar
        options: { drilldown: true }
      - text: 'See [the **list**](shop/products.csv)'
      - title: Broken
        query: 'from nowhere'
  - title: Files
    panels:
      - title: Dear
        dataset: shop/products
        filter: { price: { $gte: 2 } }
        sort: -price
        options: { drilldown: true }
`;

let svc: Service;
let browser: TestBrowser;
let page: Page;
const file = () => join(svc.docroot, 'ops.dashboard.yaml');

beforeAll(async () => {
  svc = await startService({
    files: {
      'ops.dashboard.yaml': OPS,
      'shop/products.csv': 'sku,price\nink,1\npen,2\npad,3\n',
    },
    config: { events: { min_free_bytes: 1 }, upload: { enabled: true } },
  });
  await svc.createSuperuser('ada');
  await svc.accounts.grant('reader', 'ops', 'read');
  await send([...['h1', 'h1', 'h2'].map((host) => ({ host, data: 'x' }))]);
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { viewport: { width: 1280, height: 900 } });
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

async function send(
  events: readonly { readonly host: string; readonly data: string }[],
): Promise<void> {
  const ada = await svc.as('ada');
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(events.map((one) => ({ index: 'web', ...one })));
  expect((await ada.fetch('/api/events/', { method: 'POST', headers, body })).status).toBe(201);
}

async function show(address = '/ui/ops/', on = page): Promise<void> {
  await on.goto(address);
  await on.locator('#dashboard[data-ready]').waitFor();
}
const panel = (title: string, on = page) => on.getByRole('article', { name: title, exact: true });
const textOf = async (title: string, on = page) =>
  (await panel(title, on).locator('.dash-body').innerText()).trim();

describe('shown', () => {
  test('each panel has its rows, its age, or what is wrong with it, and no other panel minds', async () => {
    await show();
    expect(await textOf('Total')).toContain('3');
    expect(await panel('Dear').locator('tbody tr').allInnerTexts()).toEqual(['pad\t3', 'pen\t2']);
    expect(await panel('Broken').getByRole('alert').innerText()).toContain(
      "Unknown dataset 'nowhere'",
    );
    expect(await panel('Total').locator('.age').innerText()).toMatch(/now|s ago/);
    expect(await panel('Text').getByRole('link').getAttribute('href')).toBe(
      '/ui/shop/products.csv',
    );
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  test('what was drawn stays until there is something new, and a refresh by hand shows it', async () => {
    await show();
    await page.evaluate(`
      const body = document.querySelector('.dash-panel .dash-body');
      globalThis.seen = [];
      new MutationObserver(() => globalThis.seen.push(body.textContent)).observe(body, {
        childList: true,
        subtree: true,
      });
    `);
    await send([{ host: 'h2', data: 'y' }]);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await eventually(async () => expect(await textOf('Total')).toContain('4'));
    const seen = await page.evaluate<string[]>('globalThis.seen');
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((text) => text.trim() === '')).toEqual([]);
  });

  test('it refreshes by itself as often as is chosen, but not while nobody looks', async () => {
    const own = await openAs(browser, svc, 'ada');
    await own.clock.install();
    let runs = 0;
    own.on('request', (request) => {
      if (request.url().endsWith('/search2/api/run/')) runs++;
    });
    await show('/ui/ops/', own);
    await own.getByLabel('Refresh').selectOption('10s');
    expect(new URL(own.url()).searchParams.get('refresh')).toBe('10s');
    await own.clock.runFor(9_000);
    const before = runs;
    await own.clock.runFor(2_000);
    await eventually(() => expect(runs).toBeGreaterThan(before));
    await own.evaluate(
      `Object.defineProperty(document, 'hidden', { value: true, writable: true })`,
    );
    await own.locator('#dashboard[data-ready]').waitFor();
    const hidden = runs;
    await own.clock.runFor(60_000);
    expect(runs).toBe(hidden);
    await own.evaluate(
      `document.hidden = false; document.dispatchEvent(new Event('visibilitychange'))`,
    );
    await eventually(() => expect(runs).toBeGreaterThan(hidden));
    await own.close();
  });

  test('a variable narrows, stands in the address, and Back leads to what was', async () => {
    await show();
    await page.getByLabel('Host', { exact: true }).selectOption('h1');
    await eventually(async () => expect(await textOf('Total')).toContain('2'));
    expect(new URL(page.url()).searchParams.get('host')).toBe('h1');
    await show(page.url());
    expect(await page.getByLabel('Host', { exact: true }).inputValue()).toBe('h1');
    expect(await textOf('Total')).toContain('2');
  });

  test('it fills the screen', async () => {
    await show();
    await page.keyboard.press('w');
    await eventually(async () =>
      expect(await page.evaluate<string>('document.fullscreenElement?.id')).toBe('dashboard'),
    );
    await page.getByRole('button', { name: 'Full screen' }).click();
    await eventually(async () =>
      expect(await page.evaluate<unknown>('document.fullscreenElement')).toBeNull(),
    );
  });

  test('a value is never syntax', async () => {
    await show(`/ui/ops/?${new URLSearchParams({ host: 'h1" or host="h2' })}`);
    expect(await textOf('Total')).toContain('0');
  });

  test('a clicked value leads to its rows', async () => {
    await show();
    await panel('Dear').getByRole('button', { name: 'pen' }).click();
    await page.waitForURL(/\/ui\/shop\/products\/\?filter=/);
    expect(new URL(page.url()).searchParams.get('filter')).toBe('{"price":{"$gte":2},"sku":"pen"}');
    await show();
    await panel('By host').getByRole('application').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/events\?/);
    expect(new URL(page.url()).searchParams.get('q')).toMatch(/^\* host=h[12]$/);
  });

  test('a panel that the reader may not see says so, and nothing more', async () => {
    const other = await openAs(browser, svc, 'reader');
    await show('/ui/ops/', other);
    for (const title of ['Total', 'By host', 'Dear']) {
      expect(await panel(title, other).getByRole('alert').innerText()).toBe(
        'You may not see what this panel shows, or it is not there.',
      );
    }
    expect(await other.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await other.close();
  });

  test('rows of a panel are downloaded as they are asked for', async () => {
    await show();
    await panel('By host')
      .getByRole('button', { name: /^More about/ })
      .click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV', exact: true }).click(),
    ]);
    const rows = readFileSync((await download.path())!, 'utf8')
      .trim()
      .split(/\r?\n/)
      .sort();
    expect(rows).toEqual(['h1,2', expect.stringMatching(/^h2,\d$/), 'host,count']);
  });
});

describe('edited', () => {
  test('by keys: moved, made wider, and saved with its comments', async () => {
    await show();
    await page.keyboard.press('e');
    await panel('Total')
      .getByRole('button', { name: /^Move Total/ })
      .focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#dashboard-note').innerText()).toBe('Total: row 2, place 2');
    await panel('Total')
      .getByRole('button', { name: /^Size of Total/ })
      .focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.locator('#dashboard[data-ready]:not(.editing)').waitFor();
    const text = readFileSync(file(), 'utf8');
    const moved = OPS.slice(OPS.indexOf('      # how'), OPS.indexOf('      - title: By host'));
    expect(text).toBe(
      OPS.replace(moved, '') + moved.replace('width: 3', 'width: 5\n        height: 5'),
    );
  });

  test('by pointer: dragged beside another', async () => {
    writeFileSync(file(), OPS);
    await eventually(async () => {
      await show();
      expect(await page.locator('.dash-row').first().locator('.dash-panel').count()).toBe(4);
    });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const from = (await panel('By host').getByRole('button', { name: /^Move/ }).boundingBox())!;
    const to = (await panel('Total').boundingBox())!;
    await page.mouse.move(from.x + 5, from.y + 5);
    await page.mouse.down();
    await page.mouse.move(to.x + 20, to.y + 40, { steps: 4 });
    await page.mouse.up();
    const order = await page.locator('.dash-row').first().locator('h3').allInnerTexts();
    expect(order).toEqual(['By host', 'Total', '', 'Broken']);
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  test('a panel is added with a live preview, and a mistake is told before it is saved', async () => {
    await show();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Add a panel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('New');
    await dialog.getByLabel('Query, name or text').fill('* | stats count by hots | bogus');
    await dialog.locator('.panel-preview .problem').getByText('bogus').waitFor();
    await dialog.getByLabel('Query, name or text').fill('* | stats count by host | sort host');
    await dialog.getByLabel('Form', { exact: true }).selectOption('table');
    await dialog.locator('.panel-preview tbody').getByText('h2').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await panel('New').locator('tbody').getByText('h1').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('#dashboard[data-ready]:not(.editing)').waitFor();
    expect(readFileSync(file(), 'utf8')).toBe(
      `${OPS}      - title: New\n        query: '* | stats count by host | sort host'\n        form: table\n`,
    );
  });

  test('what somebody else changed meanwhile is not lost', async () => {
    writeFileSync(file(), OPS);
    await eventually(async () => {
      await show();
      expect(await page.locator('.dash-panel').count()).toBe(5);
    });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Title of the dashboard').fill('Mine');
    await page.keyboard.press('Tab');
    const theirs = OPS.replace('Operations', 'Theirs');
    writeFileSync(file(), theirs);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody else has changed this dashboard').waitFor();
    expect(readFileSync(file(), 'utf8')).toBe(theirs);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('#dashboard[data-ready]:not(.editing)').waitFor();
  });
});

describe('added to from the explorer', () => {
  const add = async (query: string): Promise<void> => {
    await page.goto(`/events?${new URLSearchParams({ q: query, earliest: '' })}`);
    await page.getByRole('button', { name: 'Add to dashboard' }).click();
  };
  const QUERY = '* | stats count by host | where host!="x: y"';

  test('at the end of one that is there', async () => {
    writeFileSync(file(), OPS);
    await eventually(async () => {
      await show();
      expect(await page.locator('.dash-panel').count()).toBe(5);
    });
    await add(QUERY);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Dashboard', { exact: true }).selectOption('ops');
    await dialog.getByLabel('Title of the panel').fill('Added');
    await dialog.getByLabel('Form').selectOption('pie');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByRole('link', { name: 'ops' }).click();
    await page.locator('#dashboard[data-ready]').waitFor();
    expect(await panel('Added').count()).toBe(1);
    const added = `      - title: Added\n        query: '${QUERY}'\n        form: pie\n`;
    expect(readFileSync(file(), 'utf8')).toBe(OPS + added);
  });

  test('as a new one', async () => {
    await add(QUERY);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Dashboard', { exact: true }).selectOption('');
    await dialog.getByLabel('Its name in the folder').fill('fresh');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByRole('link', { name: 'fresh' }).click();
    await page.locator('#dashboard[data-ready]').waitFor();
    expect(await panel('Panel').locator('tbody tr').count()).toBe(2);
    expect(readFileSync(join(svc.docroot, 'fresh.dashboard.yaml'), 'utf8')).toContain(
      `query: ${JSON.stringify(QUERY)}`,
    );
  });
});

test('a phone has one column, and nothing is wider than it', async () => {
  const phone = await openAs(browser, svc, 'ada', { viewport: { width: 390, height: 844 } });
  await show('/ui/ops/', phone);
  const wide = await phone.evaluate<number>('document.documentElement.scrollWidth');
  expect(wide).toBeLessThanOrEqual(390);
  const widths = await phone
    .locator('.dash-panel')
    .evaluateAll(
      (all) => new Set(all.map((one) => Math.round(one.getBoundingClientRect().width))).size,
    );
  expect(widths).toBe(1);
  expect(await accessibilityProblems(phone)).toEqual([]);
  await phone.close();
});

test('without script there are the texts, and links to what the panels show', async () => {
  writeFileSync(file(), OPS);
  const plain = await openAs(browser, svc, 'ada', { javaScriptEnabled: false });
  await eventually(async () => {
    await plain.goto('/ui/ops/');
    expect(await plain.getByRole('link', { name: 'Show its rows' }).count()).toBe(4);
  });
  expect(await plain.locator('#panels .text').innerText()).toBe('See the list');
  await plain.close();
});

test('nothing was complained about', () => {
  const expected = /status of (?:400|403|412)|dialog: /;
  expect(browser.reports.filter((report) => !expected.test(report))).toEqual([]);
});

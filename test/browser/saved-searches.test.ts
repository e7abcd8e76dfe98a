/**
 * Saved searches: sharing by name with people nobody may list, what each of them sees, filters that stand in the address, forms
 * that come back as they were filled in, and the way back after deleting; with script and without, on a phone, by keys.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const ODD = 'Zoë, the <b>2nd</b>';
let svc: Service;
let browser: TestBrowser;
let bea: Page;

async function save(owner: string, search: Readonly<Record<string, unknown>>): Promise<void> {
  const response = await (
    await svc.as(owner)
  ).fetch('/api/savedsearches/', { method: 'POST', body: JSON.stringify(search) });
  expect(response.status).toBe(201);
}

beforeAll(async () => {
  svc = await startService({ files: { 'a.csv': 'n\n1\n' } });
  await svc.accounts.user('ada', { superuser: true });
  for (const name of ['carl', ODD, 'dora']) await svc.accounts.user(name);
  await save('bea', { name: 'Slow pages', query: 'level=* | stats avg(ms) by path' });
  await save('carl', { name: 'Of everybody', query: 'error', is_public: true });
  const { id } = await svc.accounts.user('bea');
  await save('carl', { name: 'For bea', query: 'host=web-1', shared_with: [id] });
  await save('carl', { name: 'Secret of carl', query: 'secret' });
  browser = await TestBrowser.start();
  bea = await openAs(browser, svc, 'bea');
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const card = (name: string, page: Page = bea) =>
  page.locator('li.card').filter({ has: page.getByRole('link', { name, exact: true }) });
const names = (page: Page = bea) => page.locator('li.card h2 a').allInnerTexts();

async function share(readers: string, page: Page = bea): Promise<void> {
  await page.waitForLoadState();
  const open = card('Slow pages', page).locator('details[open]');
  if ((await open.count()) === 0) await page.getByLabel('Share Slow pages').click();
  await open.getByLabel('Shared with').fill(readers);
  await open.getByRole('button', { name: 'Share it so' }).click();
}

test('a search is shared by exact names, which its owner sees again', async () => {
  await bea.goto('/savedsearches');
  expect(await bea.locator('datalist').count()).toBe(0);
  await share(`carl\n${ODD}`);
  await bea.getByText('Those who may see it are noted.').waitFor();
  await soon(() => card('Slow pages').locator('p.fine').innerText()).toStartWith(
    `Yours, shared with ${ODD}, carl · changed`,
  );
  expect(await accessibilityProblems(bea)).toEqual([]);
});

test('a name that nobody has is told, nothing changes, and the form stays filled in', async () => {
  await share('carl\nDora\nnobody');
  await soon(() => bea.getByRole('alert').innerText()).toStartWith(
    'There is no user “Dora”, “nobody”; nothing was changed.',
  );
  const open = card('Slow pages').locator('details[open]');
  await soon(() => open.getByLabel('Shared with').inputValue()).toBe('carl\nDora\nnobody');
  await soon(() => card('Slow pages').locator('p.fine').innerText()).toContain(`${ODD}, carl`);
  const { id } = await svc.accounts.user('dora');
  await share(`carl\n${id}`);
  // Ids can be counted up; a name is told to those who knew it.
  await bea.getByText(`Yours, shared with #${id}, carl`).waitFor();
  await share(`carl\n#${id}\ndora`);
  await bea.getByText('Yours, shared with carl, dora').waitFor();
});

test('EV-88, EV-89: those it is shared with open and copy it, and learn of nobody else', async () => {
  const carl = await openAs(browser, svc, 'carl', { javaScriptEnabled: false });
  await carl.goto('/savedsearches');
  await soon(() => names(carl)).toEqual([
    'For bea',
    'Of everybody',
    'Secret of carl',
    'Slow pages',
  ]);
  const shared = card('Slow pages', carl);
  await soon(() => shared.locator('p.fine').innerText()).toStartWith('Shared with you · changed');
  expect(await shared.locator('details').count()).toBe(0);
  expect(await carl.content()).not.toContain('dora');
  await shared.getByRole('button', { name: 'Copy: Slow pages' }).click();
  await carl.getByText('The copy is yours to change.').waitFor();
  const copy = card('Slow pages (copy)', carl);
  await soon(() => copy.locator('p.fine').innerText()).toStartWith('Yours, seen only by you');
  await copy.getByRole('link', { name: 'Open Slow pages (copy)' }).click();
  await soon(() => carl.getByLabel('Query').inputValue()).toBe('level=* | stats avg(ms) by path');
  await carl.context().close();
});

test('own, shared and public ones are told apart, and the choice stands in the address', async () => {
  await bea.goto('/savedsearches');
  await soon(() => names()).toEqual(['For bea', 'Of everybody', 'Slow pages']);
  for (const [kind, expected] of [
    ['Yours', ['Slow pages']],
    ['Shared with you', ['For bea']],
    ['For everybody', ['Of everybody']],
  ] as const) {
    await bea.getByLabel('Which').selectOption(kind);
    await bea.getByText('1 search', { exact: true }).waitFor();
    await card(expected[0]).waitFor();
    await bea.reload();
    await soon(() => names()).toEqual([...expected]);
  }
  await bea.keyboard.press('f');
  await bea.keyboard.type('nothing like it');
  await bea.getByText('No saved search matches.').waitFor();
  await soon(() => new URL(bea.url()).search).toBe('?search=nothing+like+it&kind=public');
});

test('what is deleted comes back with one click, shared as it was', async () => {
  await bea.goto('/savedsearches?kind=own');
  await bea.getByLabel('Delete Slow pages').click();
  await bea.getByRole('button', { name: 'Delete it: Slow pages' }).click();
  await bea.getByText('The search “Slow pages” is deleted.').waitFor();
  await bea.waitForLoadState();
  expect(await names()).toEqual([]);
  await bea.getByRole('button', { name: 'Undo' }).click();
  await bea.getByText('The search is back.').waitFor();
  await soon(() => new URL(bea.url()).searchParams.get('kind')).toBe('own');
  await bea.getByText('Yours, shared with carl, dora').waitFor();
});

test('a search is made and changed on the page, on a phone, without script', async () => {
  const page = await openAs(browser, svc, 'bea', {
    javaScriptEnabled: false,
    viewport: { width: 320, height: 640 },
  });
  await page.goto('/savedsearches');
  await page.getByText('New search', { exact: true }).click();
  const fold = page.locator('details[open]');
  await fold.getByLabel('Name').fill('Fresh');
  await fold.getByLabel('Query').fill('   ');
  await fold.getByRole('button', { name: 'Save it' }).click();
  await soon(() => page.getByRole('alert').innerText()).toContain('query');
  await soon(() => fold.getByLabel('Name').inputValue()).toBe('Fresh');
  await fold.getByLabel('Query').fill('level=error');
  await fold.getByRole('button', { name: 'Save it' }).click();
  await page.getByText('The search is saved.').waitFor();
  await page.getByLabel('Change Fresh').click();
  await page.locator('details[open]').getByLabel('Query').fill('level=warning');
  await page.getByRole('button', { name: 'Save the change' }).click();
  await soon(() => card('Fresh', page).locator('pre').innerText()).toBe('level=warning');
  await page.context().close();
});

test('a superuser sees all, the names too, and changes none but the own', async () => {
  const ada = await openAs(browser, svc, 'ada');
  await ada.goto('/savedsearches');
  await soon(() => names(ada)).toContain('Secret of carl');
  await soon(() => card('Secret of carl', ada).locator('p.fine').innerText()).toStartWith(
    'Of somebody else; you see it as a superuser',
  );
  expect(await ada.locator('li.card details').count()).toBe(0);
  const width = await ada.evaluate<number>('document.documentElement.scrollWidth');
  expect(width).toBe(await ada.evaluate<number>('innerWidth'));
  await ada.context().close();
});

test('no page complained but of the refusals, or asked anybody else', () => {
  expect(browser.reports.filter((report) => !/status of 4(?:00|22)/.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

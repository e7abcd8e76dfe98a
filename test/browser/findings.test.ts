/** Findings in the browser: filtered, changed one by one and many at once, by keys alone, without script, on a phone. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { fire } from '../support/firing.ts';
import { type Service, startService } from '../support/service.ts';

const ODD = '<b>&"x"';
let svc: Service;
let browser: TestBrowser;
let ann: Page;

beforeAll(async () => {
  svc = await startService();
  await svc.accounts.grant('ann', '@events/auth', 'read');
  await svc.accounts.user('bob');
  const { db } = svc.accounts;
  await fire(db, { key: '198.51.100.1', severity: 'low' });
  await fire(db, { key: '198.51.100.2', severity: 'critical' });
  await fire(db, { key: ODD, columns: ['a', ODD], rows: [{ a: null, [ODD]: { n: 1 } }] });
  await fire(db, { key: 'secret', indexes: ['other'] });
  browser = await TestBrowser.start();
  ann = await openAs(browser, svc, 'ann');
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const keys = (page: Page = ann) => page.locator('#list td .fine').allInnerTexts();

test('the list is filtered while one types, and leads to one finding and its events', async () => {
  await ann.goto('/ui/findings');
  await soon(async () => (await keys()).sort()).toEqual(['198.51.100.1', '198.51.100.2', ODD]);
  await ann.getByPlaceholder('Words in alert, key or notes').fill('100.2');
  await soon(() => keys()).toEqual(['198.51.100.2']);
  await ann.goto('/ui/findings?severity=high%2Ccritical&sort=-severity_rank');
  await soon(() => keys()).toEqual(['198.51.100.2', ODD]);
  await ann.getByRole('link', { name: 'Failed logins' }).first().click();
  await ann.getByRole('heading', { name: 'Failed logins: 198.51.100.2', level: 1 }).waitFor();
  expect(await ann.getByRole('link', { name: 'Show the events' }).getAttribute('href')).toContain(
    '/events?q=index%3Dauth',
  );
  expect((await ann.goto('/ui/findings/4'))!.status()).toBe(404);
});

test('one is worked on, and what somebody else did meanwhile is not overwritten', async () => {
  await ann.goto('/ui/findings/3');
  await ann.getByRole('cell', { name: '{"n":1}' }).waitFor();
  await ann.getByLabel('Status').selectOption('in progress');
  await ann.getByLabel('Owner').fill('bob');
  await ann.getByLabel('Notes').fill(`looks like ${ODD}`);
  const api = await svc.as('ann');
  await api.fetch('/api/findings/3', { method: 'PATCH', body: '{"severity":"low"}' });
  await ann.getByRole('button', { name: 'Save' }).click();
  await ann.getByText('Somebody changed the finding meanwhile').waitFor();
  // What was typed is still there; sent again it is a change of what is there now.
  expect(await ann.getByLabel('Notes').inputValue()).toBe(`looks like ${ODD}`);
  await ann.getByRole('button', { name: 'Save' }).click();
  await ann.getByText('The change is saved.').waitFor();
  await ann.getByRole('cell', { name: 'changed: status: new → in progress' }).waitFor();
});

test('many are changed at once by keys alone', async () => {
  await ann.goto('/ui/findings?sort=id');
  await soon(() => keys()).toEqual(['198.51.100.1', '198.51.100.2', ODD]);
  for (const key of ['j', 'x', 'j', 'x']) await ann.keyboard.press(key);
  await ann.getByText('2 selected').waitFor();
  await ann.keyboard.press('k');
  expect(await ann.evaluate<string>("document.activeElement?.getAttribute('aria-label')")).toBe(
    'Select Failed logins 198.51.100.1',
  );
  await ann.getByLabel('New status').focus();
  await ann.keyboard.type('res');
  await ann.getByRole('button', { name: 'Change the selected' }).focus();
  await ann.keyboard.press('Enter');
  await ann.getByText('2 findings are changed.').waitFor();
  await soon(() => keys()).toEqual([ODD]);
  await ann.getByRole('button', { name: 'Change the selected' }).click();
  await ann.getByText('Select the findings to be changed').waitFor();
});

test('the form for many works without script', async () => {
  const plain = await openAs(browser, svc, 'ann', { javaScriptEnabled: false });
  await plain.goto('/ui/findings?status=');
  await plain.getByLabel(`Select Failed logins ${ODD}`).check();
  await plain.getByLabel('New owner').fill('-');
  await plain.getByRole('button', { name: 'Change the selected' }).click();
  await plain.getByText('One finding is changed.').waitFor();
});

test.each(['light', 'dark'] as const)(
  'nobody is shut out, on a phone neither: %s',
  async (colorScheme) => {
    const viewport = { width: 390, height: 800 };
    const phone = await openAs(browser, svc, 'ann', { viewport, colorScheme });
    for (const path of ['/ui/findings?status=', '/ui/findings/3']) {
      await phone.goto(path);
      expect(await accessibilityProblems(phone)).toEqual([]);
      const width = await phone.evaluate<number>('document.documentElement.scrollWidth');
      expect([path, width]).toEqual([path, 390]);
    }
  },
);

test('no page complained but of the refusals, or asked anybody else', () => {
  expect(browser.reports.filter((report) => !/status of 4(?:00|04|12)/.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

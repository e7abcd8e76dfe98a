/** Alerts in the browser (DS-290): made from the explorer, previewed, saved, run; without script, by keys, on a phone. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

let svc: Service;
let browser: TestBrowser;
let ann: Page;

beforeAll(async () => {
  svc = await startService({
    files: {
      'disk.csv': 'host,used\na,95\nb,40\n',
      'ops.alert.yaml': 'title: Of a file\nquery: from disk\nschedule: every 1h\n',
    },
  });
  await svc.accounts.grant('ann', '*', 'read', 'write');
  browser = await TestBrowser.start();
  ann = await openAs(browser, svc, 'ann');
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

test('one is made from a query, previewed, saved, run and changed', async () => {
  await ann.goto('/events?q=from+disk&earliest=');
  await ann.getByRole('link', { name: 'Alert on this' }).click();
  expect(await ann.getByLabel('Query').inputValue()).toBe('from disk');
  await ann.getByLabel('Title').fill('Disk <b>');
  await ann.getByLabel('Schedule').fill('61 * * * *');
  await ann.getByLabel('Window').fill('');
  await ann.getByLabel('Condition').selectOption('value');
  await ann.getByLabel('Column', { exact: true }).fill('used');
  await ann.getByLabel('Value').fill('90');
  await ann.getByLabel('A finding for each').fill('host');
  await ann.getByRole('button', { name: 'Preview the last week' }).click();
  await ann.getByText('minutes are 0-59').waitFor();
  // What was typed is still there.
  expect(await ann.getByLabel('Title').inputValue()).toBe('Disk <b>');
  await ann.getByLabel('Schedule').fill('every 1h');
  await ann.getByRole('button', { name: 'Preview the last week' }).click();
  await ann.getByRole('heading', { name: 'It would have fired once' }).waitFor();
  await ann.getByLabel('Title').focus();
  await ann.keyboard.press('Enter');
  await ann.getByText('The alert is saved.').waitFor();
  await ann.getByRole('button', { name: 'Run now' }).click();
  await ann.getByText('It was run; see below.').waitFor();
  await ann.getByRole('cell', { name: 'manual' }).waitFor();
  await ann.getByRole('button', { name: 'Turn off' }).click();
  await ann.getByText('The alert is off.').waitFor();
  await ann.getByRole('link', { name: 'What it found' }).click();
  await ann.getByRole('link', { name: 'Disk <b>' }).waitFor();
});

test('one of a file is approved there, and has no form', async () => {
  await ann.goto('/ui/alerts');
  await ann.getByRole('link', { name: 'Of a file' }).click();
  await ann.getByRole('button', { name: 'Approve: run it with my rights' }).click();
  await ann.getByText('It runs with your rights').waitFor();
  await ann.getByText('It is changed in ops.alert.yaml, and nowhere else.').waitFor();
  expect(await ann.getByRole('button', { name: 'Save' }).count()).toBe(0);
});

test('it works without script', async () => {
  const plain = await openAs(browser, svc, 'ann', { javaScriptEnabled: false });
  await plain.goto('/ui/alerts/new?savedsearch=mine&title=Mine');
  await plain.getByRole('button', { name: 'Save' }).click();
  await plain.getByText("There is no saved search 'mine'").waitFor();
  expect(await plain.getByLabel('Title').inputValue()).toBe('Mine');
});

test.each(['light', 'dark'] as const)(
  'nobody is shut out, on a phone neither: %s',
  async (colorScheme) => {
    const viewport = { width: 390, height: 800 };
    const phone = await openAs(browser, svc, 'ann', { viewport, colorScheme });
    for (const path of ['/ui/alerts', '/ui/alerts/new', '/ui/alerts/1', '/ui/alerts/2']) {
      await phone.goto(path);
      expect(await accessibilityProblems(phone)).toEqual([]);
      const width = await phone.evaluate<number>('document.documentElement.scrollWidth');
      expect([path, width]).toEqual([path, 390]);
    }
  },
);

test('no page complained but of the refusals, or asked anybody else', () => {
  expect(browser.reports.filter((report) => !/status of 4(?:00|04|22)/.test(report))).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

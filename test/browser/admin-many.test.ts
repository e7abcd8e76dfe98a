/**
 * Administration of many: thousands of users, hundreds of groups and indexes, ten thousand audit entries. Every list comes a page
 * at a time, is filtered by a box of its own, and leads to the audit; moments are those of the reader.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, openAs, TestBrowser } from '../support/browser.ts';
import { type Service, startService } from '../support/service.ts';

const USERS = 5_000;
const GROUPS = 500;
const ENTRIES = 10_000;
const INDEXES = 300;
/** Of a page with a list, in bytes: about 50 rows and the frame. */
const MAX_PAGE_BYTES = 128 * 1024;

let svc: Service;
let browser: TestBrowser;
let page: Page;
let everybody: number;
let carl: number;

const SERIES = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';

async function fillState(): Promise<void> {
  const { accounts } = svc;
  const { db } = accounts;
  const at = '2026-03-01T12:00:00.000Z';
  ({ id: carl } = await accounts.user('carl'));
  await db.run(
    `${SERIES} INSERT INTO users (username, password_hash, is_superuser, created_at)
     SELECT printf('user-%05d', i), NULL, 0, ? FROM n`,
    [USERS, at],
  );
  everybody = await accounts.group('everybody');
  await accounts.grantGroup('everybody', 'reports/*', 'read');
  await db.run(
    `${SERIES} INSERT INTO groups (name, description) SELECT printf('team-%03d', i), 'many' FROM n`,
    [GROUPS],
  );
  await db.run('INSERT INTO group_members (group_id, user_id) SELECT ?, id FROM users', [
    everybody,
  ]);
  await db.run(
    `INSERT INTO group_members (group_id, user_id) SELECT id, ? FROM groups WHERE name LIKE 'team-%'`,
    [carl],
  );
  await db.run(
    `${SERIES} INSERT INTO audit (timestamp, user_id, action, resource, details)
     SELECT strftime('%Y-%m-%dT%H:%M:%f000Z', '2026-01-01', '+' || i || ' minutes'), ?,
       'update_dataset_row', printf('reports/f-%02d.csv', i % 40), 'Updated dataset row ' || i FROM n`,
    [ENTRIES, carl],
  );
}

beforeAll(async () => {
  svc = await startService({ files: { 'reports/sales.csv': 'a\n1\n' } });
  await svc.accounts.user('ada', { superuser: true });
  await fillState();
  const events = Array.from({ length: INDEXES }, (_, index) => ({
    index: `idx-${String(index).padStart(3, '0')}`,
    sourcetype: 'text',
    data: 'x'.repeat(index + 1),
  }));
  const sent = await (
    await svc.as('ada')
  ).fetch('/api/events/', { method: 'POST', body: JSON.stringify(events) });
  expect(sent.status).toBe(201);
  browser = await TestBrowser.start();
  page = await openAs(browser, svc, 'ada', { timezoneId: 'Asia/Kolkata' });
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

const rows = (list = 'list') => page.locator(`#${list} tbody tr`);
const counted = (list = 'list') => page.locator(`#${list} .counted`);

test('no page is large, however many there are', async () => {
  const ada = await svc.inBrowserAs('ada');
  const lists = ['users', 'groups', 'share', 'permissions', 'tokens', 'audit', 'events'];
  for (const path of [
    ...lists,
    'explain?resource=reports/sales&right=read',
    `groups/${everybody}`,
    `users/${carl}`,
  ]) {
    const answer = await ada.fetch(`/admin/ui/${path}`, { headers: { Accept: 'text/html' } });
    expect([path, answer.status]).toEqual([path, 200]);
    const { length } = await answer.bytes();
    expect([path, length < MAX_PAGE_BYTES]).toEqual([path, true]);
  }
});

test('members of a group: paged, filtered as one types, each with the way to the audit', async () => {
  await page.goto(`/admin/ui/groups/${everybody}`);
  await soon(() => rows('list-members').count()).toBe(50);
  await counted('list-members')
    .getByText(/^From 1 on, of 5,002 members$/)
    .waitFor();
  await page.locator('#list-members').getByRole('link', { name: 'Next' }).click();
  await page.waitForURL(/offset=50/);
  await counted('list-members')
    .getByText(/^From 51 on/)
    .waitFor();
  await page.getByLabel('Name contains').fill('USER-0123');
  await page.getByText('10 members').waitFor();
  await soon(() => new URL(page.url()).search).toBe('?member=USER-0123');
  expect(await accessibilityProblems(page)).toEqual([]);
  const audit = rows('list-members')
    .first()
    .getByRole('link', { name: /^Audit of/ });
  await soon(() => audit.getAttribute('href')).toContain('user-01230');
  await page.reload();
  await soon(() => rows('list-members').count()).toBe(10);
});

test('of many groups a cell shows a few, with the way to all', async () => {
  await page.goto('/admin/ui/users?q=carl');
  const cell = rows().first().locator('td').nth(1);
  await soon(() => cell.locator('a.tag').count()).toBe(8);
  await cell.getByRole('link', { name: 'and 493 more' }).click();
  await counted('list-groups')
    .getByText(/of 501 groups$/)
    .waitFor();
});

test('a name is proposed although it is not among the first', async () => {
  await page.goto('/admin/ui/share?resource=reports/*');
  await soon(() => page.locator('#receiver-names option').count()).toBeLessThanOrEqual(100);
  await page.getByLabel('User or group').fill('user-0499');
  await page.locator('#receiver-names option[value="user-04999"]').waitFor({ state: 'attached' });
  await soon(() => page.locator('#receiver-names option').count()).toBe(10);
});

test('who may read it: a page at a time, with a box; superusers are among them', async () => {
  await page.goto('/admin/ui/explain?resource=reports/sales&right=read');
  await counted()
    .getByText(/of 5,002 users$/)
    .waitFor();
  await page.getByLabel('Name contains').fill('ada');
  await page.getByText('superusers may do everything').waitFor();
  await soon(() => rows().count()).toBe(1);
  await soon(() => Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    resource: 'reports/sales',
    right: 'read',
    who: 'ada',
  });
});

test('without script a filter of one list leaves the others as they are', async () => {
  const plain = await openAs(browser, svc, 'ada', { javaScriptEnabled: false });
  await plain.goto(`/admin/ui/users/${carl}?groups-offset=50`);
  await soon(() => plain.locator('#list-groups tbody tr').count()).toBe(50);
  await plain.getByLabel('Group contains').fill('team-50');
  await plain.getByRole('button', { name: 'Filter' }).click();
  await soon(() => plain.locator('#list-groups tbody tr').allInnerTexts()).toHaveLength(1);
  await plain.goto('/admin/ui/events?indexes-sort=-bytes&senders-sort=label');
  await plain.getByLabel('Index contains').fill('idx-29');
  await plain.getByRole('button', { name: 'Filter' }).first().click();
  await soon(() => new URL(plain.url()).searchParams.get('senders-sort')).toBe('label');
  await soon(() => new URL(plain.url()).searchParams.get('indexes-sort')).toBe('-bytes');
  await soon(() => plain.locator('#list-indexes tbody tr').first().innerText()).toStartWith(
    'idx-299',
  );
  await plain.context().close();
});

test('indexes of events: paged, filtered, sorted by size', async () => {
  await page.goto('/admin/ui/events');
  await counted('list-indexes')
    .getByText(/^From 1 on, of 300 indexes$/)
    .waitFor();
  await page.locator('#list-indexes').getByRole('link', { name: 'Size' }).click();
  await page.waitForURL(/indexes-sort=bytes/);
  await page.locator('#list-indexes').getByRole('link', { name: 'Size' }).click();
  await page.waitForURL(/indexes-sort=-bytes/);
  await soon(() => rows('list-indexes').first().innerText()).toStartWith('idx-299');
  await page.getByLabel('Index contains').fill('idx-00');
  await page.getByText('10 indexes').waitFor();
  await soon(() => rows('list-indexes').first().innerText()).toStartWith('idx-009');
  await soon(() =>
    page.locator('#list-senders tbody tr').getByText('Audit').count(),
  ).toBeGreaterThan(0);
  expect(await accessibilityProblems(page)).toEqual([]);
});

test('the audit between two moments of the reader, in the address as UTC, and so exported', async () => {
  await page.goto('/admin/ui/audit?did=update_dataset_row');
  await counted()
    .getByText(/^From 1 on, of 10,000 entries/)
    .waitFor();
  await page.getByLabel('From (your time)').fill('2026-01-01T06:30');
  await page.getByLabel('To (your time)').fill('2026-01-01T07:30');
  await page.getByText('60 entries').waitFor();
  const asked = () => new URL(page.url()).searchParams;
  await soon(() => asked().get('from')).toBe('2026-01-01T01:00:00');
  await soon(() => asked().get('to')).toBe('2026-01-01T02:00:00');
  await page.reload();
  await soon(() => page.getByLabel('From (your time)').inputValue()).toBe('2026-01-01T06:30');
  await page.locator('#list').getByText('Export', { exact: true }).click();
  const csv = await page.getByRole('link', { name: 'CSV', exact: true }).getAttribute('href');
  const lines = (await (await (await svc.as('ada')).fetch(csv!)).text()).trim().split('\n');
  expect(lines).toHaveLength(61);
});

test('no page complained or asked anybody else', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

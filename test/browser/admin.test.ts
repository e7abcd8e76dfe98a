/**
 * Administration through its pages (DS-132, DS-184): what an administrator does in a day, with script and without, on a phone, in
 * the dark, among hostile names; and that nobody else sees any of it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { soon } from '../http/eventually.ts';
import { accessibilityProblems, signIn, TestBrowser } from '../support/browser.ts';
import { PASSWORD } from '../support/password.ts';
import { type Service, startService } from '../support/service.ts';

const SALES = 'region,amount\nnorth,10\nsouth,20\n';
const HTML = { headers: { Accept: 'text/html' } };
const PAGES = [
  ...['users', 'groups', 'permissions', 'explain', 'api-keys', 'tokens', 'sessions', 'audit'],
  ...['resources', 'events', 'locks', 'cache'],
].map((name) => `/admin/ui/${name}`);

let svc: Service;
let browser: TestBrowser;

beforeAll(async () => {
  svc = await startService({
    files: { 'reports/sales.csv': SALES, 'plain.csv': 'a\n1\n', 'broken.xlsx': 'no workbook' },
  });
  await svc.accounts.user('ada', { password: PASSWORD, superuser: true });
  await svc.accounts.user('bea', { password: PASSWORD });
  browser = await TestBrowser.start();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await svc?.[Symbol.asyncDispose]();
});

/** A page of somebody who has signed in. */
async function openAs(
  name: string,
  options: Parameters<TestBrowser['open']>[1] = {},
): Promise<Page> {
  const page = await browser.open(svc, options);
  const { cookie } = await svc.accounts.session(name);
  await page.context().addCookies(
    cookie.split('; ').map((pair) => {
      const [key = '', value = ''] = pair.split('=');
      return { name: key, value, url: svc.url };
    }),
  );
  return page;
}

/** Opens the foldable form and fills it in. */
async function fill(page: Page, fold: string, fields: Record<string, string>): Promise<void> {
  await page.getByText(fold, { exact: true }).click();
  const form = page.locator('details[open]');
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label).fill(value);
}

async function notice(page: Page): Promise<string> {
  return page.locator('.notice[role=status]').innerText();
}

/** Answers the question, which is a dialog with script and a page without. */
async function confirm(page: Page, question: string, button: string): Promise<void> {
  await page.getByRole('heading', { name: question }).waitFor();
  await page.getByRole('button', { name: button, exact: true }).click();
  await page.locator('.notice[role=status]').waitFor();
}

describe.each([
  ['with script', true, 'colleague'],
  ['without script', false, 'partner'],
])('give a colleague read access to one folder, %s', (_, javaScriptEnabled, name) => {
  test('from the account to reading, and back', async () => {
    const page = await openAs('ada', { javaScriptEnabled });
    await page.goto('/');
    const main = page.getByRole('navigation', { name: 'Main' });
    await main.getByRole('link', { name: 'Administration' }).click();
    const sections = page.getByRole('navigation', { name: 'Administration' });

    await sections.getByRole('link', { name: 'Users' }).click();
    await fill(page, 'New user', { 'User name': name, Password: PASSWORD });
    await page.getByRole('button', { name: 'Create the user' }).click();
    await soon(() => notice(page)).toStartWith('The user was created.');

    await sections.getByRole('link', { name: 'Groups' }).click();
    await fill(page, 'New group', { Name: `${name}s`, 'What it is for': 'reads reports' });
    await page.getByRole('button', { name: 'Create the group' }).click();
    await page.getByRole('link', { name: `${name}s`, exact: true }).click();
    await page.waitForURL(/\/groups\/\d+$/);
    const group = page.url();
    await page.getByLabel('Resource').fill('reports/*');
    await page.getByRole('button', { name: 'Give the right' }).click();
    await soon(() => notice(page)).toBe('The members have the right now.');
    await page.getByLabel('User name').fill(name);
    await page.getByRole('button', { name: 'Add' }).click();
    await soon(() => notice(page)).toBe('The user is a member now.');

    const colleague = await browser.open(svc, { javaScriptEnabled });
    await signIn(colleague, name);
    await colleague.goto('/ui/reports/sales/');
    await soon(() => colleague.title()).toStartWith('sales');
    expect(await colleague.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    const forbidden = await colleague.goto('/ui/plain/');
    expect(forbidden!.status()).toBe(403);

    await sections.getByRole('link', { name: 'Who may do what?' }).click();
    await page.getByLabel('User', { exact: true }).fill(name);
    await page.getByLabel('Resource').fill('reports/sales');
    await page.getByRole('button', { name: 'Explain' }).click();
    await soon(() => page.locator('.verdict').innerText()).toBe(
      `${name} may read reports/sales: group '${name}s' holds read on reports/*`,
    );
    await page.getByLabel('User', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Explain' }).click();
    await soon(() => page.getByRole('row', { name }).innerText()).toContain(`${name}s holds read`);

    await page.goto(group);
    await page.getByRole('button', { name: `Remove ${name} from ${name}s` }).click();
    await confirm(page, `Remove ${name} from group ${name}s?`, 'Remove');
    await soon(() => notice(page)).toBe('The user is no longer a member.');
    expect((await colleague.goto('/ui/reports/sales/'))!.status()).toBe(403);

    await sections.getByRole('link', { name: 'Audit' }).click();
    await page.getByLabel('Contains').fill(`${name}s`);
    await page.getByLabel('Who').fill('ada');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('cell', { name: `Removed user ${name} from group ${name}s` }).waitFor();
    await soon(() => page.locator('td.text').allInnerTexts()).toEqual([
      `Removed user ${name} from group ${name}s`,
      `Added user ${name} to group ${name}s`,
      `Added permission read on reports/* to group ${name}s`,
      `Created group ${name}s`,
    ]);

    await page.goto('/admin/ui/users');
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    await page.getByText('With it go 1 session.').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    await confirm(page, `Delete user ${name}?`, `Delete user ${name}`);
    await soon(() => new URL(page.url()).pathname).toBe('/admin/ui/users');
    await soon(() => notice(page)).toBe('The user was deleted.');
    await page.waitForLoadState();
    expect(await page.getByRole('link', { name, exact: true }).count()).toBe(0);
    await colleague.goto('/ui/reports/sales/');
    await soon(() => new URL(colleague.url()).pathname).toBe('/auth/login');
    await page.context().close();
    await colleague.context().close();
    browser.reports.length = 0;
  });
});

test('a refused form says why, keeps what was filled in, and tells no password', async () => {
  const page = await openAs('ada');
  await page.goto('/admin/ui/users');
  await fill(page, 'New user', { 'User name': 'bea', Password: PASSWORD });
  await page.getByRole('button', { name: 'Create the user' }).click();
  await soon(() => page.getByRole('alert').innerText()).toBe('User already exists');
  await soon(() => page.getByLabel('User name').inputValue()).toBe('bea');
  await soon(() => page.getByLabel('Password').inputValue()).toBe('');
  await page.getByLabel('User name').fill('new');
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Create the user' }).click();
  await soon(() => page.getByRole('alert').innerText()).toStartWith('New password is too weak');
  await page.waitForLoadState();
  expect(await page.content()).not.toContain('value="short"');
  await page.context().close();
  browser.reports.length = 0;
});

test('DS-138: nobody takes away himself, and so never the last superuser', async () => {
  const page = await openAs('ada');
  await page.goto('/admin/ui/users?q=ada');
  await page.getByRole('link', { name: 'ada', exact: true }).first().click();
  await page.getByText('This is you.').waitFor();
  expect(await page.getByRole('button', { name: /^(?:Delete|Deactivate) ada/ }).count()).toBe(0);
  const ada = await svc.inBrowserAs('ada');
  const { pathname } = new URL(page.url());
  for (const action of ['delete-user', 'deactivate']) {
    const body = new URLSearchParams({ action, confirmed: 'yes' });
    const answer = await ada.fetch(pathname, { method: 'POST', body, ...HTML });
    expect(answer.status).toBe(400);
    const done = action === 'deactivate' ? 'deactivate' : 'delete';
    expect(await answer.text()).toContain(`Cannot ${done} yourself`);
  }
  expect((await ada.fetch('/admin/', HTML)).status).toBe(200);
  await page.context().close();
});

test('a key for somebody is shown once, works, is revoked; a session is ended', async () => {
  const page = await openAs('ada', { javaScriptEnabled: false });
  await page.goto('/admin/ui/api-keys');
  await fill(page, 'New key', {
    'User name': 'bea',
    'What it is for': 'nightly',
    'Days until': '30',
  });
  await page.getByRole('button', { name: 'Make the key' }).click();
  const key = await page.getByLabel('The new API key').inputValue();
  const client = svc.withHeaders({ 'X-API-Key': key });
  expect((await client.fetch('/auth/me')).status).toBe(200);
  await page.goto('/admin/ui/api-keys?user=bea');
  expect(await page.getByText(key).count()).toBe(0);
  await page.getByRole('button', { name: 'Revoke nightly' }).click();
  await confirm(page, 'Revoke the API key nightly of bea?', 'Revoke the key');
  expect((await client.fetch('/auth/me')).status).toBe(401);

  const bea = await svc.inBrowserAs('bea');
  expect((await bea.fetch('/auth/me')).status).toBe(200);
  await page.goto('/admin/ui/sessions?user=bea');
  await page.getByRole('button', { name: 'End session of bea' }).click();
  await confirm(page, 'End a session of bea?', 'End the session');
  expect((await bea.fetch('/auth/me')).status).toBe(401);
  await soon(() => page.getByText('Nothing matches.').count()).toBe(1);
  await page.context().close();
});

test('lists follow the boxes as somebody types, the address too, and page on the server', async () => {
  for (let no = 1; no <= 60; no++) await svc.accounts.group(`team ${String(no).padStart(2, '0')}`);
  const page = await openAs('ada');
  await page.goto('/admin/ui/groups?q=team');
  await soon(() => page.locator('#list tbody tr').count()).toBe(50);
  await soon(() => page.locator('.counted').innerText()).toContain('From 1 on, of 60 groups');
  await page.getByRole('link', { name: 'Next' }).click();
  await soon(() => page.locator('#list tbody tr').count()).toBe(10);
  await page.getByRole('link', { name: 'Name', exact: true }).click();
  await page.waitForURL(/sort=name/);
  await page.getByRole('link', { name: 'Name', exact: true }).click();
  await page.waitForURL(/sort=-name/);
  await soon(() => page.locator('#list tbody tr').first().innerText()).toStartWith('team 60');
  await page.getByLabel('Name or purpose contains').fill('team 1');
  await page.getByText('10 groups').waitFor();
  await soon(() => new URL(page.url()).search).toBe('?q=team+1&sort=-name');
  await page.reload();
  await soon(() => page.locator('#list tbody tr').count()).toBe(10);
  await page.locator('#list').getByText('Export', { exact: true }).click();
  const data = await page.getByRole('link', { name: 'Open JSON' }).getAttribute('href');
  const ada = await svc.as('ada');
  const items = (await (await ada.fetch(data!)).json()) as { name: string }[];
  expect(items.map(({ name }) => name)).toEqual(
    Array.from({ length: 10 }, (_, index) => `team ${19 - index}`),
  );
  await page.context().close();
});

test('the index is read again with progress; broken files tell why', async () => {
  const page = await openAs('ada');
  await page.goto('/admin/ui/resources?state=broken');
  await soon(() => page.locator('#list tbody tr').count()).toBe(1);
  await soon(() => page.locator('#list tbody .problem').innerText()).not.toBe('');
  await page.getByRole('button', { name: 'Read everything again' }).click();
  await confirm(page, 'Read everything into the search index again?', 'Read everything again');
  await page.getByText(/^Finished: \d+ read/).waitFor();
  await soon(() => page.getByRole('button', { name: 'Read what changed' }).count()).toBe(1);
  await page.context().close();
});

test.each([
  ['on a screen', {}],
  ['on a phone, in the dark', { viewport: { width: 320, height: 640 }, colorScheme: 'dark' }],
] as const)('every page reads well %s: contrast, names, order', async (_, options) => {
  const page = await openAs('ada', options);
  const { id } = await svc.accounts.user('bea');
  for (const path of ['/admin/', ...PAGES, `/admin/ui/users/${id}`, '/admin/ui/groups/1']) {
    await page.goto(path);
    expect([path, await accessibilityProblems(page)]).toEqual([path, []]);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect([path, width]).toEqual([path, await page.evaluate<number>('innerWidth')]);
  }
  await page.context().close();
});

test('S-X: markup in every name stays text', async () => {
  const evil = `<img src=x onerror="document.title='owned'">'"<script>alert(1)</script>`;
  const { accounts } = svc;
  await accounts.grantGroup(evil, evil, 'read');
  await accounts.group(evil, [evil]);
  await accounts.apiKey(evil);
  const ada = await svc.inBrowserAs('ada');
  const send = (path: string, body: unknown): Promise<Response> =>
    ada.fetch(path, { method: 'POST', body: JSON.stringify(body) });
  await send('/admin/groups', { name: `${evil}2`, description: evil });
  await send('/api/events/', { index: 'a', data: evil, source: evil });
  await svc.fetch('/auth/me', { headers: { 'User-Agent': evil, 'X-API-Key': 'ak_none' } });
  svc.write(`${evil.replaceAll('/', '⁄')}.csv`, 'a\n1\n');
  const { id } = await accounts.user(evil);
  const groupId = await accounts.group(evil);
  const page = await openAs('ada');
  const query = new URLSearchParams({ resource: evil, right: 'read' });
  for (const path of [
    ...['/admin/', ...PAGES, `/admin/ui/users/${id}`, `/admin/ui/groups/${groupId}`],
    ...[
      `/admin/ui/explain?${query}`,
      `/admin/ui/explain?${query}&user=${encodeURIComponent(evil)}`,
    ],
    `/admin/ui/audit?q=${encodeURIComponent(evil)}`,
  ]) {
    await page.goto(path);
    expect(await page.title()).not.toBe('owned');
    expect(await page.locator('main img, main script').count()).toBe(0);
  }
  await page.goto(`/admin/ui/users/${id}`);
  await page.getByRole('button', { name: /^Delete/ }).click();
  await page.getByRole('heading', { name: 'Delete user' }).waitFor();
  expect(await page.locator('dialog img, dialog script').count()).toBe(0);
  await page.keyboard.press('Enter');
  await page.locator('dialog').waitFor({ state: 'detached' });
  expect((await ada.fetch(`/admin/ui/users/${id}`, HTML)).status).toBe(200);
  await page.context().close();
});

test('nobody else sees any of it', async () => {
  for (const client of [svc, await svc.as('bea'), await svc.inBrowserAs('bea')]) {
    for (const accept of ['text/html', 'application/json']) {
      const answer = await client.fetch('/admin/', { headers: { Accept: accept } });
      expect([answer.status, answer.headers.get('location')]).toEqual([
        302,
        '/auth/login?next=/admin/',
      ]);
    }
  }
  const bea = await svc.inBrowserAs('bea');
  for (const path of PAGES) {
    expect((await svc.fetch(path)).status).toBe(401);
    expect((await svc.fetch(path, HTML)).headers.get('location')).toBe(`/auth/login?next=${path}`);
    const answer = await bea.fetch(path, HTML);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      403,
      'text/html; charset=utf-8',
    ]);
  }
  const body = new URLSearchParams({ action: 'create-group', name: 'mine' });
  expect((await bea.fetch('/admin/ui/groups', { method: 'POST', body })).status).toBe(403);
  const { cookie } = await svc.accounts.session('ada');
  const forged = { method: 'POST', body, headers: { Cookie: cookie } };
  expect((await svc.fetch('/admin/ui/groups', forged)).status).toBe(403);
  expect(await (await bea.fetch('/', HTML)).text()).not.toContain('/admin');
});

test('no page complained or asked anybody else', () => {
  expect(browser.reports).toEqual([]);
  expect(browser.foreignRequests).toEqual([]);
});

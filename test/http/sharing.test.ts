/** Rights for people and groups in one step (DS-273): `/admin/access`, the page `/auth/share`, and what folders answer. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';

let svc: Service;
let ada: Client;
let page: Client;

beforeAll(async () => {
  svc = await startService({
    files: { 'shop/a.csv': 'n,price\n1,2\n', 'shop/sub/b.csv': 'n\n1\n', 'other.csv': 'n\n1\n' },
    config: { sharing: { links: 'readers' } },
  });
  await svc.accounts.user('ada', { superuser: true });
  for (const name of ['bea', 'carl', 'both']) await svc.accounts.user(name, {});
  await svc.accounts.group('sales', ['carl']);
  await svc.accounts.group('both');
  ada = await svc.as('ada');
  page = await svc.inBrowserAs('ada');
});

afterAll(() => svc?.[Symbol.asyncDispose]());

async function give(body: object): Promise<{ status: number; body: unknown }> {
  const response = await ada.fetch('/admin/access', { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

async function allowed(resource: string, action = 'read'): Promise<Record<string, unknown>> {
  const query = new URLSearchParams({ resource, action });
  return (await (await ada.fetch(`/admin/access?${query}`)).json()) as Record<string, unknown>;
}

function send(client: Client, resource: string, fields: Record<string, string>): Promise<Response> {
  return client.fetch(`/auth/share?${new URLSearchParams({ resource })}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' },
    body: new URLSearchParams(fields).toString(),
  });
}

test('a name is a user or a group; one of neither or of both makes nothing', async () => {
  const asked = { resource: 'shop/*', action: 'read' };
  expect(await give({ to: 'sale', ...asked })).toMatchObject({
    status: 404,
    body: { detail: expect.stringContaining("did you mean 'sales'?") as string },
  });
  expect(await give({ to: 'both', ...asked })).toMatchObject({ status: 400 });
  expect(await give({ to: 'bea', resource: '/shop', action: 'read' })).toMatchObject({
    status: 422,
  });
  expect(await (await ada.fetch('/admin/permissions')).json()).toEqual([]);
  expect(await give({ to: 'sales', ...asked })).toMatchObject({
    status: 200,
    body: { username: null, group: { name: 'sales' } },
  });
  expect(await give({ to: 'user:both', ...asked })).toMatchObject({
    status: 200,
    body: { username: 'both', group: { name: 'read shop/*' } },
  });
  const carl = await svc.as('carl');
  expect((await carl.fetch('/api/shop/sub/b/')).status).toBe(200);
  expect((await carl.fetch('/api/other/')).status).toBe(403);
});

test('a folder is something, by its name with and without the star', async () => {
  for (const name of ['shop/*', 'shop', 'shop/']) {
    const found = await allowed(name);
    expect(found).toMatchObject({ resource: 'shop/*', exists: true, notes: [] });
    expect(found['users']).toMatchObject([{ username: 'both' }, { username: 'carl' }]);
  }
  expect(await allowed('nothing/*')).toMatchObject({ exists: false });
});

test('the page gives, shows who has it and why, and takes back what is for just this', async () => {
  expect((await send(page, 'shop/a', { action: 'give', to: 'bea', right: 'write' })).status).toBe(
    303,
  );
  const text = await (await page.fetch('/auth/share?resource=shop/a')).text();
  for (const part of ['bea', 'write on shop/a', 'read on shop/*', 'carl', 'Superusers', 'ada']) {
    expect(text).toContain(part);
  }
  expect(text.match(/aria-label="Remove /g)).toHaveLength(1);
  const [{ group_id: group }] = (await allowed('shop/a', 'write'))['groups'] as [
    { group_id: number },
  ];
  const taken = { action: 'take', group: String(group), held: 'shop/a', right: 'write' };
  expect((await send(page, 'shop/a', taken)).status).toBe(303);
  expect((await allowed('shop/a', 'write'))['users']).toEqual([]);
  const wrong = await send(page, 'shop/a', { action: 'give', to: 'nobody', right: 'read' });
  expect(wrong.status).toBe(404);
  expect(await wrong.text()).toContain('There is no user or group nobody');
});

test('the page makes a link of the view it was opened with, and withdraws it', async () => {
  const fields = {
    action: 'link',
    columns: 'price',
    description: 'for <b>Acme</b>',
    expires_at: '',
  };
  const made = await send(page, 'shop/a', fields);
  const text = await made.text();
  expect(text).toContain('for &lt;b&gt;Acme');
  const path = new URL(/value="(http[^"]*\/s\/[^"]*)"/.exec(text)![1]!).pathname;
  const rows = await svc.fetch(`${path}api/shop/a/`);
  expect(await rows.json()).toEqual([{ _row_id: 1, price: 2 }]);
  const [link] = (await (await ada.fetch('/admin/links')).json()) as [{ id: number }];
  const id = String(link.id);
  expect((await send(page, 'shop/a', { action: 'revoke-link', id })).status).toBe(303);
  expect((await svc.fetch(`${path}api/shop/a/`)).status).toBe(404);
});

test('who is no superuser shares by links only, sees own ones, and gives no rights', async () => {
  await svc.accounts.link('ada', 'shop/a.csv', { description: 'of ada' });
  const carl = await svc.inBrowserAs('carl');
  const shown = await (await carl.fetch('/auth/share?resource=shop/a')).text();
  expect(shown).toContain('Make a link');
  for (const hidden of ['Give access', 'of ada', 'Superusers', 'bea']) {
    expect(shown).not.toContain(hidden);
  }
  expect((await send(carl, 'shop/a', { action: 'link' })).status).toBe(200);
  expect((await send(carl, 'other', { action: 'link' })).status).toBe(403);
  expect((await send(carl, 'shop/a', { action: 'give', to: 'carl', right: 'write' })).status).toBe(
    403,
  );
  const dataset = await (await carl.fetch('/ui/shop/a/')).text();
  expect(dataset).toContain('href="/auth/share?resource=shop%2Fa"');
});

test('explaining why somebody may not has the remedy at hand', async () => {
  const query = new URLSearchParams({ user: 'bea', resource: 'other', right: 'read' });
  const text = await (await page.fetch(`/admin/ui/explain?${query}`)).text();
  expect(text).toContain('bea may not read other');
  expect(text).toContain('action="/auth/share?resource=other"');
  const who = await (await page.fetch('/admin/ui/explain?resource=shop&right=read')).text();
  expect(who).not.toContain('Nothing is published');
  expect(who).toContain('carl');
});

/** The way back after deleting a saved search on its page: once however often it is sent, and only for who deleted it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';
import { auditAfter, lastAuditId } from './changes.ts';

let svc: Service;

beforeAll(async () => {
  svc = await startService({ files: {} });
  await svc.createSuperuser('root');
  for (const name of ['bea', 'carl']) await svc.accounts.user(name);
});

afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
});

async function saved(owner: string): Promise<{ id: number; name: string; is_public: boolean }[]> {
  const answer = await (await svc.as(owner)).fetch('/api/savedsearches/');
  return (await answer.json()) as { id: number; name: string; is_public: boolean }[];
}

function post(client: Client, fields: Readonly<Record<string, string>>): Promise<Response> {
  return client.fetch('/savedsearches', {
    method: 'POST',
    redirect: 'manual',
    headers: { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(fields)),
  });
}

/** The fields of the form that the page offers after deleting. */
async function deleted(client: Client, id: number): Promise<Record<string, string>> {
  const page = await (await post(client, { action: 'delete', id: String(id) })).text();
  const form = /<form[^>]* class="undo">(.*?)<\/form>/s.exec(page)![1]!;
  const inputs = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...inputs].map(([, name, value]) => [name!, value!]));
}

test('undo sent again and again brings a search back once, under the id it had', async () => {
  const bea = await svc.inBrowserAs('bea');
  await post(bea, { action: 'create', name: 'Slow', query: 'ms>100', is_public: 'true' });
  await post(bea, { action: 'create', name: 'Other', query: 'x' });
  const before = await saved('bea');
  const { id } = before.find(({ name }) => name === 'Slow')!;
  const last = await lastAuditId(svc);
  const undo = await deleted(bea, id);
  expect((await saved('bea')).map(({ name }) => name)).toEqual(['Other']);
  const answers = await Promise.all([post(bea, undo), post(bea, undo)]);
  answers.push(await post(bea, undo));
  expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
  const after = await saved('bea');
  expect(after.map((one) => [one.id, one.name, one.is_public])).toEqual(
    before.map((one) => [one.id, one.name, one.is_public]),
  );
  const entries = (await auditAfter(svc, last)).map(({ details }) => details);
  expect(entries).toEqual([`Deleted saved search ${id}`, `Created saved search ${id}`]);
});

test('what was changed after it came back stays changed', async () => {
  const bea = await svc.inBrowserAs('bea');
  const { id } = (await saved('bea')).find(({ name }) => name === 'Other')!;
  const undo = await deleted(bea, id);
  await post(bea, undo);
  await post(bea, { action: 'update', id: String(id), name: 'Renamed', query: 'x' });
  await post(bea, undo);
  expect((await saved('bea')).map(({ name }) => name)).toEqual(['Renamed', 'Slow']);
});

test('nobody takes the id of a search that somebody else has deleted, nor one that was never given', async () => {
  const [bea, carl] = [await svc.inBrowserAs('bea'), await svc.inBrowserAs('carl')];
  const { id } = (await saved('bea')).find(({ name }) => name === 'Slow')!;
  const undo = await deleted(bea, id);
  expect((await post(carl, undo)).status).toBe(400);
  expect((await post(bea, { ...undo, id: '9999' })).status).toBe(400);
  expect((await post(bea, { ...undo, seal: 'made up' })).status).toBe(400);
  expect((await post(bea, undo)).status).toBe(303);
  expect((await saved('carl')).map(({ name }) => name)).toEqual(['Slow']);
  expect((await saved('bea')).map((one) => one.id)).toContain(id);
});

test('what was shared with a deleted user comes back for the others, and the page says so', async () => {
  const [bea, root] = [await svc.inBrowserAs('bea'), await svc.inBrowserAs('root')];
  const { id: dora } = await svc.accounts.user('dora');
  await post(bea, { action: 'create', name: 'For two', query: 'x' });
  const { id } = (await saved('bea')).find(({ name }) => name === 'For two')!;
  await post(bea, { action: 'share', id: String(id), readers: 'carl\ndora' });
  const undo = await deleted(bea, id);
  expect((await root.fetch(`/admin/users/${dora}`, { method: 'DELETE' })).status).toBe(200);
  const answer = await post(bea, undo);
  expect(answer.headers.get('location')).toBe('/savedsearches?done=restore-for-fewer');
  const page = await bea.fetch(answer.headers.get('location')!, {
    headers: { Accept: 'text/html' },
  });
  expect(await page.text()).toContain('have no account any more; they are left out');
  expect((await saved('carl')).map(({ name }) => name)).toContain('For two');
});

test('whoever deletes an owner is told what others lose; their addresses then say that it is gone', async () => {
  const [elsa, root] = [await svc.inBrowserAs('elsa'), await svc.inBrowserAs('root')];
  const { id: owner } = await svc.accounts.user('elsa');
  await post(elsa, { action: 'create', name: 'Mine', query: 'x' });
  await post(elsa, { action: 'create', name: 'Ours', query: 'y', is_public: 'true' });
  const { id } = (await saved('elsa')).find(({ name }) => name === 'Ours')!;
  const asked = await root.fetch(`/admin/ui/users/${owner}`, {
    method: 'POST',
    headers: { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'action=delete-user',
  });
  const question = await asked.text();
  expect(question).toContain('2 saved searches');
  expect(question).toContain('One of these searches is shared');
  expect((await root.fetch(`/admin/users/${owner}`, { method: 'DELETE' })).status).toBe(200);
  const carl = await svc.inBrowserAs('carl');
  const page = { Accept: 'text/html' };
  const opened = await carl.fetch(`/savedsearches?id=${id}`, { headers: page });
  expect(opened.status).toBe(404);
  expect(await opened.text()).toContain('This saved search is gone');
  const copy = await post(carl, { action: 'clone', id: String(id) });
  expect([copy.status, (await copy.text()).includes('This saved search is gone')]).toEqual([
    404,
    true,
  ]);
  expect((await saved('carl')).map(({ name }) => name)).not.toContain('Ours');
});

/** Giving somebody a right in one form (`/admin/ui/share`): exactly that right, and nothing when something is wrong. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';

let svc: Service;
let ada: Client;

beforeAll(async () => {
  svc = await startService({ files: { 'shop/a.csv': 'n\n1\n', 'other.csv': 'n\n1\n' } });
  await svc.accounts.user('ada', { superuser: true });
  await svc.accounts.user('bea', {});
  await svc.accounts.user('carl', {});
  ada = await svc.inBrowserAs('ada');
});

afterAll(() => svc?.[Symbol.asyncDispose]());

function share(fields: Record<string, string>): Promise<Response> {
  return ada.fetch('/admin/ui/share', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' },
    body: new URLSearchParams({ action: 'share', ...fields }).toString(),
  });
}

const groups = async (): Promise<string[]> =>
  ((await (await ada.fetch('/admin/groups')).json()) as { name: string }[]).map(({ name }) => name);

test('a wrong name or right makes nothing', async () => {
  expect((await share({ to: 'nobody', resource: 'shop/*', right: 'read' })).status).toBe(404);
  expect((await share({ to: 'bea', resource: 'shop/*', right: 'own' })).status).toBeGreaterThan(
    399,
  );
  expect(await groups()).toEqual([]);
});

test('two people share one group, and get only what was asked for', async () => {
  for (const username of ['bea', 'carl', 'carl']) {
    const answer = await share({ to: username, resource: 'shop/*', right: 'read' });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('The right is given.');
  }
  expect(await groups()).toEqual(['read shop/*']);
  const bea = await svc.as('bea');
  expect((await bea.fetch('/api/shop/a/')).status).toBe(200);
  expect((await bea.fetch('/api/other/')).status).toBe(403);
});

test('a group of that name that holds something else is left alone', async () => {
  await svc.accounts.user('dora', {});
  const made = await ada.fetch('/admin/groups', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'write shop/*' }),
  });
  expect(made.status).toBeLessThan(300);
  const answer = await share({ to: 'dora', resource: 'shop/*', right: 'write' });
  expect(await answer.text()).toContain('write shop/* (2)');
  expect(await groups()).toEqual(['read shop/*', 'write shop/*', 'write shop/* (2)']);
});

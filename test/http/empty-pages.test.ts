/**
 * Pages without anything to show say what to do about it, to those who may and to those who may not.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Service, startService } from '../support/service.ts';

let svc: Service;

beforeAll(async () => {
  svc = await startService({ files: {} });
  await svc.accounts.user('root', { superuser: true });
  await svc.accounts.user('bea');
  await svc.accounts.grant('cora', '@events/app', 'write');
  await svc.accounts.grant('dina', '@events/app', 'read');
});

afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
});

/** The text between tags, and the links. */
async function contentOf(
  username: string,
  path: string,
): Promise<{ text: string; links: string[] }> {
  const client = await svc.inBrowserAs(username);
  const response = await client.fetch(path, { headers: { Accept: 'text/html' } });
  const markup = /<main[^]*<\/main>/.exec(await response.text())?.[0] ?? '';
  return {
    text: markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '),
    links: [...markup.matchAll(/ href="([^"]*)"/g)].map(([, href]) => href!),
  };
}

test('without events: how to send some, for those who may; for others whom to ask', async () => {
  const root = await contentOf('root', '/events');
  expect(root.text).toContain('No events in this time.');
  expect(root.text).toContain('X-API-Key: $SVC_API_KEY');
  expect(root.text).toContain(`${svc.url}/api/events/`);
  expect(root.links).toEqual(
    expect.arrayContaining(['/docs/guide/shippers', '/profile#keys', '/events?q=&amp;earliest=']),
  );
  const all = await contentOf('root', '/events?earliest=');
  expect(all.text).toContain('No events.');
  expect(all.text).not.toContain('Look at all time');
  const dina = await contentOf('dina', '/events');
  expect(dina.text).toContain('who administers this server can let them');
  expect(dina.text).not.toContain('SVC_API_KEY');
  const cora = await contentOf('cora', '/events');
  expect(cora.text).toContain('You may not read any events yet.');
  expect(cora.text).toContain('SVC_API_KEY');
  const bea = await contentOf('bea', '/events');
  expect(bea.text).toContain('You may not read any events yet.');
  expect(bea.text).not.toContain('SVC_API_KEY');
});

test('what matches nothing offers more time, and everything', async () => {
  const found = await contentOf('root', '/events?q=nowhere');
  expect(found.text).toContain('Nothing matches in this time.');
  expect(found.links).toContain('/events?q=nowhere&amp;earliest=');
  expect((await contentOf('root', '/events?q=nowhere&earliest=')).text).toContain(
    'Nothing matches. Try fewer words.',
  );
  const searched = await contentOf('root', '/search?q=nowhere&type=csv');
  expect(searched.links).toEqual(expect.arrayContaining(['/search?q=nowhere', '/']));
  const kept = await contentOf('root', '/savedsearches');
  expect(kept.text).toContain('No saved searches yet.');
  expect(kept.links).toContain('/events');
  expect((await contentOf('root', '/savedsearches?search=x')).links).toContain('/savedsearches');
});

test('an empty folder leads back, and says more to those who administer', async () => {
  svc.write('shop/a.csv', 'n\n1\n');
  await svc.accounts.grant('bea', 'shop/*', 'read');
  const bea = await contentOf('bea', '/?folder=other');
  expect(bea.links).not.toContain('/admin/ui/resources');
  expect((await contentOf('root', '/ui/media')).text).toContain('No sound or film');
});

test.each([
  ['/admin/ui/api-keys', '/profile#keys'],
  ['/admin/ui/events', '/docs/guide/shippers'],
  ['/admin/ui/users?q=nobody', '/admin/ui/users'],
] as const)('%s without entries leads to %s', async (path, href) => {
  expect((await contentOf('root', path)).links).toContain(href);
});

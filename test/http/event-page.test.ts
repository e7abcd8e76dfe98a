/** The page of one event, with those around it, under the rights of its index; saved searches that say who lacks which. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';

const SECOND_MS = 1000;
let svc: Service;
let ids: number[];

async function send(client: Client, events: readonly object[]): Promise<number[]> {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(events);
  const answer = await client.fetch('/api/events/', { method: 'POST', headers, body });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { id: number }[]).map(({ id }) => id);
}

beforeAll(async () => {
  svc = await startService({ files: { 'shop.csv': 'n\n1\n' } });
  await svc.createSuperuser('root');
  for (const name of ['web', 'other', 'none']) await svc.accounts.user(name);
  await svc.accounts.grant('web', '@events/web', 'read');
  await svc.accounts.grant('other', '@events/other', 'read');
  const now = Date.now() - 3_600_000;
  ids = await send(
    await svc.as('root'),
    Array.from({ length: 60 }, (_, at) => ({
      index: 'web',
      host: at % 2 === 0 ? 'a' : 'b',
      sourcetype: 'json',
      data: JSON.stringify({ event_time: new Date(now + at * SECOND_MS).toISOString(), n: at }),
    })),
  );
});

afterAll(async () => {
  await svc?.[Symbol.asyncDispose]();
});

const HTML = { headers: { Accept: 'text/html' } };

async function shown(client: Client, path: string): Promise<number[]> {
  const answer = await client.fetch(path, HTML);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  return [...text.matchAll(/<dt>n<\/dt><dd><span>(\d+)<\/span>/g)].map(([, n]) => Number(n));
}

test('an event stands among the ten before and behind it of its host, or of its index', async () => {
  const web = await svc.inBrowserAs('web');
  const near = (step: number) => Array.from({ length: 21 }, (_, at) => 30 + (10 - at) * step);
  expect(await shown(web, `/events/${ids[30]}`)).toEqual(near(2));
  expect(await shown(web, `/events/${ids[30]}?around=index`)).toEqual(near(1));
  // At an end there are fewer.
  expect(await shown(web, `/events/${ids[1]}`)).toEqual([21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1]);
  const text = await (await web.fetch(`/events/${ids[30]}`, HTML)).text();
  expect(text).toMatch(new RegExp(`data-id="${ids[30]}" aria-current="true"><details open>`));
});

test('whoever may not read its index learns nothing of it', async () => {
  const statusFor = async (user: string, id: number): Promise<number> =>
    (await (await svc.inBrowserAs(user)).fetch(`/events/${id}`, HTML)).status;
  expect(await statusFor('other', ids[30]!)).toBe(404);
  expect(await statusFor('other', 999_999)).toBe(404);
  expect(await statusFor('none', ids[30]!)).toBe(403);
  expect(await statusFor('none', 999_999)).toBe(403);
  expect(await statusFor('root', ids[30]!)).toBe(200);
  const anonymous = await fetch(`${svc.url}/events/${ids[30]}`, { ...HTML, redirect: 'manual' });
  expect(anonymous.status).toBe(302);
});

async function post(client: Client, fields: Readonly<Record<string, string>>): Promise<Response> {
  return client.fetch('/savedsearches', {
    method: 'POST',
    redirect: 'manual',
    headers: { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(fields)),
  });
}

async function sharingNotes(owner: string, query: string, readers: string): Promise<string[]> {
  const client = await svc.inBrowserAs(owner);
  const made = await client.fetch('/api/savedsearches/', {
    method: 'POST',
    body: JSON.stringify({ name: query, query }),
  });
  const { id } = (await made.json()) as { id: number };
  const done = await post(client, { action: 'share', id: String(id), readers });
  expect(done.status).toBe(303);
  const page = await (await client.fetch(done.headers.get('location')!, HTML)).text();
  return [...page.matchAll(/<p class="notice" role="note">([^<]*)<\/p>/g)].map(([, text]) => text!);
}

test('sharing says who may not read what the search reads, as far as its owner may read it', async () => {
  const nothing = (name: string, what: string): string =>
    `${name} may not read ${what}: the search will find nothing of that for them.`;
  expect(await sharingNotes('root', 'index=web error', 'other\nweb')).toEqual([
    nothing('other', 'the index web'),
  ]);
  expect(await sharingNotes('root', 'error', 'none\nweb')).toEqual([nothing('none', 'any events')]);
  expect(await sharingNotes('root', 'from shop | stats count', 'web')).toEqual([
    nothing('web', 'the dataset shop'),
  ]);
  expect(await sharingNotes('root', 'select count(*) from shop', 'web')).toEqual([
    nothing('web', 'the dataset shop'),
  ]);
  // No more is told than who shares could find out.
  expect(await sharingNotes('other', 'index=web error', 'none')).toEqual([]);
});

test('a saved search keeps how it is shown, and opens with its name, time and chart', async () => {
  const client = await svc.inBrowserAs('web');
  const saved = await post(client, {
    action: 'create',
    name: 'By host',
    q: 'level=error | timechart count by host',
    earliest: '-7d',
    latest: '',
    view: 'chart=stacked-area&log=1&evil=1&saved=99',
    page: '/events',
  });
  expect(saved.status).toBe(303);
  const address = saved.headers.get('location')!;
  const { pathname, searchParams } = new URL(address, svc.url);
  const id = searchParams.get('saved')!;
  expect([pathname, Object.fromEntries(searchParams)]).toEqual([
    '/events',
    {
      saved: id,
      chart: 'stacked-area',
      log: '1',
      q: 'level=error | timechart count by host',
      earliest: '-7d',
      done: 'saved',
    },
  ]);
  expect(id).not.toBe('99');
  const page = await (await client.fetch(address, HTML)).text();
  expect(page).toContain('<h1>By host</h1>');
  const { query } = (await (await client.fetch(`/api/savedsearches/${id}/`)).json()) as {
    query: string;
  };
  expect(query).toBe('level=error earliest=-7d | timechart count by host');
  const updated = await post(client, {
    action: 'update',
    id,
    name: 'By host',
    q: 'level=warn',
    earliest: '-1h',
    view: 'by=level',
    page: '/events',
  });
  expect(updated.headers.get('location')).toBe(
    `/events?saved=${id}&by=level&q=level%3Dwarn&earliest=-1h&done=updated`,
  );
  const opened = await client.fetch(`/savedsearches?id=${id}`, { ...HTML, redirect: 'manual' });
  expect(opened.headers.get('location')).toBe(
    `/events?saved=${id}&by=level&q=level%3Dwarn&earliest=-1h`,
  );
  // Somebody else is not told its name, nor led elsewhere.
  const other = await svc.inBrowserAs('other');
  expect(await (await other.fetch(opened.headers.get('location')!, HTML)).text()).toContain(
    '<h1>Events</h1>',
  );
  const astray = await post(client, {
    action: 'update',
    id,
    name: 'By host',
    q: 'level=warn',
    page: '//evil.example/ui/',
  });
  expect(astray.headers.get('location')).toStartWith('/events?');
});

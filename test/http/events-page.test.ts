/**
 * The event explorer stays small and quick whatever a query and its answer are: the page is made at once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';

const EVENTS = 300;
let svc: Service;
let root: Client;

beforeAll(async () => {
  svc = await startService({ config: { events: { min_free_bytes: 1 } } });
  await svc.createSuperuser('root');
  root = await svc.as('root');
  const fields = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field${n}`, n]));
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    data: `event ${n}`,
    extracted_fields: fields,
  }));
  const large = Array.from({ length: 8 }, () => ({ data: 'large '.repeat(60_000), index: 'big' }));
  for (const body of [events, large]) {
    const { status } = await root.fetch('/api/events/', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    expect(status).toBe(201);
  }
});
afterAll(() => svc?.[Symbol.asyncDispose]());

async function page(q: string): Promise<string> {
  const query = new URLSearchParams({ q, earliest: '', limit: '5000' });
  const response = await root.fetch(`/events?${query}`, { headers: { Accept: 'text/html' } });
  expect(response.status).toBe(200);
  return response.text();
}

test('links that repeat a long query end where the page has enough of them', async () => {
  const short = await page('index=default');
  expect(short.match(/>\s*only\s*</g)?.length).toBeGreaterThan(1000);
  const long = await page(`index=default ${'(field1=1 OR event) '.repeat(300)}`);
  expect(long.match(/<li data-id=/g)?.length).toBeGreaterThanOrEqual(EVENTS);
  expect(long.match(/>\s*only\s*</g)?.length).toBeLessThan(100);
  expect(long.length).toBeLessThan(4 * 2 ** 20);
});

test('of large events it shows as many as fit, and offers more', async () => {
  const html = await page('index=big');
  expect(html.length).toBeLessThan(4 * 2 ** 20);
  expect(html).toContain('first ');
});

test('its days are of the zone in its address, which its form and its links keep (EV-95)', async () => {
  const q = 'index=big | eval d=strftime("2026-07-01T23:30:00Z","%F") | table d';
  const get = async (query: Record<string, string>): Promise<string> =>
    (
      await root.fetch(`/events?${new URLSearchParams(query)}`, {
        headers: { Accept: 'text/html' },
      })
    ).text();
  const zoned = await get({ q, earliest: '', timezone: 'Europe/Berlin' });
  expect(zoned).toContain('2026-07-02');
  expect(zoned).toContain('<option value="Europe/Berlin" selected>');
  expect(zoned).toMatch(/href="\/events\?[^"]*timezone=Europe%2FBerlin[^"]*format=csv/);
  for (const timezone of ['', 'UTC', '"><script>', 'Nowhere']) {
    const plain = await get({ q, earliest: '', timezone });
    expect(plain).toContain('2026-07-01');
    expect(plain).toContain(
      '<select name="timezone"><option value="UTC" selected>UTC</option></select>',
    );
  }
});

/**
 * Pictures of the pages, light, dark and on a phone, into build/out/screens: for looking at, before a page is called done.
 * `bun run screens [page…]`; each page is a line of the list below.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, signIn, TestBrowser } from '../test/support/browser.ts';
import { type Service, startService } from '../test/support/service.ts';
import { filesBelow } from './example-files.ts';
import { root } from './step.ts';

const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const;

/** Name of the picture and address; those of `anonymous` are taken before the sign-in. */
const anonymous = { welcome: '/', login: '/auth/login' };
const pages = {
  landing: '/',
  folder: '/?folder=climate',
  document: '/climate',
  source: '/climate?source=true',
  gallery: '/ui/media',
  player: '/ui/media/chord',
  search: '/search?q=seattle',
  dataset: '/ui/climate/seattle-weather/',
  docs: '/docs',
  profile: '/profile',
  events: '/events',
  'events-chart': '/events?q=*+%7C+timechart+count+by+level&earliest=-24h',
  'events-error': '/events?q=error+%7C+stat+count',
  savedsearches: '/savedsearches',
  missing: '/nothing-here',
};

const target = join(root, 'build/out/screens');
const wanted = new Set(process.argv.slice(2));

async function takeAll(): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const files = filesBelow(join(root, 'examples/docroot'));
  await using service = await startService({ files, config: { upload: { enabled: true } } });
  await service.createSuperuser('ada', PASSWORD);
  await sendEvents(service);
  await using browser = await TestBrowser.start();
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await browser.open(service, options);
    const take = async (list: Readonly<Record<string, string>>): Promise<void> => {
      for (const [name, path] of Object.entries(list)) {
        if (wanted.size > 0 && !wanted.has(name)) continue;
        await page.goto(path, { waitUntil: 'networkidle' });
        await page.screenshot({ path: join(target, `${name}-${look}.png`) });
      }
    };
    await take(anonymous);
    await signIn(page, 'ada');
    await take(pages);
    await page.context().close();
  }
  for (const report of browser.reports) console.log(`reported: ${report}`);
}

/** A day of a small web site's log. */
async function sendEvents(service: Service): Promise<void> {
  const client = await service.as('ada');
  const paths = ['/', '/shop', '/shop/cart', '/api/orders', '/login'];
  const now = Date.now();
  const events = Array.from({ length: 900 }, (_, index) => {
    const level = index % 23 === 0 ? 'error' : index % 7 === 0 ? 'warning' : 'info';
    const event_time = new Date(now - index ** 1.3 * 12_000).toISOString();
    const ms = 12 + ((index * 7919) % 480);
    const status = level === 'error' ? 503 : 200;
    const path = paths[(index * 31) % paths.length];
    return {
      host: `web-${1 + (index % 3)}`,
      source: 'nginx',
      sourcetype: 'json',
      data: JSON.stringify({ event_time, level, status, path, ms }),
    };
  });
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(events);
  const response = await client.fetch('/api/events/', { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`The events were refused: ${await response.text()}`);
  const saved = {
    name: 'Errors by host',
    query: 'level=error | stats count by host',
    is_public: true,
  };
  await client.fetch('/api/savedsearches/', {
    method: 'POST',
    headers,
    body: JSON.stringify(saved),
  });
}

await takeAll();

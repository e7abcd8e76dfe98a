/**
 * Pictures of the pages, light, dark and on a phone, into build/out/screens: for looking at, before a page is called done.
 * `bun run screens [page…]`; each page is a line of the list below.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { signIn, TestBrowser } from '../test/support/browser.ts';
import { PASSWORD } from '../test/support/password.ts';
import { fire } from '../test/support/firing.ts';
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
  'dataset-chart':
    '/ui/climate/seattle-weather/?chart=line&x=date&y=temp_max&measure=mean&values=1&pinned=date',
  ask: '/ui/climate/seattle-weather/?ask=',
  'ask-bars':
    '/ui/climate/seattle-weather/?ask=from+climate%2Fseattle-weather+%7C+stats+avg(temp_max)+AS+warm,+sum(precipitation*1)+AS+rain+BY+weather&chart=1',
  'ask-error':
    '/ui/climate/seattle-weather/?ask=SELECT+weather,+count(*)+FROM+%22climate/seattle-weather%22+GROUP+BY+weather',
  'file-layout': '/ui/climate/seattle-weather/?layout=1',
  row: '/ui/climate/seattle-weather/?row=1',
  'row-delete': '/ui/climate/seattle-weather/?row=1&delete=1',
  dashboard: '/ui/overview/',
  'dashboard-events': '/ui/servers/',
  docs: '/docs',
  'docs-operation': '/docs?method=post&path=/api/climate/seattle-weather/',
  guide: '/docs/guide',
  'guide-chapter': '/docs/guide/shippers',
  'guide-search': '/docs/guide?q=api+key',
  'search-language': '/docs/search-language',
  profile: '/profile',
  events: '/events',
  'events-chart': '/events?q=*+%7C+timechart+count+by+level&earliest=-24h',
  'events-error': '/events?q=error+%7C+stat+count',
  'events-bars': '/events?q=*+%7C+stats+count,avg(ms)+by+level&chart=1',
  'events-table': '/events?form=table',
  'events-live': '/events?live=1',
  'events-empty': '/events?earliest=2001-01-01&latest=2001-01-02',
  savedsearches: '/savedsearches',
  alerts: '/ui/alerts',
  alert: '/ui/alerts/1',
  findings: '/ui/findings',
  finding: '/ui/findings/2',
  missing: '/nothing-here',
  admin: '/admin/',
  'admin-users': '/admin/ui/users',
  'admin-user': '/admin/ui/users/1',
  'admin-groups': '/admin/ui/groups',
  'admin-group': '/admin/ui/groups/1',
  'admin-share': '/admin/ui/share?resource=climate/*',
  'admin-permissions': '/admin/ui/permissions',
  'admin-explain': '/admin/ui/explain?user=bea&resource=climate/seattle-weather&right=read',
  'admin-who-may': '/admin/ui/explain?resource=climate/seattle-weather&right=read',
  'admin-api-keys': '/admin/ui/api-keys',
  'admin-sessions': '/admin/ui/sessions',
  'admin-audit': '/admin/ui/audit',
  'admin-resources': '/admin/ui/resources',
  'admin-events': '/admin/ui/events',
  'admin-deliveries': '/admin/ui/deliveries',
  'admin-locks': '/admin/ui/locks',
  'admin-cache': '/admin/ui/cache',
};

/** Those that are taken as they come out of a printer, too. */
const printed = ['document', 'dataset', 'dataset-chart', 'events', 'events-chart', 'admin-audit'];

const target = join(root, 'build/out/screens');
const wanted = new Set(process.argv.slice(2));

/** Somebody to administer, and something in the audit. */
async function peopleOf(service: Service): Promise<void> {
  const { accounts } = service;
  await accounts.grant('bea', 'climate/*', 'read', 'write');
  await accounts.grant('carl', 'reports/*', 'read');
  await accounts.apiKey('bea', ['read:climate/*']);
  await accounts.session('bea');
  const ada = await service.inBrowserAs('ada');
  const change = (method: string, path: string, body?: unknown): Promise<Response> =>
    ada.fetch(path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  await change('POST', '/admin/users', { username: 'dora', password: PASSWORD });
  await change('POST', '/admin/groups', { name: 'Meteorology', description: 'Forecast team' });
  await change('POST', '/admin/permissions', { resource: '@events/app', action: 'read' });
  await change('POST', '/api/events/', { index: 'app', source: 'web', data: 'user logged in' });
  await change('POST', '/api/events/', { source: 'web' });
  await change('POST', '/api/alerts/', {
    title: 'Failed logins',
    query: 'index=auth "Failed password" | stats count by host',
    schedule: '*/5 * * * *',
    timezone: 'Europe/Vienna',
    window: '10m',
    when: { type: 'value', column: 'count', more_than: 10 },
    by: ['host'],
    severity: 'high',
  });
  await change('POST', '/api/alerts/1/run');
  await (await service.as('carl')).fetch('/api/climate/seattle-weather/');
  for (const [address, severity] of [
    ['198.51.100.7', 'medium'],
    ['203.0.113.9', 'critical'],
  ] as const) {
    const rows = [{ address, count: 12 }];
    const deliveries = [{ type: 'webhook', url: 'https://hooks.example.org/T0' } as const];
    await fire(accounts.db, { key: address, severity, rows, deliveries, at: Date.now() * 1000 });
  }
}

async function takeAll(): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const files = {
    ...filesBelow(join(root, 'examples/docroot')),
    'servers.dashboard.yaml': SERVERS,
  };
  await using service = await startService({ files, config: { upload: { enabled: true } } });
  await service.createSuperuser('ada', PASSWORD);
  await sendEvents(service);
  await peopleOf(service);
  await using browser = await TestBrowser.start();
  for (const [look, options] of Object.entries(LOOKS)) {
    const page = await browser.open(service, options);
    // On a busy machine the slowest page takes its time.
    page.setDefaultTimeout(60_000);
    const take = async (list: Readonly<Record<string, string>>): Promise<void> => {
      for (const [name, path] of Object.entries(list)) {
        if (wanted.size > 0 && !wanted.has(name)) continue;
        await page.goto(path, { waitUntil: 'networkidle' });
        await page.screenshot({ path: join(target, `${name}-${look}.png`) });
        if (look !== 'dark' || !printed.includes(name)) continue;
        await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
        // Not waitForFunction, whose second look the content policy of the page refuses.
        while (!(await page.evaluate<boolean>('matchMedia("print").matches'))) await Bun.sleep(20);
        await page.screenshot({ path: join(target, `${name}-print.png`) });
        await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
      }
    };
    await take(anonymous);
    await signIn(page, 'ada');
    await take(pages);
    await page.context().close();
  }
  for (const report of browser.reports) console.log(`reported: ${report}`);
}

const SERVERS = `title: Web servers
refresh: 30s
variables:
  - { name: host, label: Server, type: choice, query: '* | stats count by host | sort host', all: All }
rows:
  - panels:
      - { title: Requests, query: '* | timechart span=1h count', form: single }
      - { title: Errors, query: 'level=error | stats count', form: single, options: { thresholds: [{ from: 1, color: warn }, { from: 30, color: error }] } }
      - { title: Mean time, query: '* | stats avg(ms) as mean', form: single, options: { unit: ms, decimals: 0 } }
      - { text: '**On duty**: see [the climate](climate/index.md).', width: 3 }
      - { title: By level, query: '* | where {host}="" OR host={host} | timechart span=1h count by level', form: stacked-bar, width: 8, options: { drilldown: true } }
      - { title: Paths, query: '* | stats count by path', form: pie, width: 4 }
      - { title: Where the time goes, query: '* | timechart span=1h avg(ms) by host', form: heat-map }
      - { title: Not there, query: 'from nowhere' }
      - { title: Last, query: 'level=error | head 20', form: events }
`;

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

/** Links (DS-270): what whoever has one sees, and everything they do not. What all routes answer: `route-matrix.test.ts`. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { soon } from './eventually.ts';

const FILES = {
  'sales/orders.csv':
    'id,customer,amount,margin\n1,Acme,10,0.11\n2,Bolt,20,0.22\n3,Acme,30,0.33\n4,Acme,40,0.44\n',
  '.svc/sales/orders.csv.options.json': '{}',
  'sales/notes.md': '# Notes\n\nHidden words: zebra\n',
  'sales/.hidden.csv': 'a\n1\n',
  'sales/handler.ts': `import { Elysia } from 'elysia';
export const router = new Elysia().get('/', () => 'handled');
`,
  'other.csv': 'secret\n42\n',
};
const VIEW = { filter: '{"customer":"Acme"}', sort: '-amount', columns: ['id', 'amount'] };

let service: Service;
let ada: Client;

beforeAll(async () => {
  service = await startService({ files: FILES });
  await service.accounts.user('ada', { superuser: true });
  ada = await service.as('ada');
});
afterAll(() => service[Symbol.asyncDispose]());

interface Made {
  readonly id: number;
  readonly path: string;
}

async function made(body: object, client: Client = ada): Promise<Made> {
  const response = await client.fetch('/auth/links', {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 201 });
  const { id, url } = JSON.parse(text) as { id: number; url: string };
  return { id, path: new URL(url).pathname.slice(0, -1) };
}

async function refusal(
  body: object,
  client: Client = ada,
): Promise<{ status: number; text: string }> {
  const response = await client.fetch('/auth/links', {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

async function status(path: string, init?: RequestInit): Promise<number> {
  return (await service.fetch(path, init)).status;
}

describe('a view of a dataset', () => {
  let link: Made;
  beforeAll(async () => {
    link = await made({ resource: 'sales/orders', ...VIEW });
  });

  test('shows its rows and columns in its order, in every form', async () => {
    const rows = await service.fetch(`${link.path}/api/sales/orders/`);
    expect(rows.headers.get('X-Total-Count')).toBe('3');
    expect(await rows.json()).toEqual([
      { _row_id: 4, id: 4, amount: 40 },
      { _row_id: 3, id: 3, amount: 30 },
      { _row_id: 1, id: 1, amount: 10 },
    ]);
    const csv = await service.fetch(`${link.path}/api/sales/orders/?format=csv&limit=2&offset=1`);
    expect(await csv.text()).toBe('id,amount\n3,30\n1,10\n');
    const one = await service.fetch(`${link.path}/api/sales/orders/3/`);
    expect(await one.json()).toEqual({ _row_id: 3, id: 3, amount: 30 });
    const schema = await service.fetch(`${link.path}/schema/sales/orders/`);
    expect(Object.keys(((await schema.json()) as { columns: object }).columns)).toEqual([
      'id',
      'amount',
    ]);
  });

  test('is led to from its address', async () => {
    const headers = { Accept: 'text/html' };
    const front = await service.fetch(`${link.path}/`, { headers });
    expect(front.headers.get('Location')).toBe(`${link.path}/ui/sales/orders/`);
    const page = await service.fetch(front.headers.get('Location')!, { headers });
    expect(page.status).toBe(200);
    const text = await page.text();
    for (const hidden of ['customer', 'Acme', 'Bolt', 'margin', '0.11', 'ada', 'sign in']) {
      expect(text.toLowerCase()).not.toContain(hidden.toLowerCase());
    }
    expect(text).toContain(`${link.path}/api/sales/orders/?format=csv`);
  });

  const NAMES = ['sort', 'order', 'filter', 'q', 'columns', 'cursor', 'at', 'row', 'ask', 'layout'];
  const MORE = ['history', 'summary', 'version', 'since', 'dry_run', 'download', 'raw', 'where'];
  test.each([...NAMES, ...MORE])('takes no %s', async (name) => {
    for (const family of ['api', 'ui']) {
      for (const value of ['margin', '{"margin":{"$gt":0.3}}', '1', '']) {
        const query = new URLSearchParams({ [name]: value });
        const response = await service.fetch(`${link.path}/${family}/sales/orders/?${query}`);
        const text = await response.text();
        expect({ family, status: response.status }).toEqual({ family, status: 422 });
        expect(text).not.toMatch(/customer|Acme|0\.\d\d/);
      }
    }
  });

  test.each([
    ['a row outside of it', '/api/sales/orders/2/'],
    ['the file', '/sales/orders.csv'],
    ['its companion', '/.svc/sales/orders.csv.options.json'],
    ['another file of the folder', '/sales/notes'],
    ['its history', '/api/sales/orders/history'],
    ['its feed', '/api/sales/orders/changes'],
    ['the feed of its folder', '/api/sales/changes'],
    ['the feed of all', '/api/changes'],
    ['another dataset', '/api/other/'],
    ['a missing dataset', '/api/missing/'],
    ['a handler', '/api/sales/handler/'],
  ])('does not open %s', async (_, path) => {
    expect(await status(link.path + path)).toBe(404);
  });

  test('is not changed', async () => {
    const before = readFileSync(join(service.docroot, 'sales/orders.csv'), 'utf8');
    for (const method of ['POST', 'PATCH', 'DELETE', 'PUT']) {
      const body = JSON.stringify({ action: 'delete', data: { _row_id: 1 } });
      const init = { method, body, headers: { 'Content-Type': 'application/json' } };
      for (const path of ['/api/sales/orders/', '/api/sales/orders/1/', '/ui/sales/orders/']) {
        expect(await status(link.path + path, init)).toBe(403);
      }
    }
    expect(readFileSync(join(service.docroot, 'sales/orders.csv'), 'utf8')).toBe(before);
  });

  test('has no column that is added later, and no cursor and tag that tell of the filter', async () => {
    const first = await service.fetch(`${link.path}/api/sales/orders/?limit=1`);
    expect(first.headers.get('Link')).toBeNull();
    const query = new URLSearchParams({ ...VIEW, columns: 'id,amount', limit: '1' });
    const own = await ada.fetch(`/api/sales/orders/?${query}`);
    expect(await own.json()).toEqual(await first.json());
    expect(first.headers.get('ETag')).not.toBe(own.headers.get('ETag'));
  });

  test('keeps its address to itself', async () => {
    for (const path of ['/', '/api/sales/orders/', '/ui/sales/orders/', '/api/other/']) {
      const { headers } = await service.fetch(link.path + path);
      expect(headers.get('Referrer-Policy')).toBe('no-referrer');
      expect(headers.get('X-Robots-Tag')).toContain('noindex');
      expect(headers.get('Cache-Control')).toMatch(/^(?:private|no-store)/);
    }
    const page = await (await service.fetch(`${link.path}/ui/sales/orders/`)).text();
    const style = /href="([^"]+\.css)"/.exec(page)![1]!;
    const cached = (await service.fetch(style)).headers.get('Cache-Control');
    expect(cached).toMatch(/^private/);
  });

  test('a sort by a hidden column, an unknown column and an unknown dataset are refused', async () => {
    const hidden = await refusal({ resource: 'sales/orders', sort: 'margin', columns: ['id'] });
    expect(hidden).toMatchObject({ status: 422 });
    expect(await refusal({ resource: 'sales/orders', columns: ['nothing'] })).toMatchObject({
      status: 422,
    });
    expect(await refusal({ resource: 'nothing' })).toMatchObject({ status: 404 });
    expect(await refusal({ resource: 'sales/handler' })).toMatchObject({ status: 400 });
    expect(await refusal({ resource: 'sales/notes.md', sort: 'id' })).toMatchObject({
      status: 422,
    });
  });
});

test('an account that comes along counts for nothing, and is not ended', async () => {
  const { path } = await made({ resource: 'sales/orders', ...VIEW });
  const { cookie, csrfToken } = await service.accounts.session('ada');
  const headers = { Cookie: cookie, 'X-CSRF-Token': csrfToken, 'X-API-Key': 'ak_wrong' };
  for (const [target, expected] of [
    ['/api/other/', 404],
    ['/auth/me', 403],
    ['/admin/users', 403],
    ['/api/sales/orders/', 200],
  ] as const) {
    const response = await service.fetch(path + target, { headers });
    expect({ target, status: response.status }).toEqual({ target, status: expected });
    expect(response.headers.get('Set-Cookie')).toBeNull();
  }
  expect(await status('/auth/me', { headers: { Cookie: cookie } })).toBe(200);
});

describe('a folder', () => {
  test('has its files at that moment, without companions, hidden files and handlers', async () => {
    const { path } = await made({ resource: 'sales/*' });
    const listed = async (): Promise<unknown> =>
      ((await (await service.fetch(`${path}/`)).json()) as { files: unknown }).files;
    const files = [
      { name: 'notes', address: '/sales/notes' },
      { name: 'orders', address: '/api/sales/orders/' },
    ];
    expect(await listed()).toEqual(files);
    service.write('sales/later.csv', 'x\n1\n');
    await soon(listed).toEqual([{ name: 'later', address: '/api/sales/later/' }, ...files]);
    expect(await status(`${path}/sales/orders.csv`)).toBe(200);
    expect(await status(`${path}/sales/notes`)).toBe(200);
    for (const hidden of ['sales/.hidden.csv', '.svc/sales/orders.csv.options.json', 'other.csv']) {
      expect({ hidden, status: await status(`${path}/${hidden}`) }).toEqual({
        hidden,
        status: 404,
      });
    }
    expect(await status(`${path}/api/sales/handler/`)).toBe(404);
    for (const past of [
      'api/sales/orders/history',
      'api/sales/orders/changes',
      'api/sales/changes',
    ]) {
      expect({ past, status: await status(`${path}/${past}`) }).toEqual({ past, status: 404 });
    }
    expect(await status(`${path}/api/sales/orders/?sort=-margin&limit=1`)).toBe(200);
    expect(await status(`${path}/ui/sales/orders/?history=1`)).toBe(422);
    const page = await service.fetch(`${path}/`, { headers: { Accept: 'text/html' } });
    expect(await page.text()).toContain(`href="${path}/ui/sales/orders/"`);
  });

  test('is refused with a view, and when there is nothing', async () => {
    expect(await refusal({ resource: 'sales/*', sort: 'id' })).toMatchObject({ status: 422 });
    expect(await refusal({ resource: 'nothing/*' })).toMatchObject({ status: 404 });
  });
});

describe('a link is over', () => {
  const dead = async (path: string): Promise<void> => {
    for (const target of ['/', '/api/sales/orders/', '/ui/sales/orders/']) {
      const response = await service.fetch(path + target, { headers: { Accept: 'text/html' } });
      expect({ target, status: response.status }).toEqual({ target, status: 404 });
    }
    const page = await service.fetch(`${path}/`, { headers: { Accept: 'text/html' } });
    expect(await page.text()).toContain('This link does not work');
  };

  test('when it is withdrawn, by its maker only or an administrator', async () => {
    const { id, path } = await made({ resource: 'sales/orders' });
    const other = await service.as('somebody');
    expect((await other.fetch(`/auth/links/${id}`, { method: 'DELETE' })).status).toBe(404);
    expect(await status(`${path}/api/sales/orders/`)).toBe(200);
    expect((await ada.fetch(`/admin/links/${id}`, { method: 'DELETE' })).status).toBe(200);
    await dead(path);
    expect((await ada.fetch(`/auth/links/${id}`, { method: 'DELETE' })).status).toBe(204);
  });

  test('when its time is over', async () => {
    const path = await service.accounts.link('ada', 'sales/*', { lifeMs: -1 });
    await dead(path);
  });

  test('when it never was', () => dead('/s/AAAAAAAAAAAAAAAAAAAAAA'));

  test('when its maker may no longer read, or is deactivated, and again as soon as may be', async () => {
    const { db } = service.accounts;
    await service.accounts.grant('bob', 'sales/*', 'read');
    const path = await service.accounts.link('bob', '*');
    expect(await status(`${path}/api/sales/orders/`)).toBe(200);
    expect(await status(`${path}/api/other/`)).toBe(404);
    await db.run('UPDATE users SET is_active = 0 WHERE username = ?', ['bob']);
    await dead(path);
    await db.run('UPDATE users SET is_active = 1 WHERE username = ?', ['bob']);
    expect(await status(`${path}/api/sales/orders/`)).toBe(200);
    await db.run(
      'DELETE FROM group_members WHERE user_id = (SELECT id FROM users WHERE username = ?)',
      ['bob'],
    );
    await dead(path);
  });

  test('when the columns of its view are gone, without naming them', async () => {
    service.write('gone.csv', 'id,margin\n1,2\n');
    await soon(async () => (await ada.fetch('/api/gone/')).status).toBe(200);
    const { path } = await made({ resource: 'gone', filter: '{"margin":2}', columns: ['id'] });
    expect(await status(`${path}/api/gone/`)).toBe(200);
    service.write('gone.csv', 'id,profit\n1,2\n');
    expect(await (await ada.fetch('/api/gone/?columns=profit')).json()).toHaveLength(1);
    const response = await service.fetch(`${path}/api/gone/`);
    expect(response.status).toBe(422);
    expect(await response.text()).not.toMatch(/margin|profit/);
  });
});

describe('a password', () => {
  const PASSWORD = 'lorry-velvet-anchor-17';
  const enter = (path: string, password: string): Promise<Response> =>
    service.fetch(`${path}/`, {
      method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams({ password }),
    });

  test('is asked for before anything is told, and its cookie opens this link only', async () => {
    const first = await made({ resource: 'sales/orders', password: PASSWORD });
    const second = await made({ resource: 'sales/orders', password: PASSWORD });
    const headers = { Accept: 'text/html' };
    expect(await status(`${first.path}/api/sales/orders/`)).toBe(401);
    const led = await service.fetch(`${first.path}/ui/sales/orders/`, { headers });
    expect(led.headers.get('Location')).toBe(`${first.path}/`);
    const asked = await service.fetch(`${first.path}/`, { headers });
    expect(asked.status).toBe(401);
    expect(await asked.text()).not.toContain('orders');
    const wrong = await enter(first.path, 'not this one');
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get('Set-Cookie')).toBeNull();
    const right = await enter(first.path, PASSWORD);
    expect(right.status).toBe(303);
    const cookie = right.headers.get('Set-Cookie')!;
    expect(cookie).toContain(`Path=${first.path}/`);
    expect(cookie).toContain('HttpOnly');
    const sent = { headers: { Cookie: cookie.split(';')[0]! } };
    expect(await status(`${first.path}/api/sales/orders/`, sent)).toBe(200);
    expect(await status(`${second.path}/api/sales/orders/`, sent)).toBe(401);
  });

  test('is throttled per link, also the right one', async () => {
    const { path } = await made({ resource: 'sales/orders', password: PASSWORD });
    for (let attempt = 0; attempt < 10; attempt++) await enter(path, 'wrong');
    const late = await enter(path, PASSWORD);
    expect(late.status).toBe(429);
    expect(Number(late.headers.get('Retry-After'))).toBeGreaterThan(0);
    // Ten hashes on a machine that does other things too.
  }, 120_000);

  test('that is easy to guess is refused', async () => {
    expect(await refusal({ resource: 'other', password: 'password' })).toMatchObject({
      status: 400,
    });
  });
});

describe('uploads', () => {
  const TEXT = 'a\n1\n';
  let svc: Service;
  let root: Client;
  beforeAll(async () => {
    const config = {
      upload: { enabled: true, max_size_bytes: 2000, denied_extensions: ['.exe'] },
      sharing: { max_upload_bytes: 10_000 },
    };
    svc = await startService({
      files: { 'in/seen.csv': 'old\n1\n', 'other.csv': 'n\n1\n' },
      config,
    });
    await svc.accounts.user('ada', { superuser: true });
    root = await svc.as('ada');
  });
  afterAll(() => svc[Symbol.asyncDispose]());

  const send = (path: string, name: string, content = TEXT, more: Record<string, string> = {}) => {
    const form = new FormData();
    for (const [field, value] of Object.entries(more)) form.set(field, value);
    form.set('file', new File([content], name));
    return svc.fetch(`${path}/`, { method: 'POST', body: form });
  };
  const inFolder = (): string[] => readdirSync(join(svc.docroot, 'in')).toSorted();

  test('put files into the folder, replace nothing, and tell of nothing', async () => {
    const { id, path } = await made({ resource: 'in/*', kind: 'upload' }, root);
    const taken = await send(path, 'seen.csv');
    expect(taken.status).toBe(201);
    const free = await send(path, 'new.csv', TEXT, { filename: '../../escape.csv' });
    // The same answer whether there was a file of that name or not.
    const { filename: _, ...first } = (await taken.json()) as Record<string, unknown>;
    expect(await free.json()).toEqual({ filename: 'new.csv', ...first });
    expect(inFolder()).toEqual(['new.csv', 'seen (2).csv', 'seen.csv']);
    expect(readFileSync(join(svc.docroot, 'in/seen.csv'), 'utf8')).toBe('old\n1\n');
    for (const inside of [
      '/api/in/new/',
      '/in/new.csv',
      '/api/in/seen/',
      '/ui/in/',
      '/api/other/',
    ]) {
      const response = await svc.fetch(path + inside);
      expect({ inside, status: response.status }).toEqual({ inside, status: 404 });
    }
    const front = await svc.fetch(`${path}/`, { headers: { Accept: 'text/html' } });
    expect(await front.text()).not.toMatch(/seen|new\.csv|ada/);
    expect((await root.fetch('/api/in/new/')).status).toBe(200);
    const audit = (await (await root.fetch('/admin/audit-logs?limit=20')).json()) as object[];
    expect(audit).toContainEqual(
      expect.objectContaining({
        action: 'upload_success',
        details: `created in/new.csv (link ${id} of ada)`,
        user_id: null,
      }) as object,
    );
  });

  test('keep to the rules and limits of uploads, and to the room of the link', async () => {
    const { id, path } = await made({ resource: 'in/*', kind: 'upload' }, root);
    for (const [name, content, expected] of [
      ['tool.exe', TEXT, 400],
      ['code.ts', TEXT, 400],
      ['.hidden', TEXT, 400],
      ['large.csv', 'x'.repeat(2500), 413],
    ] as const) {
      const { status } = await send(path, name, content);
      expect({ name, status }).toEqual({ name, status: expected });
    }
    const sized = await Promise.all(
      [1, 2, 3].map((at) => send(path, `r${at}.csv`, 'y'.repeat(1400))),
    );
    const stored = sized.filter(({ status }) => status === 201).length;
    // Each counts as at least 4 KiB, also while it is under way.
    expect(stored).toBe(2);
    expect(sized.filter(({ status }) => status === 413)).toHaveLength(3 - stored);
    const filter = encodeURIComponent(JSON.stringify({ id }));
    const [link] = (await (await root.fetch(`/admin/links?filter=${filter}`)).json()) as object[];
    expect(link).toMatchObject({
      kind: 'upload',
      uploaded_bytes: stored * 4096,
      max_bytes: 10_000,
    });
  });

  test('stop when the maker may no longer upload, and are refused where nobody could', async () => {
    await svc.accounts.grant('eve', 'in/*', 'read', 'write');
    const path = await svc.accounts.link('eve', 'in/*', { kind: 'upload', maxBytes: 10_000 });
    expect((await send(path, 'of-eve.csv')).status).toBe(201);
    const eve = await svc.as('eve');
    expect((await eve.fetch('/api/in/of-eve/')).status).toBe(200);
    await svc.accounts.db.run('DELETE FROM group_members');
    expect((await send(path, 'late.csv')).status).toBe(403);
    expect((await svc.fetch(`${path}/`)).status).toBe(404);
    expect(inFolder()).not.toContain('late.csv');
    for (const [body, expected] of [
      [{ resource: 'nothing/*' }, 404],
      [{ resource: '../*' }, 404],
      [{ resource: 'in/seen.csv' }, 422],
      [{ resource: 'in/*', sort: 'a' }, 422],
    ] as const) {
      const { status } = await refusal({ kind: 'upload', ...body }, root);
      expect({ body, status }).toEqual({ body, status: expected });
    }
  });

  test('wait for the password', async () => {
    const password = 'lorry-velvet-anchor-17';
    const { path } = await made({ resource: 'in/*', kind: 'upload', password }, root);
    const before = inFolder();
    expect((await send(path, 'early.csv')).status).toBe(401);
    expect(inFolder()).toEqual(before);
  });
});

describe('who makes links', () => {
  test('superusers, unless the configuration says readers; never with a limited key', async () => {
    await service.accounts.grant('eve', 'sales/*', 'read');
    const eve = await service.as('eve');
    expect(await refusal({ resource: 'sales/orders' }, eve)).toMatchObject({ status: 403 });
    const key = await service.accounts.apiKey('ada', ['read']);
    const scoped = service.withHeaders({ 'X-API-Key': key });
    expect(await refusal({ resource: 'sales/orders' }, scoped)).toMatchObject({ status: 403 });
    const config = { sharing: { links: 'readers', max_days: 5, requires_password: true } };
    await using open = await startService({ files: FILES, config });
    await open.accounts.grant('eve', 'sales/*', 'read');
    const reader = await open.as('eve');
    const password = 'lorry-velvet-anchor-17';
    const ask = async (body: object): Promise<number> => (await refusal(body, reader)).status;
    expect(await ask({ resource: 'sales/orders', password })).toBe(201);
    expect(await ask({ resource: 'sales/orders' })).toBe(422);
    expect(await ask({ resource: 'sales/orders', password, expires_in_days: 6 })).toBe(422);
    expect(await ask({ resource: 'sales/orders', password, expires_at: '2000-01-01' })).toBe(422);
    expect(await ask({ resource: 'other', password })).toBe(403);
    expect(await ask({ resource: 'other/*', password })).toBe(404);
  });
});

test('openings are counted, audited as the link, and listed; the secret is kept nowhere', async () => {
  const { id, path } = await made({ resource: 'sales/orders', description: 'for Acme' });
  await (await service.fetch(`${path}/api/sales/orders/`)).text();
  const follow = { headers: { 'Sec-Fetch-Site': 'same-origin' } };
  await (await service.fetch(`${path}/api/sales/orders/`, follow)).text();
  const filter = encodeURIComponent(JSON.stringify({ id }));
  const listed = await ada.fetch(`/admin/links?filter=${filter}`);
  expect(await listed.json()).toMatchObject([
    { id, username: 'ada', uses: 1, description: 'for Acme', has_password: false },
  ]);
  const opened = encodeURIComponent('{"action":"open_link"}');
  const audit = await ada.fetch(`/admin/audit-logs?filter=${opened}`);
  expect(await audit.json()).toContainEqual(
    expect.objectContaining({
      action: 'open_link',
      resource: 'sales/orders.csv',
      details: `Opened a link (link ${id} of ada)`,
      user_id: null,
    }) as object,
  );
  const secret = path.slice('/s/'.length);
  expect(service.stdout() + service.stderr()).not.toContain(secret);
  const state = readdirSync(service.stateDir, { recursive: true, withFileTypes: true });
  for (const entry of state) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    expect({ file, has: readFileSync(file).includes(secret) }).toEqual({ file, has: false });
  }
});

test('sharing.links: off stops them all', async () => {
  await using off = await startService({ files: FILES, config: { sharing: { links: 'off' } } });
  await off.accounts.user('ada', { superuser: true });
  const path = await off.accounts.link('ada', 'sales/*');
  expect((await off.fetch(`${path}/api/sales/orders/`)).status).toBe(404);
});

/**
 * What one caller's searches may cost the server: memory of large answers, turns, work nobody waits for, names a query
 * uses, very many indexes (EV-98, SL-7, reliability B-F).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Client, type Service, startService } from '../support/service.ts';
import { eventually } from './eventually.ts';
import { childrenOf, forgetPeak, memoryOf, workOf } from './process-memory.ts';

const MIB = 2 ** 20;
const ROWS = Array.from({ length: 3000 }, (_, index) => `${index},h${index % 7}`);
const JOIN = 'join host [ from many | fields host ]';
/** Half a milliard rows: minutes of work. */
const SLOW = `from many | fields host | ${JOIN} | ${JOIN}`;

let svc: Service;
let root: Client;

beforeAll(async () => {
  svc = await startService({
    files: { 'many.csv': `n,host\n${ROWS.join('\n')}\n`, 'assets.csv': 'host,owner\nh1,web\n' },
    config: {
      events: {
        min_free_bytes: 1,
        throttle: { search: '' },
        search: { concurrent_per_user: 1, timeout_seconds: 300 },
      },
    },
  });
  await svc.accounts.user('root', { superuser: true });
  root = await svc.as('root');
});
afterAll(() => svc[Symbol.asyncDispose]());

function run(client: Client, body: object, init: RequestInit = {}): Promise<Response> {
  return client.fetch('/search2/api/run/', {
    ...init,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(init.headers as Record<string, string>) },
    body: JSON.stringify(body),
  });
}

async function ask(query: string, client = root): Promise<{ status: number; json: any }> {
  const response = await run(client, { query });
  return { status: response.status, json: await response.json() };
}

describe('a large answer as JSON', () => {
  /** 30 KB a row. */
  const WIDE = `${['"abcdefghijklmnopqrstuvwxyz1234"', ...Array.from({ length: 10 }, () => 's.s')]
    .map((text) => `eval s=${text.replace('.', ' . ')}`)
    .join(' | ')}`;

  test('goes through the server as it is read, and is whole', async () => {
    await ask('from many | head 1');
    forgetPeak(svc.pid);
    const before = memoryOf(svc.pid)!.resident;
    const query = `from many | ${WIDE} | table n, s`;
    const response = await run(root, { query }, { headers: { 'Accept-Encoding': 'identity' } });
    expect(response.status).toBe(200);
    const text = await response.text();
    // Held as a whole it would be more than 80.
    expect(memoryOf(svc.pid)!.peak - before).toBeLessThan(64 * MIB);
    expect(text.length).toBeGreaterThan(80 * MIB);
    const { rows, meta } = JSON.parse(text);
    expect([rows.length, rows[2999].n, rows[2999].s.length]).toEqual([3000, 2999, 30 * 1024]);
    expect(meta).toMatchObject({ count: 3000, truncated: false });
  });

  test('one past the memory of a query is a problem of its last stage, not a cut answer', async () => {
    const wider = `${WIDE} | eval s=s . s | eval s=s . s | eval s=s . s`;
    const { status, json } = await ask(`from many | ${wider} | table n, s`);
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'memory_budget', stage: 16, command: 'table' });
    expect(json.error).toStartWith('Query exceeded its memory budget of 256 MiB');
  });

  test('one nobody reads to its end gives its turn back', async () => {
    const leaving = new AbortController();
    const response = await run(
      root,
      { query: `from many | ${WIDE} | table n, s` },
      { signal: leaving.signal, headers: { 'Accept-Encoding': 'identity' } },
    );
    await response.body!.getReader().read();
    leaving.abort();
    await eventually(async () => expect((await ask('from many | head 1')).status).toBe(200));
  });
});

/** Milliseconds of processor time of the workers for queries, by process. */
function work(): Map<number, number> {
  const workers = childrenOf(svc.pid).filter(({ command }) => / child query /.test(command));
  return new Map(workers.map(({ pid }) => [pid, workOf(pid)]));
}

/** The worker that has worked for that long since then. */
async function busyWorker(since: Map<number, number>, ms: number): Promise<number> {
  return eventually(() => {
    const busy = [...work()].find(([pid, now]) => now - (since.get(pid) ?? 0) > ms);
    if (!busy) throw new Error('no worker works');
    return busy[0];
  }, 20_000);
}

/** The worker does nothing more: gone, or without any work between two looks. */
async function rest(pid: number): Promise<void> {
  await eventually(async () => {
    const before = work().get(pid);
    if (before === undefined) return;
    await Bun.sleep(100);
    expect(work().get(pid) ?? before).toBe(before);
  });
}

describe('a client that goes away (EV-98)', () => {
  test.each([
    ['before the answer', `${SLOW} | stats count`, 'json'],
    ['in the midst of a stream it reads', SLOW, 'ndjson'],
  ] as const)('%s: its worker stops working and its turn is free', async (_when, query, format) => {
    const since = work();
    const leaving = new AbortController();
    const answer = run(root, { query, format }, { signal: leaving.signal }).then(
      async (response) => {
        for await (const _chunk of response.body!);
        return 'answered';
      },
      () => 'left',
    );
    const told = answer.catch(() => 'left');
    const worker = await busyWorker(since, 300);
    leaving.abort();
    expect(await told).toBe('left');
    await rest(worker);
    // One search at once for a user: an answer means that the other is over.
    expect((await ask('from many | head 1')).status).toBe(200);
  });

  test('one that waits for its turn does not take it', async () => {
    const first = new AbortController();
    const since = work();
    const slow = run(root, { query: `${SLOW} | stats count` }, { signal: first.signal }).catch(
      () => 'left',
    );
    await busyWorker(since, 50);
    const second = new AbortController();
    const waiting = run(root, { query: 'from many | head 1' }, { signal: second.signal }).catch(
      () => 'left',
    );
    await Bun.sleep(50);
    second.abort();
    expect(await waiting).toBe('left');
    first.abort();
    expect(await slow).toBe('left');
    expect((await ask('from many | head 1')).status).toBe(200);
  });
});

test('histograms and lists of fields are searches too: they wait for their turn, tails do not (EV-98)', async () => {
  const stop = new AbortController();
  const since = work();
  const slow = run(root, { query: `${SLOW} | stats count` }, { signal: stop.signal }).catch(
    () => 'left',
  );
  await busyWorker(since, 50);
  // Twenty may wait.
  const figures = Array.from({ length: 24 }, (_, at) =>
    root.fetch(at % 2 === 0 ? '/api/events/histogram' : '/api/events/fields'),
  );
  const refused = await eventually(async () => {
    const early = await Promise.all(
      figures.map((one) => Promise.race([one, Bun.sleep(0).then(() => null)])),
    );
    const answered = early.filter((one) => one !== null);
    expect(answered).toHaveLength(4);
    return answered;
  });
  for (const response of refused) {
    expect(response.status).toBe(429);
    expect(await response.clone().json()).toEqual({ detail: 'Too many searches running.' });
  }
  const tail = new AbortController();
  const following = await root.fetch('/api/events/tail', { signal: tail.signal });
  expect(following.status).toBe(200);
  tail.abort();
  stop.abort();
  expect(await slow).toBe('left');
  const statuses = (await Promise.all(figures)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
});

describe('names inside of saved searches (SL-130)', () => {
  async function save(name: string, query: string): Promise<void> {
    const response = await root.fetch('/api/savedsearches/', {
      method: 'POST',
      body: JSON.stringify({ name, query }),
    });
    expect(response.status).toBe(201);
  }

  test('a dataset may be named by a parameter of the saved search', async () => {
    await save('first of', 'from {set} | head {n} | table host');
    expect((await ask('savedsearch "first of" set=assets n=1')).json.rows).toEqual([
      { host: 'h1' },
    ]);
    expect((await ask('savedsearch "first of" set=asset n=1')).json.error).toContain(
      "Unknown dataset 'asset' or no permission to read it; did you mean 'assets'?",
    );
  });

  test('ten deep are run, one more is too many; so is what calls itself through others', async () => {
    for (let at = 1; at <= 11; at++)
      await save(`deep ${at}`, at === 11 ? 'from assets' : `savedsearch "deep ${at + 1}"`);
    expect((await ask('savedsearch "deep 2"')).json.rows).toEqual([{ host: 'h1', owner: 'web' }]);
    expect((await ask('savedsearch "deep 1"')).json).toMatchObject({ code: 'too_large' });
    await save('ring a', 'savedsearch "ring b"');
    await save('ring b', 'savedsearch "ring a"');
    expect((await ask('savedsearch "ring a"')).json.error).toContain(
      'Saved search cycle: ring a -> ring b -> ring a',
    );
  });

  test('a query that uses very many names is refused, whatever they hold', async () => {
    const wide = Array.from(
      { length: 60 },
      (_, at) => `append [ from a${at} | append [ from b${at} ] ]`,
    ).join(' | ');
    const { status, json } = await ask(`from assets | ${wide}`);
    expect([status, json.code]).toEqual([400, 'too_large']);
    expect(json.error).toStartWith('A query may use 100 datasets');
  });

  test('texts that are hard to read are answered by a worker, while others are served', async () => {
    const texts = [
      '('.repeat(65_000),
      `x | append [ ${'append [ '.repeat(5000)}`,
      `${'a OR '.repeat(13_000)}b`,
      `* | where ${'('.repeat(32_000)}1${')'.repeat(32_000)}`,
      `* | where ${'NOT '.repeat(16_000)}1`,
      `* | eval ${'a=1,'.repeat(16_000)}b=1`,
      `* | where a ${'= a '.repeat(16_000)}`,
      `"${'\\"'.repeat(32_000)}`,
      `search --filter='${'__'.repeat(32_000)}=1'`,
      `search --filter='host__in=${'['.repeat(65_000)}'`,
      `* | rex "${'('.repeat(65_000)}"`,
      `${'{a}'.repeat(21_000)}`,
      `${'|'.repeat(65_000)}`,
    ];
    for (const query of texts) {
      const { status } = await ask(query);
      expect([query.slice(0, 30), [200, 400].includes(status)]).toEqual([query.slice(0, 30), true]);
      expect((await svc.fetch('/health')).status).toBe(200);
    }
  });
});

describe('very many indexes', () => {
  const COUNT = 33_000;

  test('a caller who may read more of them than SQLite takes values reads them everywhere (EV-23)', async () => {
    for (let from = 0; from < COUNT; from += 11_000) {
      const events = Array.from({ length: 11_000 }, (_, at) => ({
        index: `i/${from + at}`,
        data: 'x',
      }));
      const sent = await root.fetch('/api/events/', {
        method: 'POST',
        body: JSON.stringify(events),
      });
      expect(sent.status).toBe(201);
      await sent.body?.cancel();
    }
    await svc.accounts.grant('many', '@events/i/*', 'read');
    const many = await svc.as('many');
    const list = await many.fetch('/api/events/?limit=1&count=1');
    expect([list.status, list.headers.get('x-total-count')]).toEqual([200, String(COUNT)]);
    const figures = await many.fetch('/api/events/fields?top=1');
    expect(figures.status).toBe(200);
    const counts = (await (await many.fetch('/api/events/histogram')).json()) as { total: number };
    expect(counts.total).toBe(COUNT);
    expect((await ask('* | stats count', many)).json.rows).toEqual([{ count: COUNT }]);
  });
});

describe('what few of many events hold', () => {
  const send = async (events: object[]): Promise<void> => {
    const sent = await root.fetch('/api/events/', { method: 'POST', body: JSON.stringify(events) });
    expect(sent.status).toBe(201);
    await sent.body?.cancel();
  };
  const shown = async (query: string) => (await ask(`${query} | table n, host`)).json.rows;

  test('is found newest first, whichever way it is looked for (SL-15, SL-63)', async () => {
    const old = (n: number, minute: number, more = ''): object => ({
      index: n % 2 === 0 ? 'even' : 'odd',
      host: n < 4 ? 'rare-host' : 'HOST',
      data: `n=${n} zq ${more}`,
      extracted_fields: { n, event_time: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z` },
    });
    await send([old(1, 30), old(2, 10, 'Größe'), old(3, 20), old(4, 30), old(5, 5)]);
    // Enough newer ones that the newest tell nothing.
    await send(Array.from({ length: 2_100 }, () => ({ index: 'i/0', data: 'newer' })));
    const all = [4, 1, 3, 2, 5];
    const ids = async (query: string) => (await shown(query)).map(({ n }: { n: number }) => n);
    expect(await ids('"zq"')).toEqual(all);
    expect(await ids('"ZQ" | head 2')).toEqual([4, 1]);
    expect(await ids('zq größe')).toEqual([2]);
    expect(await ids('host=rare-host')).toEqual([1, 3, 2]);
    expect(await ids('n>=4 n<9')).toEqual([4, 5]);
    expect(await ids('zq NOT host=rare-host')).toEqual([4, 5]);
    expect(await ids('index=odd zq')).toEqual([1, 3, 5]);
    expect(await ids('zq latest=2026-01-01T00:25:00Z')).toEqual([3, 2, 5]);
    expect(await ids('zq earliest=2026-01-01T00:10:00Z latest=2027-01-01')).toEqual([4, 1, 3, 2]);
    expect(await ids('zq earliest=-1y latest=2020-01-01')).toEqual([]);
    expect((await ask('id>=3 id<5 | table id')).json.rows).toEqual([{ id: 4 }, { id: 3 }]);
    expect((await ask('zq | stats count BY host')).json.rows).toEqual([
      { host: 'HOST', count: 2 },
      { host: 'rare-host', count: 3 },
    ]);
    await svc.accounts.grant('odd', '@events/odd', 'read');
    const odd = await svc.as('odd');
    expect((await ask('zq | table n', odd)).json.rows).toEqual([{ n: 1 }, { n: 3 }, { n: 5 }]);
  });

  test('what was acknowledged before a query is in it, query after query (SL-154)', async () => {
    for (let n = 1; n <= 5; n++) {
      await send([{ index: 'fresh', data: `qx ${n}` }]);
      expect((await ask('qx | stats count')).json.rows).toEqual([{ count: n }]);
      expect((await ask('index=fresh qx | head 1 | table data')).json.rows).toEqual([
        { data: `qx ${n}` },
      ]);
    }
  });
});

describe('saved searches of one user', () => {
  test('past their limit are refused with the reason, and pages are cut from the list (EV-86, EV-87)', async () => {
    await using small = await startService({
      config: { events: { min_free_bytes: 1, search: { saved_per_user: 130 } } },
    });
    const user = await small.as('user');
    const save = (name: string) =>
      user.fetch('/api/savedsearches/', {
        method: 'POST',
        body: JSON.stringify({ name, query: 'index=web' }),
      });
    const names = Array.from({ length: 130 }, (_, at) => `s${String(at).padStart(3, '0')}`);
    for (const name of names) expect((await save(name)).status).toBe(201);
    const refused = await save('one more');
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        non_field_errors: [
          'You have 130 saved searches, the most one user may have; delete some first.',
        ],
      },
    ]);

    const list = async (query: string) => {
      const response = await user.fetch(`/api/savedsearches/${query}`);
      const body = await response.json();
      const shown = Array.isArray(body) ? body.map(({ name }) => name) : body;
      return { status: response.status, headers: response.headers, shown };
    };
    expect((await list('')).shown).toEqual(names);
    expect((await list('?offset=100')).shown).toEqual(names.slice(100));
    const found: string[] = [];
    for (let page = await list('?limit=50&search=s0'); ;) {
      found.push(...(page.shown as string[]));
      const next = /<\/api\/savedsearches\/?(\?[^>]+)>; rel="next"/.exec(
        page.headers.get('link') ?? '',
      );
      if (next === null) break;
      page = await list(next[1]!);
    }
    expect(found).toEqual(names.filter((name) => name.startsWith('s0')));
    const counted = await list('?limit=1&count=1&search=s12');
    expect([counted.shown, counted.headers.get('x-total-count')]).toEqual([['s120'], '10']);
    for (const query of ['?limit=0', '?limit=x', '?offset=-1', '?cursor=x', '?cursor=e30'])
      expect([query, (await list(query)).status]).toEqual([query, 400]);
    expect((await list('?limit=0')).shown).toEqual({
      limit: ['Enter a whole number from 1 to 1000.'],
    });

    const browser = await small.inBrowserAs('user');
    const page = async (path: string) =>
      (await browser.fetch(path, { headers: { Accept: 'text/html' } })).text();
    const first = await page('/savedsearches');
    expect(first).toContain('>s049<');
    expect(first).not.toContain('>s050<');
    expect(first).toContain('href="/savedsearches?offset=50"');
    const last = await page('/savedsearches?offset=100');
    expect(last).toContain('>s129<');
    expect(last).toContain('href="/savedsearches?offset=50"');
    expect(last).not.toContain('rel="next"');
  });
});

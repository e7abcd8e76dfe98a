/**
 * L8, and the loads of R1 with it: reads, edits, uploads, events, searches, sign-ins and handlers at the rates of a busy
 * team, for minutes or hours. Nothing is refused but for its rate, and nothing grows.
 */
import { join } from 'node:path';
import { type Client, type Service, startService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { richWorkbook } from '../../plugins/workbook-rich-file.ts';
import { parquetFile } from '../../plugins/parquet-table.ts';
import { checkLeftovers, ResourceWatch } from '../resource-watch.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';
import { PASSWORD } from '../../support/password.ts';

const SHORT_SECONDS = 5;
const LONG_SECONDS = 360;
/** Replaced versions and idle connections are let go within. */
const SETTLE_MS = 5_000;
const EVENTS_A_BATCH = 100;
/** A table that is served stays open, so all of them are there before anything is counted. */
const UPLOADED_NAMES = 6;
const WORDS = ['anchor', 'basalt', 'cedar', 'delta', 'ember', 'fjord', 'glacier', 'harbour'];

const HANDLER = `import { Elysia } from 'elysia';
export const router = new Elysia().get('/', () => ({ ok: true })).post('/', ({ body }) => body);
`;

/** One kind of work: how often a second, by how many clients at most, and what one piece is. */
interface Work {
  readonly name: string;
  readonly perSecond: number;
  readonly clients: number;
  readonly run: (trial: Trial) => Promise<Response>;
}

export const soak: Recipe = {
  id: 'L8',
  faults: 'R1, L1 to L5, L8',
  title: 'under a mixed load nothing is refused but for its rate, and nothing grows',
  needs: [],
  run: async (trial) => {
    const seconds = trial.size === 'short' ? SHORT_SECONDS : LONG_SECONDS * trial.lengthening;
    await using service = await startService({
      files: await filesOf(),
      config: {
        upload: { enabled: true, collision_policy: 'overwrite' },
        events: {
          min_free_bytes: 1,
          throttle: { search: '', ingest: '' },
          retention: { total_max_bytes: '256MiB' },
        },
      },
    });
    await service.createSuperuser('root');
    const client = await service.as('root');
    const work = workOn(service, client);
    // Once each, so that what is made with first use is there.
    for (const one of work) await piece(trial, one);
    for (let n = 1; n <= UPLOADED_NAMES; n++) await upload(client, trial, n);
    await Bun.sleep(trial.times(1_000, SETTLE_MS));
    const watch = new ResourceWatch(service.pid, trial.times(2, 60));
    const until = performance.now() + seconds * 1000;
    await Promise.all(work.map((one) => keepUp(trial, one, until)));
    await Bun.sleep(trial.times(3_000, SETTLE_MS));
    watch.stop(trial);
    await checkLeftovers(trial, service.docroot, service.stateDir);
    const rows = (await (await client.fetch('/api/edited/?columns=n')).json()) as unknown[];
    trial.check(rows.length === 1_000, `the edited table has ${rows.length} rows`);
    const health = await service.fetch('/health');
    trial.check(health.status === 200, `/health answers ${health.status}`);
    const errors = service.stderr().match(/^.*"level":"error".*$/gm) ?? [];
    for (const line of errors.slice(0, 5)) trial.fail(line);
    trial.check((await service.kill('SIGTERM')) === 0, 'it did not end in order');
  },
  control: {
    title: 'a server that keeps what it was asked is noticed',
    run: async (trial) => {
      using folder = temporaryFolder();
      const program = join(import.meta.dir, '..', 'hoarding-server.ts');
      const child = Bun.spawn([process.execPath, program, folder.write('x', 'x')], {
        stdout: 'pipe',
        stderr: 'inherit',
      });
      try {
        const { value } = await child.stdout.getReader().read();
        const url = new TextDecoder().decode(value).trim();
        const watch = new ResourceWatch(child.pid, 0);
        const get: Work = {
          name: 'reads',
          perSecond: 100,
          clients: 4,
          run: () => fetch(url),
        };
        await keepUp(trial, get, performance.now() + 4_500);
        watch.stop(trial);
      } finally {
        child.kill('SIGKILL');
        await child.exited;
      }
    },
  },
};

async function filesOf(): Promise<Record<string, string | Uint8Array>> {
  const rows = (count: number): string =>
    Array.from({ length: count }, (_, n) => `${n},${WORDS[n % 8]} ${n},${n % 17}.5`).join('\n');
  return {
    'read.csv': `n,name,price\n${rows(20_000)}\n`,
    'edited.csv': `n,name,price\n${rows(1_000)}\n`,
    'book.xlsx': await richWorkbook(),
    'columns.parquet': await parquetFile('SELECT i AS n, i / 4.0 AS x FROM range(2000) t(i)'),
    'page.md': `# Page\n\n${WORDS.join(' ')}\n`,
    'plain.txt': 'text\n'.repeat(1000),
    'handler.ts': HANDLER,
  };
}

function workOn(service: Service, client: Client): readonly Work[] {
  const get = (path: string, headers: Record<string, string> = {}) =>
    client.fetch(path, { headers });
  const send = (method: string, path: string, body: unknown) =>
    client.fetch(path, {
      method,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  return [
    {
      name: 'reads',
      perSecond: 1_500,
      clients: 16,
      run: (trial) =>
        get(
          trial.pick([
            `/api/read/?limit=100&offset=${trial.integer(0, 19_000)}`,
            `/api/read/?filter={"_row_id":${trial.integer(1, 20_000)}}`,
            `/api/read/?filter={"price":{"$gt":${trial.integer(1, 16)}}}&sort=-n&limit=20`,
            '/api/edited/?limit=20',
            '/schema/read/',
            '/api/columns/?limit=20',
            '/plain',
            '/health',
          ]),
        ),
    },
    {
      name: 'pages',
      perSecond: 4,
      clients: 2,
      run: (trial) =>
        get(trial.pick(['/', '/page', '/ui/read/', '/search?q=cedar']), { Accept: 'text/html' }),
    },
    {
      name: 'edits',
      perSecond: 60,
      clients: 8,
      run: (trial) =>
        send('PATCH', '/api/edited/', {
          action: 'update',
          data: {
            _row_id: trial.integer(1, 1_000),
            name: `${trial.pick(WORDS)} ${trial.integer(0, 9_999)}`,
          },
        }),
    },
    {
      name: 'events',
      perSecond: 50,
      clients: 4,
      run: (trial) =>
        send(
          'POST',
          '/api/events/',
          Array.from({ length: EVENTS_A_BATCH }, (_, n) => ({
            host: `host${n % 7}`,
            data: `${trial.pick(WORDS)} took=${trial.integer(1, 999)} ms n=${n}`,
          })),
        ),
    },
    {
      name: 'event searches',
      perSecond: 1,
      clients: 1,
      run: () =>
        send('POST', '/search2/api/run/', { query: 'index=default | stats count by host' }),
    },
    {
      name: 'uploads',
      perSecond: 2,
      clients: 2,
      run: (trial) => upload(client, trial, trial.integer(1, UPLOADED_NAMES)),
    },
    {
      name: 'searches',
      perSecond: 5,
      clients: 2,
      run: (trial) => get(`/search?q=${trial.pick(WORDS)}%20${trial.integer(0, 999)}`),
    },
    {
      name: 'sign-ins',
      perSecond: 1,
      clients: 1,
      run: () =>
        service.fetch('/auth/login', {
          method: 'POST',
          body: JSON.stringify({ username: 'root', password: PASSWORD }),
          headers: { 'Content-Type': 'application/json' },
        }),
    },
    {
      name: 'handler calls',
      perSecond: 10,
      clients: 2,
      run: () => get('/api/handler/'),
    },
  ];
}

function upload(client: Client, trial: Trial, number: number): Promise<Response> {
  const form = new FormData();
  const name = `up${number}.csv`;
  form.set('filename', name);
  form.set('file', new File([`a,b\n${trial.integer(0, 1e6)},${trial.pick(WORDS)}\n`], name));
  return client.fetch('/api/uploads', { method: 'POST', body: form });
}

/** Does the work at its rate, or as fast as it goes, until the time is over. */
async function keepUp(trial: Trial, work: Work, until: number): Promise<void> {
  const started = performance.now();
  let next = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const due = started + (next++ * 1000) / work.perSecond;
      const wait = due - performance.now();
      if (due >= until) return;
      if (wait > 0) await Bun.sleep(wait);
      await piece(trial, work);
    }
  };
  await Promise.all(Array.from({ length: work.clients }, client));
}

async function piece(trial: Trial, work: Work): Promise<void> {
  const started = performance.now();
  const response = await work.run(trial);
  const text = await response.text();
  trial.count(work.name);
  trial.countMost(`slowest of ${work.name}, ms`, Math.round(performance.now() - started));
  const isGood = response.ok || response.status === 302 || response.status === 304;
  if (response.status === 429) trial.count(`${work.name}: 429`);
  else trial.check(isGood, `${work.name}: ${response.status} ${text.slice(0, 200)}`);
}

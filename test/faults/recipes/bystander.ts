/**
 * L10: nobody takes the server from others. Every route of the product is asked what is small to send and large to answer, by
 * one caller at a time and by 64 at once, while somebody else goes on working: he is answered in time, and memory stays bounded.
 */
import { join } from 'node:path';
import { routes } from '../../../src/routes.ts';
import { tone } from '../../http/media-files.ts';
import { childrenOf, ownMemoryOf, ownMemoryOfAll } from '../../http/process-memory.ts';
import { EXPECTATIONS, FILES } from '../../http/route-matrix.ts';
import { onSharedCores } from '../../support/patience.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Attack, attacks, plain, type Target, WIDE_COLUMNS } from '../attacks.ts';
import type { Burst, Round } from '../attacker.ts';
import type { Asked } from '../bystander.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

const MIB = 1024 * 1024;
const MOST_GROWTH = 256 * MIB;
/** Of the processes of searches, exports and readers of files together, which each have a limit of their own. */
const MOST_GROWTH_OF_CHILDREN = 1024 * MIB;
/** For /health and a small read at p99. */
const LIMIT_MS = 100;
/** Where other tests run beside it, only what holds the server is told apart. */
const limitAmongOthers = (): number => Math.min(onSharedCores(1_000), 10_000);
/** For the searches, lists and pages of others. */
const WORK_LIMIT_MS = 10_000;
const TOGETHER = 64;
const EVERY_MS = 50;
/** The machine has other users: a server that takes this much is ended. */
const MOST_OF_ALL = 4096 * MIB;
/** Routes that a failure names. */
const MOST_NAMED = 8;
/** Also what a server answers that is asked for more than it has. */
const REFUSALS = ['503', '507'];

export const bystander: Recipe = {
  id: 'bystander',
  faults: 'F20, S-D1',
  title: 'no request, nor 64 at once, takes the server from somebody else',
  needs: [],
  run: async (trial) => {
    await using service = await besieged(trial);
    const callers = await callersOf(service);
    await using siege = await Siege.lay(trial, service.url, service.pid, callers.bystander);
    for (const attack of attacks) {
      const by = trial.size === 'short' ? (SHORT[attack.name] ?? []) : ATTACKERS;
      for (const caller of by) {
        if (!trial.isWanted(`${caller}, ${attack.name}`)) continue;
        await siege.attack(caller, callers[caller], attack, targets);
      }
    }
    if (trial.isWanted('writer, files that take long'))
      await hostileFiles(trial, service, siege, callers);
    await siege.end();
    const errors = service.stderr().match(/^.*"level":"error".*$/gm) ?? [];
    for (const line of errors) trial.fail(line.slice(0, 500));
  },
  control: {
    title: 'a server whose loop a number holds keeps everybody waiting',
    run: async (trial) => {
      using server = Bun.serve({
        port: 0,
        fetch({ method }) {
          if (method === 'POST') Bun.sleepSync(2 * limitAmongOthers());
          return new Response('');
        },
      });
      const url = server.url.href.replace(/\/$/, '');
      await using siege = await Siege.lay(trial, url, process.pid, {});
      const attack = attacks.find(({ name }) => name === '0.9 MB of digits')!;
      const target = { name: 'a number', method: 'POST', path: '/' };
      await siege.round('nobody', {}, attack, [target], 1);
      await siege.end();
    },
  },
};

const ATTACKERS = ['nobody', 'stranger', 'sender', 'writer', 'superuser'] as const;
type Caller = (typeof ATTACKERS)[number] | 'bystander';
/** Tried in the tests, and by whom; the others take longer. */
const SHORT: Readonly<Record<string, readonly Caller[]>> = {
  'nothing special': ['nobody'],
  '4 MB of digits': ['nobody', 'stranger'],
  '4 MB of digits in its place': ['nobody'],
  '4 MB of objects': ['nobody'],
  'a form of a million members': ['nobody'],
  'a form of 80,000 parts': ['writer'],
  'a filter of 3,500 members': ['stranger', 'writer'],
  'a filter of 1,900 columns': ['writer'],
  'words of 200 KB': ['writer'],
  'a sort of every column': ['writer'],
  globs: ['writer'],
  'a search for a text that doubles, json': ['writer'],
  'a search for an order of everything, json': ['writer'],
};
type Headers = Readonly<Record<string, string>>;

/** All routes there are, and the files of this recipe. */
export const targets: readonly Target[] = [
  ...routes.flatMap(({ pattern, methods }) =>
    methods.map((method) => {
      const name = `${method} ${pattern}`;
      return { name, method, path: EXPECTATIONS[name]!.path };
    }),
  ),
  ...[
    'GET /api/wide/',
    'GET /api/long/',
    'GET /api/book/',
    'GET /api/columns/',
    'GET /schema/wide/',
    'GET /ui/wide/',
    'GET /ui/long/',
    'GET /ui/book/',
    'GET /note',
    'GET /media/tone',
    'GET /ui/tone',
    'GET /api/hello/',
    'GET /api/nothing/',
    'POST /api/hello/',
    'POST /api/edited/',
    'PATCH /api/edited/',
    'DELETE /api/edited/',
    'POST /api/wide/',
    'PATCH /api/long/',
    'POST /api/book/',
    'POST /note',
  ].map((name) => ({ name, method: name.split(' ')[0]!, path: name.split(' ')[1]! })),
];

export async function besieged(trial: Trial): Promise<Service> {
  const lines = (count: number, line: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => line(at)).join('');
  const columns = Array.from({ length: WIDE_COLUMNS }, (_, at) => at);
  const small = `n,name\n${lines(20, (at) => `${at},name ${at}\n`)}`;
  const service = await startService({
    files: {
      ...FILES,
      'small.csv': small,
      'edited.csv': small,
      'wide.csv': `${columns.map((at) => `c${at}`).join()}\n${lines(200, (row) => `${columns.map((at) => row * at).join()}\n`)}`,
      'long.csv': `n,text,note\n${lines(trial.times(50_000, 300_000), (at) => `${at},word ${at % 977} ${at},note ${at % 13}\n`)}`,
      'note.md': `# A bystander\n\nThe bystander reads.\n`,
      'tone.mp3': tone(),
    },
    config: { upload: { enabled: true }, events: { min_free_bytes: 1, throttle: { search: '' } } },
  });
  await service.accounts.grant('writer', '*', 'read', 'write');
  await service.accounts.grant('writer', '', 'write');
  await service.accounts.grant('writer', '@events', 'read', 'write');
  const writer = await service.as('writer');
  for (const [name, format] of [
    ['book', 'xlsx'],
    ['columns', 'parquet'],
  ] as const) {
    const answer = await writer.fetch(`/api/long/?format=${format}&limit=20000`);
    service.write(`${name}.${format}`, new Uint8Array(await answer.arrayBuffer()));
  }
  for (let at = 0; at < trial.times(5, 50); at++) {
    const events = Array.from({ length: 1_000 }, (_, n) => ({
      index: n % 50 === 0 ? 'quiet' : 'web',
      data: `event ${at * 1_000 + n} of host h${n % 7} user=u${n % 97}`,
    }));
    await writer.fetch('/api/events/', { method: 'POST', body: JSON.stringify(events) });
  }
  for (const path of ['/api/book/', '/api/columns/', '/api/wide/?q=1', '/ui/long/', '/note']) {
    await (await writer.fetch(path)).arrayBuffer();
  }
  return service;
}

/** Files that take long to read, asked for by one person while another makes new ones. */
async function hostileFiles(
  trial: Trial,
  service: Service,
  siege: Siege,
  { writer, bystander: other }: Record<Caller, Headers>,
): Promise<void> {
  const book = await service.withHeaders(writer).fetch('/api/long/?format=xlsx');
  const bytes = new Uint8Array(await book.arrayBuffer());
  const files = Array.from({ length: 4 }, (_, at) => [`stars${at}`, `books${at}`]);
  for (const [page, workbook] of files) {
    service.write(`${page}.md`, 'a**'.repeat(500_000));
    service.write(`${workbook}.xlsx`, bytes);
  }
  const paths = files.flatMap(([page, workbook]) => [
    `/${page}`,
    `/api/${workbook}/`,
    `/ui/${workbook}/`,
  ]);
  const asked = paths.map((path) => ({ name: `GET ${path}`, method: 'GET', path }));
  let isOver = false;
  const round = siege
    .round('writer', writer, { ...plain, hasOwnBounds: true }, asked, trial.times(4, TOGETHER))
    .finally(() => (isOver = true));
  for (let at = 0; !isOver; at++) {
    const started = performance.now();
    service.write(`new${at}.md`, `# New ${at}\n`);
    const look = (): Promise<Response> => service.withHeaders(other).fetch(`/new${at}`);
    let answer = await look();
    // It is noticed in a moment, also by a busy server.
    while (answer.status === 404 && performance.now() - started < WORK_LIMIT_MS) {
      await Bun.sleep(50);
      answer = await look();
    }
    const ms = Math.round(performance.now() - started);
    trial.countMost('slowest new page, ms', ms);
    trial.check(
      answer.status === 200 && ms <= onSharedCores(WORK_LIMIT_MS),
      `a new page beside files that take long: ${answer.status} after ${ms} ms`,
    );
    await Bun.sleep(200);
  }
  await round;
}

export async function callersOf(service: Service): Promise<Record<Caller, Headers>> {
  const { accounts } = service;
  await accounts.user('superuser', { superuser: true });
  await accounts.grant('sender', '@events', 'write');
  await accounts.grant('bystander', '*', 'read');
  await accounts.grant('bystander', '@events', 'read');
  const key = async (user: string): Promise<Headers> => ({
    'X-API-Key': await accounts.apiKey(user),
  });
  const sender = await key('sender');
  const root = await service.as('superuser');
  const keys = (await (await root.fetch('/admin/api-keys')).json()) as Record<string, number>[];
  const { id: userId } = await accounts.user('sender');
  const id = keys.find((one) => one['user_id'] === userId)?.['id'];
  await root.fetch(`/admin/api-keys/${id}/ingest`, {
    method: 'PUT',
    body: JSON.stringify({ create_only: true }),
  });
  const all = {
    nobody: {},
    stranger: await key('stranger'),
    sender,
    writer: await key('writer'),
    superuser: await key('superuser'),
    bystander: await key('bystander'),
  };
  await accounts.close();
  return all;
}

/** One who attacks and one who is not to notice, each in a process of their own. */
export class Siege implements AsyncDisposable {
  readonly #trial: Trial;
  readonly #url: string;
  readonly #pid: number;
  readonly #others: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;
  readonly #attacker: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;
  readonly #answers: AsyncIterator<string>;
  readonly #asked: Asked[] = [];
  readonly #memory: Sample[] = [];
  readonly #rounds: { readonly name: string; readonly from: number }[] = [];
  readonly #timer: Timer;
  #limitMs = LIMIT_MS;

  static async lay(trial: Trial, url: string, pid: number, other: Headers): Promise<Siege> {
    const siege = new Siege(trial, url, pid, other);
    await siege.#look();
    return siege;
  }

  private constructor(trial: Trial, url: string, pid: number, other: Headers) {
    this.#trial = trial;
    this.#url = url;
    this.#pid = pid;
    const program = (name: string): string => join(import.meta.dir, '..', name);
    const pipes = { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' } as const;
    const own = other['X-API-Key'] ?? '';
    const others = Bun.spawn([process.execPath, program('bystander.ts'), url, own], pipes);
    this.#others = others;
    // What is measured is the share of the server, not that of who attacks it on the same cores.
    const attacker = ['nice', '-n', '10', process.execPath, program('attacker.ts')];
    this.#attacker = Bun.spawn(attacker, pipes);
    this.#answers = linesOf(this.#attacker.stdout);
    void (async () => {
      for await (const line of linesOf(others.stdout)) {
        this.#asked.push(JSON.parse(line) as Asked);
      }
    })();
    this.#timer = setInterval(() => {
      const sample = this.#sample();
      this.#memory.push(sample);
      if (sample.all > MOST_OF_ALL) this.#stop(pid);
    }, EVERY_MS);
  }

  /** Each target by one at a time, then some of them by many. */
  async attack(
    caller: string,
    headers: Headers,
    attack: Attack,
    among: readonly Target[],
  ): Promise<void> {
    const open = among.filter((target) => attack.request(target) !== null);
    if (open.length === 0) return;
    const some = Array.from({ length: this.#trial.times(1, 6) }, () => this.#trial.pick(open));
    if (attack.manner === 'read') await this.round(caller, headers, attack, open, 1);
    await this.round(caller, headers, attack, [...new Set(some)], TOGETHER);
  }

  /** One attack by one caller, on each target in turn by so many at once. */
  async round(
    caller: string,
    headers: Headers,
    attack: Attack,
    among: readonly Target[],
    atOnce: number,
  ): Promise<void> {
    const trial = this.#trial;
    const name = `${caller}, ${attack.name}, ${atOnce} at once`;
    const from = Date.now();
    const before = this.#sample();
    this.#rounds.push({ name, from });
    const round: Round = {
      url: this.#url,
      attack: attack.name,
      headers,
      targets: among,
      atOnce,
      waitMs: attack.manner === 'read' ? 60_000 : trial.times(5_000, 40_000),
    };
    this.#attacker.stdin.write(`${JSON.stringify(round)}\n`);
    const bursts = JSON.parse((await this.#answers.next()).value as string) as Burst[];
    await this.#caughtUp();
    const slowest = this.#p99(from, Date.now());
    trial.countMost('slowest p99 of others, ms', Math.round(slowest));
    const worst = this.#byHold(bursts).filter(({ ms }) => ms > this.#limitMs);
    trial.check(
      slowest <= this.#limitMs,
      `${name}: others wait ${Math.round(slowest)} ms at p99: ${worst
        .slice(0, MOST_NAMED)
        .map((one) => `${one.name} ${Math.round(one.ms)}`)
        .join(', ')}`,
    );
    for (const [who, most] of [
      ['server', MOST_GROWTH],
      ['all', attack.hasOwnBounds === true ? MOST_GROWTH_OF_CHILDREN : MOST_GROWTH],
    ] as const) {
      const since = this.#memory.filter(({ at }) => at >= from);
      const peak = since.reduce((best, one) => (one[who] > best[who] ? one : best), before);
      const grown = Math.round((peak[who] - before[who]) / MIB);
      trial.countMost(`most growth of ${who}, MB`, grown);
      const greedy = bursts.find((burst) => burst.to >= peak.at) ?? bursts.at(-1);
      trial.check(
        grown <= most / MIB,
        `${name}: memory of ${who} grew by ${grown} to ${Math.round(peak[who] / MIB)} MB, in ${greedy?.name}`,
      );
    }
    const failed = new Map<string, Burst[]>();
    for (const burst of bursts) {
      for (const [status, count] of Object.entries(burst.statuses)) {
        trial.count(`answered ${status === '0' ? 'nothing in time' : status}`, count);
        if (Number(status) < 500 || REFUSALS.includes(status)) continue;
        failed.set(status, [...(failed.get(status) ?? []), burst]);
      }
    }
    for (const [status, all] of failed) {
      trial.fail(
        `${name}: ${all.map((one) => one.name).join(', ')} answer ${status}: ${all[0]!.failure}`,
      );
    }
  }

  /** Judges what others asked besides. */
  async end(): Promise<void> {
    await this.#caughtUp();
    const limit = onSharedCores(WORK_LIMIT_MS);
    const bad = this.#asked.filter(({ ms, status }) => status !== 200 || ms > limit);
    for (const [key, all] of Map.groupBy(bad, ({ what, at, status }) => {
      const round = this.#rounds.findLast(({ from }) => from <= at)?.name ?? 'before any attack';
      return `${round}: others get ${status} from ${what}`;
    })) {
      const slowest = Math.max(...all.map(({ ms }) => ms));
      this.#trial.fail(`${key} ${all.length} times, in up to ${Math.round(slowest)} ms`);
    }
    this.#trial.count('answers to others', this.#asked.length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    for (const child of [this.#attacker, this.#others]) {
      child.stdin.end();
      child.kill('SIGKILL');
      await child.exited;
    }
  }

  #sample(): Sample {
    return { at: Date.now(), server: ownMemoryOf(this.#pid), all: ownMemoryOfAll(this.#pid) };
  }

  /** Ends the largest of the processes. */
  #stop(pid: number): void {
    const all = [pid, ...childrenOf(pid).map((child) => child.pid)];
    const [largest] = all.toSorted((a, b) => ownMemoryOf(b) - ownMemoryOf(a));
    const is = largest === pid ? 'the server' : 'a child of the server';
    this.#trial.fail(`${this.#rounds.at(-1)?.name}: ${is} was ended at ${MOST_OF_ALL / MIB} MB`);
    process.kill(largest!, 'SIGKILL');
  }

  /** How others fare before anything happens. */
  async #look(): Promise<void> {
    await this.#caughtUp();
    const from = Date.now();
    await Bun.sleep(this.#trial.times(500, 2_000));
    await this.#caughtUp();
    const quiet = this.#p99(from, Date.now());
    this.#trial.countMost('p99 of others before, ms', Math.round(quiet));
    this.#limitMs =
      this.#trial.size === 'short' ? limitAmongOthers() : Math.max(LIMIT_MS, 3 * quiet);
  }

  /** Resolves when both quick questions that are asked from now on have been answered. */
  async #caughtUp(): Promise<void> {
    const from = Date.now();
    const isAnswered = (what: Asked['what']): boolean =>
      this.#asked.some((one) => one.what === what && one.at >= from);
    while (!isAnswered('/health') || !isAnswered('/api/small/?limit=20')) await Bun.sleep(10);
  }

  /** Of the slower of the quick questions. */
  #p99(from: number, to: number): number {
    const of = (what: Asked['what']): number => {
      const taken = this.#asked
        .filter((one) => one.what === what && one.at >= from && one.at <= to)
        .map(({ ms }) => ms)
        .toSorted((a, b) => a - b);
      return taken[Math.ceil(taken.length * 0.99) - 1] ?? 0;
    };
    return Math.max(of('/health'), of('/api/small/?limit=20'));
  }

  /** The targets by the longest that a quick question took meanwhile, longest first. */
  #byHold(bursts: readonly Burst[]): { readonly name: string; readonly ms: number }[] {
    const quick = this.#asked.filter(
      ({ what }) => what === '/health' || what.startsWith('/api/small'),
    );
    return bursts
      .map(({ name, from, to }) => ({
        name,
        ms: Math.max(
          0,
          ...quick.filter((one) => one.at <= to && one.at + one.ms >= from).map((one) => one.ms),
        ),
      }))
      .toSorted((a, b) => b.ms - a.ms);
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}

/** Bytes. */
interface Sample {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly server: number;
  /** The server and its children. */
  readonly all: number;
}

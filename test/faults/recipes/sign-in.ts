/**
 * R13: sign-ins tell nobody which names exist, by their time as little as by their answers; a storm of them keeps nobody else
 * waiting and takes no more than its share of memory.
 */
import { memoryOf } from '../../http/process-memory.ts';
import { onSharedCores } from '../../support/patience.ts';
import { type Client, startService } from '../../support/service.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';
import { PASSWORD } from '../../support/password.ts';

/** Discarded: the first ones pay for what is made once. */
const WARM_UP = 4;
const STORM = 50;
const STORM_BYTES = 200 * 1024 * 1024;
const OTHERS_LIMIT_MS = 10_000;
const HASH_MS = 120;

export const signIn: Recipe = {
  id: 'R13',
  faults: 'S-A3, S-A5, L11',
  title: 'sign-ins do not tell which names exist, and a storm of them keeps nobody waiting',
  needs: [],
  run: async (trial) => {
    await using service = await startService({
      files: { 't.csv': 'a\n1\n' },
      // So that every attempt can come from an address of its own.
      config: { trusted_proxies: ['127.0.0.1'] },
    });
    await service.accounts.user('anna', { password: PASSWORD });
    await service.accounts.grant('reader', '*', 'read');
    await compareTimes(trial, service);
    await storm(trial, service, await service.as('reader'), service.pid);
  },
  control: {
    title: 'a server that hashes only for names that exist tells them apart by time',
    run: async (trial) => {
      const server = Bun.serve({
        port: 0,
        async fetch(request) {
          const { username } = (await request.json()) as { username: string };
          if (username === 'anna') await Bun.sleep(onSharedCores(HASH_MS));
          return new Response('{"detail":"Invalid credentials"}', { status: 401 });
        },
      });
      const client: Client = { fetch: (path, init) => fetch(server.url.href + path, init) };
      try {
        await compareTimes(trial, client);
      } finally {
        await server.stop(true);
      }
    },
  },
};

interface Attempt {
  readonly ms: number;
  /** Status and body. */
  readonly answer: string;
}

async function attempt(client: Client, username: string, address: number): Promise<Attempt> {
  const started = performance.now();
  const answer = await client.fetch('/auth/login', {
    method: 'POST',
    body: JSON.stringify({ username, password: 'not the Password 9' }),
    headers: {
      'Content-Type': 'application/json',
      'X-Forwarded-For': `10.${address >> 16}.${(address >> 8) & 255}.${address & 255}`,
    },
  });
  const text = await answer.text();
  return { ms: performance.now() - started, answer: `${answer.status} ${text}` };
}

async function compareTimes(trial: Trial, client: Client): Promise<void> {
  const times = { known: [] as number[], unknown: [] as number[] };
  const answers = new Set<string>();
  const each = trial.times(10, 200) + WARM_UP;
  let address = 0;
  while (times.known.length < each || times.unknown.length < each) {
    const kind = trial.pick(['known', 'unknown'] as const);
    if (times[kind].length >= each) continue;
    const name = kind === 'known' ? 'anna' : `nobody${address}`;
    const { ms, answer } = await attempt(client, name, (address += 1));
    times[kind].push(ms);
    answers.add(answer);
  }
  const [known, unknown] = [
    median(times.known.slice(WARM_UP)),
    median(times.unknown.slice(WARM_UP)),
  ];
  trial.count('attempts', times.known.length + times.unknown.length);
  trial.count('median for a name that exists, ms', Math.round(known));
  trial.count('median for a name that does not, ms', Math.round(unknown));
  trial.check(answers.size === 1, `the answers differ: ${[...answers].join(' | ')}`);
  // Few attempts on a busy machine say only whether one of the two costs a hash more.
  const [share, leastMs] = trial.size === 'short' ? [0.7, 25] : [0.1, 5];
  const gap = Math.abs(known - unknown);
  trial.check(
    gap <= Math.max(known, unknown) * share || gap <= leastMs,
    `names that exist take ${known.toFixed(1)} ms, others ${unknown.toFixed(1)} ms`,
  );
}

async function storm(trial: Trial, client: Client, reader: Client, pid: number): Promise<void> {
  const before = memoryOf(pid)!.resident;
  let isOver = false;
  const attempts = Promise.all(
    Array.from({ length: STORM }, (_, at) => attempt(client, `guess${at}`, 100_000 + at)),
  ).finally(() => (isOver = true));
  while (!isOver) {
    for (const path of ['/health', '/api/t/']) {
      const started = performance.now();
      const { status } = await reader.fetch(path);
      const ms = performance.now() - started;
      trial.countMost('slowest answer to others, ms', Math.round(ms));
      trial.check(status === 200, `${path} answers ${status} meanwhile`);
      trial.check(
        ms < onSharedCores(OTHERS_LIMIT_MS),
        `${path} takes ${Math.round(ms)} ms meanwhile`,
      );
    }
    await Bun.sleep(5);
  }
  for (const { answer } of await attempts) {
    const status = answer.slice(0, 3);
    trial.count(`storm: ${status}`);
    trial.check(['401', '429', '503'].includes(status), `an attempt is answered ${answer}`);
  }
  const grown = memoryOf(pid)!.resident - before;
  trial.check(grown <= STORM_BYTES, `the storm took ${grown} bytes`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

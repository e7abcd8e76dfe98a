/**
 * R12: the wall clock of the server jumps by minutes, days and years in both directions, also to 1970 and past 2038.
 *
 * What has expired stays so when the clock is set back, failed sign-ins are counted by durations, edits and events go on,
 * and nothing takes a negative time.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, startService } from '../../support/service.ts';
import { temporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';
import { PASSWORD } from '../../support/password.ts';

const MAX_FAILURES = 10;
const MINUTE = 60;
const DAY = 24 * 3_600;
const YEAR = 365 * DAY;

export const clock: Recipe = {
  id: 'R12',
  faults: 'F11',
  title: 'when the clock jumps, what expired stays expired, limits hold, and work goes on in order',
  needs: ['gcc'],
  run: async (trial) => {
    using folder = temporaryFolder();
    await using service = await startService({
      files: { 't.csv': 'n,text\n1,a\n' },
      env: clockOf(folder),
    });
    await service.createSuperuser('root');
    const client = await service.as('root');
    await checkSignIns(trial, folder, service);
    const now = Math.floor(Date.now() / 1000);
    const jumps = [10 * MINUTE, DAY, YEAR].flatMap((seconds) => [seconds, -seconds]);
    jumps.push(1 - now, 2_300_000_000 - now, 4_200_000_000 - now, 0);
    for (let round = 0; round < trial.times(1, 3); round++) {
      for (const jump of round === 0 ? jumps : shuffled(trial, jumps)) {
        setClock(folder, jump);
        await goOn(trial, client, jump);
      }
    }
    setClock(folder, 0);
    await checkOrder(trial, client);
    for (const line of service.stderr().split('\n')) {
      if (/"(?:ms|milliseconds|took\w*|duration\w*)":-/.test(line)) trial.fail(line);
      if (line.includes('"level":"error"')) trial.fail(line);
    }
    const check = await service.command(['check', service.docroot]);
    trial.check(check.exitCode === 0, `svc check: ${check.stdout}${check.stderr}`);
  },
  control: {
    title: 'a server that only compares times lets an expired session in again',
    run: async (trial) => {
      using folder = temporaryFolder();
      const program = join(import.meta.dir, '..', 'clock-trusting-server.ts');
      const child = Bun.spawn([process.execPath, program], {
        stdout: 'pipe',
        env: { ...process.env, ...clockOf(folder) },
      });
      try {
        const { value } = await child.stdout.getReader().read();
        const url = new TextDecoder().decode(value).trim();
        await checkSignIns(trial, folder, { fetch: (path, init) => fetch(url + path, init) });
      } finally {
        child.kill('SIGKILL');
        await child.exited;
      }
    },
  },
};

/** Builds the shim and answers the environment under which a program's clock follows the file. */
function clockOf(folder: TemporaryFolder): Record<string, string> {
  const library = folder.at('clock.so');
  const source = join(import.meta.dir, '..', 'clock-shim.c');
  const built = Bun.spawnSync(['gcc', '-O1', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  if (built.exitCode !== 0) throw new Error(built.stderr.toString());
  setClock(folder, 0);
  return { LD_PRELOAD: library, SVC_TEST_CLOCK_FILE: folder.at('offset') };
}

function setClock(folder: TemporaryFolder, seconds: number): void {
  writeFileSync(folder.at('offset'), String(seconds));
}

function shuffled<T>(trial: Trial, items: readonly T[]): T[] {
  return items
    .map((item) => [trial.random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

async function checkSignIns(trial: Trial, folder: TemporaryFolder, client: Client): Promise<void> {
  const signIn = (username: string, password: string) =>
    client.fetch('/auth/login', {
      method: 'POST',
      body: JSON.stringify({ username, password }),
      headers: { 'Content-Type': 'application/json' },
    });
  const cookie = (await signIn('root', PASSWORD)).headers.get('set-cookie')?.split(';')[0] ?? '';
  const me = async (): Promise<number> => {
    const { status } = await client.fetch('/auth/me', { headers: { Cookie: cookie } });
    trial.count('requests with a session');
    return status;
  };
  const expect = async (what: string, status: Promise<number>, wanted: number): Promise<void> => {
    const got = await status;
    trial.check(got === wanted, `${what}: ${got} instead of ${wanted}`);
  };
  await expect('a session', me(), 200);
  setClock(folder, -10 * MINUTE);
  await expect('a session before it was made', me(), 200);
  setClock(folder, 0);
  for (let attempt = 0; attempt < MAX_FAILURES; attempt++) await signIn('eve', 'wrong');
  const wrong = async (): Promise<number> => (await signIn('eve', 'wrong')).status;
  for (const jump of [0, -3_600, 3_600, -DAY, DAY]) {
    setClock(folder, jump);
    await expect(`too many failures, clock at ${jump} s`, wrong(), 429);
    trial.count('refused sign-ins');
  }
  setClock(folder, 8 * DAY);
  await expect('an expired session', me(), 401);
  for (const jump of [0, -DAY]) {
    setClock(folder, jump);
    await expect(`a session that had expired, clock at ${jump} s`, me(), 401);
  }
  setClock(folder, 0);
}

async function goOn(trial: Trial, client: Client, jump: number): Promise<void> {
  const edits = (trial.counts.get('jumps') ?? 0) + 1;
  const send = (method: string, path: string, body: unknown) =>
    client.fetch(path, {
      method,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  const answers = [
    await send('PATCH', '/api/t/', { action: 'update', data: { _row_id: 1, text: `v${edits}` } }),
    await send('POST', '/api/events/', { data: `event ${edits}` }),
    await client.fetch('/health'),
    await client.fetch('/search?q=a'),
  ];
  for (const answer of answers) {
    const text = await answer.text();
    trial.check(answer.ok, `clock at ${jump} s: ${answer.status} ${text.slice(0, 200)}`);
  }
  const rows = (await (await client.fetch('/api/t/')).json()) as { text: string }[];
  trial.check(rows[0]?.text === `v${edits}`, `clock at ${jump} s: the edit is not there`);
  trial.count('jumps');
}

/** Events and audit entries are in the order in which they were made, whatever their times say. */
async function checkOrder(trial: Trial, client: Client): Promise<void> {
  const events = (await (await client.fetch('/api/events/?limit=1000')).json()) as unknown;
  const list = Array.isArray(events) ? events : (events as { results?: unknown[] }).results;
  const ids = (list as { id: number; data: string }[] | undefined)?.map(({ id }) => id) ?? [];
  const numbers = (list as { data: string }[]).map(({ data }) => Number(data.split(' ')[1]));
  const byId = ids.map((id, at) => [id, numbers[at]!] as const).toSorted(([a], [b]) => a - b);
  const isOrdered = byId.every(([, number], at) => at === 0 || number > byId[at - 1]![1]);
  trial.count('events in order', ids.length);
  trial.check(ids.length > 0 && isOrdered, `the events are in another order: ${String(byId)}`);
}

/**
 * What others notice of an attack: how long their small requests take, and what memory the server and its children take.
 */
import { residentWithChildren } from './process-memory.ts';
import type { Client, Service } from '../support/service.ts';

/** What a bystander saw. */
interface Seen {
  /** Most memory beyond what was resident before, in bytes. */
  readonly growth: number;
  /** Milliseconds of the 99th percentile, and of the longest, of all requests. */
  readonly p99: number;
  readonly slowest: number;
}

const LOOK_MS = 20;

/** Asks for `/health` and `path`, one after the other, while the attack goes on; `before`: resident bytes before it. */
export async function bystanderOf<Result>(
  service: Service,
  client: Client,
  path: string,
  before: number,
  attack: () => Promise<Result>,
): Promise<Seen & { readonly result: Result }> {
  let most = 0;
  let isOver = false;
  const times: number[] = [];
  const watch = async (): Promise<void> => {
    while (!isOver) {
      most = Math.max(most, residentWithChildren(service.pid));
      await Bun.sleep(LOOK_MS);
    }
  };
  const ask = async (): Promise<void> => {
    while (!isOver) {
      for (const [asker, asked] of [
        [service, '/health'],
        [client, path],
      ] as const) {
        const start = performance.now();
        const answer = await asker.fetch(asked);
        await answer.arrayBuffer();
        if (answer.status !== 200) throw new Error(`${asked} answered ${answer.status}`);
        times.push(performance.now() - start);
      }
      await Bun.sleep(LOOK_MS / 4);
    }
  };
  const asking = Promise.all([watch(), ask()]);
  try {
    const result = await attack();
    isOver = true;
    await asking;
    times.sort((a, b) => a - b);
    return {
      growth: most - before,
      p99: times[Math.floor(times.length * 0.99)] ?? 0,
      slowest: times.at(-1) ?? 0,
      result,
    };
  } finally {
    isOver = true;
  }
}

/**
 * find-growth: what a hundred times the events do to finding three of them by the substring index.
 */
import { join } from 'node:path';
import type { Bench, Benchmark, Finding } from '../benchmark.ts';
import { eventData, NEEDLE } from '../event-data.ts';
import { asked, startWithEvents } from '../event-queries.ts';
import { requireEqual } from '../products.ts';
import { inTurns, type Rounds } from '../rounds.ts';
import type { BenchService } from '../service.ts';

const SIZES = [10_000, 100_000, 1_000_000] as const;
const FOUND = 3;
/** Searches a round, of which the mean counts. */
const SEARCHES = 20;

const names = { 10_000: '10k', 100_000: '100k', 1_000_000: '1M' } as const;
type Size = (typeof names)[keyof typeof names];

export const findGrowth: Benchmark = {
  name: 'find-growth',
  work: 'a rare text in 10k, 100k and 1M log events',
  async run(bench) {
    await using services = new AsyncDisposableStack();
    const sides = {} as Record<Size, () => Promise<number>>;
    for (const events of SIZES) {
      const service = services.use(await started(bench, events));
      sides[names[events]] = () => meanOfSearches(service);
    }
    for (const warmUp of Object.values(sides)) await warmUp();
    return findings(await inTurns(bench, sides));
  },
};

async function started(bench: Bench, events: (typeof SIZES)[number]): Promise<BenchService> {
  const data = await eventData(events);
  return startWithEvents({ ...bench, folder: join(bench.folder, names[events]) }, data);
}

async function meanOfSearches(service: BenchService): Promise<number> {
  let total = 0;
  for (let search = 0; search < SEARCHES; search++) {
    const { rows, ms } = await asked(service, `"${NEEDLE}" | table id, data`);
    requireEqual(`events with ${NEEDLE}`, rows.length, FOUND);
    total += ms;
  }
  return total / SEARCHES;
}

function findings(rounds: Rounds<Size>): Finding[] {
  return SIZES.map((events) => ({
    part: `${names[events]} events`,
    subject: { name: `svc, ${names[events]} events`, unit: 'ms', values: rounds[names[events]] },
    reference: { name: 'svc, 10k events', unit: 'ms', values: rounds['10k'] },
    goal: events === 1_000_000 ? { of: 'ratio', atMost: 2 } : null,
    growth: { curve: 'find', rows: events },
  }));
}

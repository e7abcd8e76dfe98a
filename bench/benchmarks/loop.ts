/**
 * loop: whether heavy work of others holds up small requests. Idle and busy take turns; the busy half begins when every
 * heavy client has started.
 */
import type { Benchmark } from '../benchmark.ts';
import { productCsv } from '../data.ts';
import { output, peer, projectFolder } from '../processes.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 1_000_000;
const IDLE_SECONDS = 1;
const BUSY_SECONDS = 3;
/** Heavy work under way before anything is measured. */
const LEAD_MS = 1000;

export const loop: Benchmark = {
  name: 'loop',
  work: 'p99 of GET /health while 4 clients sort 1M unindexed rows and 1 imports a 61 MB CSV',
  async run(bench) {
    const csv = await productCsv(ROWS);
    await using service = await BenchService.start(bench, { 'products.csv': csv });
    await (await service.get('/api/products/?limit=1')).arrayBuffer();
    const work = { sorts: 0, imports: 0 };
    const rounds = await inTurns(bench, {
      idle: () => p99(service, IDLE_SECONDS),
      busy: async () => {
        const heavy = startHeavy(service, csv);
        await Bun.sleep(LEAD_MS);
        const latency = await p99(service, BUSY_SECONDS);
        const { sorts, imports } = await heavy.finish();
        work.sorts += sorts;
        work.imports += imports;
        return latency;
      },
    });
    if (work.sorts === 0) throw new Error('there was no heavy work');
    bench.say(`meanwhile ${work.sorts} sorts and ${work.imports} imports were finished`);
    const busy = { name: 'svc, busy', unit: 'ms', values: rounds.busy } as const;
    return [
      { part: 'p99', subject: busy, reference: null, goal: { of: 'value', atMost: 50 } },
      {
        part: 'p99 against idle',
        subject: busy,
        reference: { name: 'svc, idle', unit: 'ms', values: rounds.idle },
        goal: { of: 'ratio', atMost: 20 },
      },
    ];
  },
};

async function p99(service: BenchService, seconds: number): Promise<number> {
  const command = peer('latency-client.ts', `${service.url}/health`, String(seconds));
  return (JSON.parse(await output(command)) as { p99: number }).p99;
}

interface HeavyWork {
  /** Lets what is under way come to its end. Throws when a heavy client failed. */
  finish(): Promise<{ sorts: number; imports: number }>;
}

function startHeavy(service: BenchService, csv: string): HeavyWork {
  const key = service.headers['X-API-Key']!;
  const child = Bun.spawn(peer('heavy-clients.ts', service.url, key, service.docroot, csv), {
    cwd: projectFolder,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return {
    async finish() {
      await child.stdin.end();
      const [code, text] = await Promise.all([child.exited, child.stdout.text()]);
      if (code !== 0) throw new Error(`the heavy clients ended with ${code}`);
      return JSON.parse(text);
    },
  };
}

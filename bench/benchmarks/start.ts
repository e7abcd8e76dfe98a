/**
 * start: from the start of the process to its first answer, with two thousand files that an earlier run has read.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Benchmark } from '../benchmark.ts';
import { compiled } from '../compiled.ts';
import { CSV_HEADER, productRow, randomSource } from '../data.ts';
import { heldMegabytes } from '../memory.ts';
import { freePort } from '../processes.ts';
import { requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';
import { environment } from '../../test/support/program.ts';

const FOLDERS = 20;
const FILES_PER_FOLDER = 100;
const ROWS = 20;
const LIMIT_MS = 30_000;
/** After this long what a start of `svc` has set going is over. */
const REST_MS = 1500;

export const start: Benchmark = {
  name: 'start',
  work: 'process start to the first 200, 2,000 files (1,000 CSV, 1,000 documents), warm state',
  async run(bench) {
    const hello = await compiled('elysia-hello.ts', bench.folder);
    await using service = await BenchService.start(bench);
    writeFiles(service.docroot);
    await readAll(service);
    await service.stop();
    const memory: number[] = [];
    const first = {
      svc: async () => {
        const port = freePort();
        const command = [bench.executable, 'serve', service.docroot, '--port', String(port)];
        const url = `http://127.0.0.1:${port}/health`;
        return firstAnswer(bench, command, url, {}, async (pid) => {
          await Bun.sleep(REST_MS);
          memory.push(heldMegabytes(pid));
        });
      },
      elysia: async () => {
        const port = freePort();
        const env = { PORT: String(port) };
        const url = `http://127.0.0.1:${port}/`;
        return firstAnswer(bench, [hello], url, env);
      },
    };
    await first.svc();
    await first.elysia();
    memory.length = 0;
    const rounds = await inTurns(bench, first);
    return [
      {
        part: 'time',
        subject: { name: 'svc', unit: 'ms', values: rounds.svc },
        reference: { name: 'bare Elysia hello', unit: 'ms', values: rounds.elysia },
        goal: { of: 'ratio', atMost: 10 },
      },
      {
        part: 'memory after it, of svc and its children, shared pages once',
        subject: { name: 'svc', unit: 'MB', values: memory },
        reference: null,
        goal: { of: 'value', atMost: 120 },
      },
    ];
  },
};

function writeFiles(docroot: string): void {
  const random = randomSource();
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = join(docroot, `folder-${folder}`);
    mkdirSync(path);
    for (let file = 0; file < FILES_PER_FOLDER / 2; file++) {
      const rows = Array.from({ length: ROWS }, (_, index) => productRow(index + 1, random));
      writeFileSync(join(path, `table-${file}.csv`), `${[CSV_HEADER, ...rows].join('\n')}\n`);
      writeFileSync(join(path, `page-${file}.md`), `# Page ${file}\n\n${rows.join('\n\n')}\n`);
    }
  }
}

async function readAll(service: BenchService): Promise<void> {
  const names = Array.from({ length: FOLDERS }, (_, folder) =>
    Array.from({ length: FILES_PER_FOLDER / 2 }, (_, file) => `folder-${folder}/table-${file}`),
  ).flat();
  const until = performance.now() + LIMIT_MS;
  for (const name of names) {
    for (;;) {
      const headers = service.headers;
      const response = await fetch(`${service.url}/api/${name}/`, { headers });
      const body = await response.text();
      if (response.status === 200) {
        requireEqual(`the rows of ${name}`, JSON.parse(body).length, ROWS);
        break;
      }
      // The watcher has up to a second to see the files.
      if (performance.now() > until) throw new Error(`${name}: ${response.status} ${body}`);
      await Bun.sleep(100);
    }
  }
}

/** Milliseconds until the address answers; the process ends after what is done with it then. */
async function firstAnswer(
  bench: Bench,
  command: readonly string[],
  url: string,
  env: Record<string, string>,
  afterwards: (pid: number) => Promise<void> = async () => {},
): Promise<number> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], {
    cwd: bench.folder,
    env: environment(env),
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  try {
    while ((await statusOf(url)) !== 200) {
      if (performance.now() - startedAt > LIMIT_MS || child.exitCode !== null) {
        throw new Error(`${command[0]} gave no answer`);
      }
      await Bun.sleep(1);
    }
    const milliseconds = performance.now() - startedAt;
    await afterwards(child.pid);
    return milliseconds;
  } finally {
    child.kill('SIGTERM');
    await child.exited;
  }
}

async function statusOf(url: string): Promise<number | null> {
  try {
    const response = await fetch(url, { keepalive: false });
    await response.arrayBuffer();
    return response.status;
  } catch {
    // Not listening yet.
    return null;
  }
}

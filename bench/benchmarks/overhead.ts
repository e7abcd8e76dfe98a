/**
 * overhead: what the checks around a small answer cost, against an Elysia server that checks nothing, and against the least
 * that a server with the same duties can do.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { compiled } from '../compiled.ts';
import { CSV_HEADER, productRow, randomSource } from '../data.ts';
import { requestsPerSecond } from '../load.ts';
import { peer, ServerProcess } from '../processes.ts';
import { BARE_DUTIES, idOf, requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';
import { BenchService } from '../service.ts';

const ROWS = 20;

export const overhead: Benchmark = {
  name: 'overhead',
  work: 'small answers, 16 clients',
  async run(bench) {
    const csv = join(bench.folder, 'small.csv');
    writeFileSync(csv, `${smallCsv()}\n`);
    await using service = await BenchService.start(bench, { 'small.csv': csv });
    await using hello = await ServerProcess.start({
      command: [await compiled('elysia-hello.ts', bench.folder)],
      cwd: bench.folder,
      logFile: join(bench.folder, 'hello.log'),
    });
    const { url, headers } = service;
    const health = await (await fetch(`${url}/health`)).text();
    requireEqual('the health', JSON.parse(health).status, 'ok');
    const rows = await (await service.get('/api/small/')).text();
    requireEqual(
      'the rows',
      JSON.parse(rows).map(idOf),
      [...Array(ROWS).keys()].map((i) => i + 1),
    );
    requireEqual('the greeting', await (await fetch(hello.url)).text(), 'hello');
    const answer = join(bench.folder, 'answer.json');
    writeFileSync(answer, rows);
    await using duties = await ServerProcess.start({
      command: peer('duty-server.ts', answer),
      cwd: bench.folder,
      logFile: join(bench.folder, 'duties.log'),
    });
    requireEqual('the same rows', await (await fetch(duties.url, { headers })).text(), rows);
    const common = { connections: 16, seconds: 1 };
    const rates = {
      health: () =>
        requestsPerSecond({ ...common, url, paths: ['/health'], answerBytes: health.length }),
      rows: () =>
        requestsPerSecond({
          ...common,
          url,
          paths: ['/api/small/'],
          headers,
          answerBytes: rows.length,
        }),
      duties: () =>
        requestsPerSecond({
          ...common,
          url: duties.url,
          paths: ['/'],
          headers,
          answerBytes: rows.length,
        }),
      elysia: () => requestsPerSecond({ ...common, url: hello.url, paths: ['/'], answerBytes: 5 }),
    };
    for (const warm of Object.values(rates)) await warm();
    const rounds = await inTurns(bench, rates);
    const reference = {
      name: 'bare Elysia hello',
      unit: 'requests/s',
      values: rounds.elysia,
    } as const;
    return [
      {
        part: 'GET /health, anonymous',
        subject: { name: 'svc', unit: 'requests/s', values: rounds.health },
        reference,
        goal: { of: 'ratio', atLeast: 0.6 },
      },
      {
        part: 'GET of a 20-row dataset, API key',
        subject: { name: 'svc', unit: 'requests/s', values: rounds.rows },
        reference,
        goal: { of: 'ratio', atLeast: 0.3 },
      },
      {
        part: 'the same, to a bare server with the same duties',
        subject: { name: 'svc', unit: 'requests/s', values: rounds.rows },
        reference: { name: BARE_DUTIES, unit: 'requests/s', values: rounds.duties },
        goal: null,
      },
    ];
  },
};

function smallCsv(): string {
  const random = randomSource();
  const rows = Array.from({ length: ROWS }, (_, index) => productRow(index + 1, random));
  return [CSV_HEADER, ...rows].join('\n');
}

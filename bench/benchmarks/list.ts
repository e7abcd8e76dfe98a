/**
 * list: a filtered, sorted page against soul-cli, the fastest ready-made server of SQLite rows, with the same index.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { startListed } from '../listed-products.ts';
import { requestsPerSecond } from '../load.ts';
import { soulVersion, startSoul } from '../peers/soul.ts';
import { expectedIds, idOf, productDatabase, requireEqual } from '../products.ts';
import { inTurns } from '../rounds.ts';

const ROWS = 100_000;
const SOUL_PATH = '/api/tables/products/rows?_filters=price__gt:50&_ordering=price&_limit=100';

export const list: Benchmark = {
  name: 'list',
  work: '100 rows of a 100k × 8 CSV, filter price > 50, sort price, API key, 16 clients',
  async run(bench) {
    const database = join(bench.folder, 'soul.sqlite');
    copyFileSync(await productDatabase(ROWS), database);
    await using soul = await startSoul(database, bench.folder, bench.say);
    const answer = await (await fetch(soul.url + SOUL_PATH)).text();
    const { data } = JSON.parse(answer) as { data: unknown[] };
    requireEqual('the list of soul-cli', data.map(idOf), await expectedIds(ROWS));
    const soulLoad = {
      url: soul.url + SOUL_PATH,
      connections: 16,
      seconds: 2,
      answerBytes: answer.length,
    };
    await requestsPerSecond(soulLoad);
    const { service, load } = await startListed(bench, ROWS);
    await using _ = service;
    const rounds = await inTurns(bench, {
      svc: () => requestsPerSecond(load),
      soul: () => requestsPerSecond(soulLoad),
    });
    return [
      {
        part: '',
        subject: { name: 'svc', unit: 'requests/s', values: rounds.svc },
        reference: { name: soulVersion, unit: 'requests/s', values: rounds.soul },
        goal: { of: 'ratio', atLeast: 5 },
      },
    ];
  },
};

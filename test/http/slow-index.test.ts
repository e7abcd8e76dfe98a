/**
 * The search index may be busy for long: changes wait for it (DS-152), nobody else does.
 */
import { expect, test } from 'bun:test';
import { startService, type Service } from '../support/service.ts';
import { bytesOf, locksOn, update } from './changes.ts';
import { eventually } from './eventually.ts';
import { address, get, list } from './listing.ts';
import { childrenOf } from './process-memory.ts';
import { found } from './searching.ts';
import { patienceFor } from '../support/patience.ts';

/** As long as a change takes several times over. */
const A_WHILE_MS = 500;
/** Far longer than a read takes, far shorter than the index may. */
const PATIENCE_MS = 10_000;

function indexerOf({ pid }: Service): Promise<number> {
  return eventually(() => {
    const indexer = childrenOf(pid).find(({ command }) => / child index /.test(command));
    if (indexer === undefined) throw new Error('no indexer runs');
    return indexer.pid;
  });
}

test('while changes wait for the search index, the dataset is read and its file is free (DS-83, DS-152)', async () => {
  await using svc = await startService({ files: { 'fruit.csv': 'name\napple\npear\n' } });
  await svc.accounts.grant('ada', '*', 'read', 'write');
  const ada = await svc.as('ada');
  await eventually(async () => expect(await found(ada, 'apple')).toEqual(['fruit#1']));
  const indexer = await indexerOf(svc);
  const answered: string[] = [];
  const rename = async (name: string) => {
    const { status } = await update(ada, 'fruit', { _row_id: 1, name });
    answered.push(name);
    return status;
  };
  process.kill(indexer, 'SIGSTOP');
  try {
    const first = rename('papaya');
    await eventually(() => expect(bytesOf(svc, 'fruit.csv')).toBe('name\npapaya\npear\n'));
    const second = rename('quince');
    const until = performance.now() + A_WHILE_MS;
    while (performance.now() < until) {
      const signal = AbortSignal.timeout(patienceFor(PATIENCE_MS));
      const { status, rows } = await get(ada, address('fruit'), { signal });
      expect(status).toBe(200);
      expect(rows).toEqual([
        { _row_id: 1, name: 'papaya' },
        { _row_id: 2, name: 'pear' },
      ]);
    }
    expect(await locksOn(svc, 'fruit.csv')).toEqual([]);
    expect(answered).toEqual([]);
    process.kill(indexer, 'SIGCONT');
    expect(await Promise.all([first, second])).toEqual([200, 200]);
  } finally {
    process.kill(indexer, 'SIGCONT');
  }
  expect(answered).toEqual(['papaya', 'quince']);
  expect((await list(ada, 'fruit')).rows[0]).toEqual({ _row_id: 1, name: 'quince' });
  expect(await found(ada, 'quince')).toEqual(['fruit#1']);
  expect(await found(ada, 'papaya')).toEqual([]);
});

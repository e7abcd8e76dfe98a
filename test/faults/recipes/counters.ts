/**
 * R2: many clients add one to counters in a file, each on the version it read, while connections are cut. No acknowledged
 * addition is lost, none happens twice, and the versions of the acknowledged ones form one path.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, startService } from '../../support/service.ts';
import type { Recipe } from '../recipe.ts';
import type { Trial } from '../trial.ts';

const CLIENTS = 8;
const CUT_SHARE = 0.1;
/** A cut connection may be cut before or after the edit; sooner than an edit usually takes. */
const CUT_AFTER_MS = 15;

export const counters: Recipe = {
  id: 'R2',
  faults: 'F10',
  title: 'additions on the version that was read are neither lost nor done twice',
  needs: [],
  run: (trial) => addUp(trial, true),
  control: {
    title: 'clients that do not say which version they read lose additions',
    run: (trial) => addUp(trial, false),
  },
};

/** What the clients know: additions that were answered 200, and those whose answer was never seen. */
interface Sums {
  acknowledged: number;
  unknown: number;
}

async function addUp(trial: Trial, saysVersion: boolean): Promise<void> {
  await using service = await startService({ files: { 'sum.csv': 'name,count\na,0\n' } });
  await service.accounts.grant('adder', '*', 'read', 'write');
  const client = await service.as('adder');
  const each = trial.times(12, 2_500);
  const sums: Sums = { acknowledged: 0, unknown: 0 };
  const edges = new Map<string, string>();
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let done = 0; done < each; done++) {
        await addOne(trial, client, saysVersion, sums, edges);
      }
    }),
  );
  const final = Number(
    readFileSync(join(service.docroot, 'sum.csv'), 'utf8').split('\n')[1]!.split(',')[1],
  );
  const { acknowledged, unknown } = sums;
  trial.count('acknowledged additions', acknowledged);
  trial.count('additions whose answer was cut off', unknown);
  trial.check(final >= acknowledged, `${acknowledged} acknowledged, the file has ${final}`);
  const most = acknowledged + unknown;
  trial.check(final <= most, `${most} attempted, the file has ${final}`);
  const ends = new Set(edges.values());
  trial.check(ends.size === edges.size, 'two additions made the same version');
}

/** Repeats one addition until it is acknowledged or its answer is cut off. */
async function addOne(
  trial: Trial,
  client: Client,
  saysVersion: boolean,
  sums: Sums,
  edges: Map<string, string>,
): Promise<void> {
  for (;;) {
    const read = await client.fetch('/api/sum/');
    const [row] = (await read.json()) as { _row_id: number; count: number }[];
    const version = read.headers.get('etag') ?? '';
    const isCut = saysVersion && trial.random() < CUT_SHARE;
    const body = {
      action: 'update',
      data: { _row_id: row!._row_id, count: row!.count + 1 },
    };
    try {
      const answer = await client.fetch('/api/sum/', {
        method: 'PATCH',
        body: JSON.stringify(body),
        headers: saysVersion ? { 'If-Match': version } : {},
        ...(isCut && { signal: AbortSignal.timeout(CUT_AFTER_MS) }),
      });
      await answer.text();
      if (answer.status === 412) {
        trial.count('refused, as another was quicker');
        continue;
      }
      trial.check(answer.status === 200, `an addition is answered ${answer.status}`);
      sums.acknowledged += 1;
      if (saysVersion) {
        trial.check(!edges.has(version), `two additions were made on the version ${version}`);
        edges.set(version, answer.headers.get('etag') ?? '');
      }
    } catch (error) {
      if (!isCut) throw error;
      sums.unknown += 1;
    }
    return;
  }
}

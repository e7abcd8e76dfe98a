/**
 * Reads every dataset once to find the broken ones. Typed copies are made only of those that cannot be judged
 * without: ten thousand small files take seconds.
 */
import { AppError } from '../../base/errors.ts';
import { compareBytes } from '../../base/paths.ts';
import type { Tables } from '../../tables/copy/tables.ts';
import type { Datasets } from '../datasets.ts';
import type { ParseWorkers } from './parse-workers.ts';
import type { Registry, Resource } from '../registry/registry.ts';

/** Not read for a reason other than the file: a limit, a process that did not start. */
export interface Unread {
  readonly rel: string;
  readonly reason: string;
}

export type CheckProgress = (done: number, total: number) => void;

interface CheckParts {
  readonly registry: Registry;
  readonly datasets: Datasets;
  readonly tables: Tables;
  readonly workers: ParseWorkers;
}

const LANES = 2;
const BATCH = 32;

/** Afterwards the registry knows the problems. Returns the datasets that were not read, by rel. */
export async function checkFiles(
  parts: CheckParts,
  onProgress: CheckProgress,
): Promise<readonly Unread[]> {
  const waiting = parts.registry.list().filter(({ kind }) => kind.dataset);
  const total = waiting.length;
  const unread: Unread[] = [];
  let done = 0;
  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      const judged = await areReadable(batch, parts);
      waiting.unshift(...batch.slice(judged.length));
      for (const [index, isReadable] of judged.entries()) {
        const resource = batch[index]!;
        if (isReadable) parts.registry.setProblem(resource, null);
        else unread.push(...(await readWhole(resource, parts)));
        onProgress(++done, total);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, work));
  return unread.toSorted((a, b) => compareBytes(a.rel, b.rel));
}

/** Judges the first ones at least. */
async function areReadable(
  batch: readonly Resource[],
  { registry, datasets, workers }: CheckParts,
): Promise<readonly boolean[]> {
  try {
    return await workers.areReadable(
      batch.map((resource) => ({
        rel: resource.rel,
        sheet: resource.sheet,
        path: datasets.targetOf(resource).path,
        type: resource.type,
        companionRels: registry.companionsOf(resource),
      })),
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // One of them ended the worker: each is read by itself to find it.
    return batch.map(() => false);
  }
}

async function readWhole(
  resource: Resource,
  { datasets, tables }: CheckParts,
): Promise<readonly Unread[]> {
  try {
    await tables.current(datasets.targetOf(resource));
  } catch (error) {
    // A broken or vanished file is no failure here: the registry holds its problem.
    if (error instanceof AppError && error.status < 500) return [];
    return [{ rel: resource.rel, reason: error instanceof Error ? error.message : String(error) }];
  }
  return [];
}

/**
 * The job of the process that builds the substring index: a few steps at a time, so that it can be stopped between
 * them.
 */
import { Indexer } from './indexer.ts';

const WORK_MS = 300;

type Job = (body: unknown) => Promise<Response>;

export function eventIndexJobs(): Record<string, Job> {
  let indexer: Indexer | null = null;
  return {
    step: async (body) => {
      indexer ??= new Indexer((body as { stateDir: string }).stateDir);
      const startedAt = performance.now();
      let hasMore = true;
      try {
        while (hasMore && performance.now() - startedAt < WORK_MS) hasMore = indexer.step();
      } catch (error) {
        indexer.close();
        indexer = null;
        throw error;
      }
      return Response.json({ hasMore });
    },
  };
}

/** Jobs run in the order of the calls. */
import type { ChildPool } from '../processes/child-pool.ts';
import type { IndexWork } from './index-jobs.ts';

/** Far longer than any job; past it the worker is replaced. */
const JOB_MS = 120_000;

type Order<Job extends keyof IndexWork> = Parameters<IndexWork[Job]>[1];
type Answer<Job extends keyof IndexWork> = Awaited<ReturnType<IndexWork[Job]>>;

export type IndexClient = <Job extends keyof IndexWork>(
  job: Job,
  ...order: undefined extends Order<Job> ? [] : [Order<Job> & object]
) => Promise<Answer<Job>>;

export function indexClient(pool: ChildPool, path: string): IndexClient {
  return async (job: string, order?: object) => {
    const response = await pool.request(job, { ...order, path }, { timeoutMs: JOB_MS });
    // Typed by the work of that name.
    return (await response.json()) as never;
  };
}

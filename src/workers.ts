/**
 * What the worker processes do, role by role. Workers read hostile bytes and run queries of users, and may be killed at any
 * moment (architecture 4.4).
 */
import { kinds } from '../plugins/index.ts';
import { AppError } from './base/errors.ts';
import { strengthJobs } from './accounts/identity/password-strength.ts';
import { type ChildJobs, serveChild } from './processes/child-server.ts';
import { pastJobs } from './tables/history/past-copy.ts';
import { differenceJobs } from './tables/history/table-difference.ts';
import { listJobs } from './tables/read/list-run.ts';
import { queryJobs } from './tables/read/query-jobs.ts';
import { summaryJobs } from './tables/read/summary-jobs.ts';
import { fileJobs } from './docroot/parsing/file-jobs.ts';
import { loadJobs } from './docroot/parsing/load-table.ts';
import { readabilityJobs } from './docroot/parsing/readable-tables.ts';
import { makeEventFilter, searchParts } from './event-queries.ts';
import { eventIndexJobs } from './events/read/indexer.ts';
import { eventReadJobs } from './events/read/read-jobs.ts';
import { sealJobs } from './events/parts/seal-jobs.ts';
import { writerJobs } from './events/store/writer-jobs.ts';
import { pipelineJobs } from './language/run/search-jobs.ts';
import { indexJobs } from './fulltext/index-jobs.ts';
import { searchJobs } from './fulltext/search-jobs.ts';

/** The jobs of each role; made in the process that has it. */
const roles = new Map<string, () => ChildJobs>([
  [
    'parse',
    () => ({
      ...loadJobs(kinds),
      ...readabilityJobs(kinds),
      ...fileJobs(kinds),
      ...differenceJobs(),
      ...pastJobs(),
    }),
  ],
  [
    'query',
    () => ({
      ...queryJobs(),
      ...strengthJobs(),
      ...summaryJobs(),
      ...listJobs(),
      ...searchJobs(),
      ...eventReadJobs(makeEventFilter),
      ...pipelineJobs(searchParts),
    }),
  ],
  ['index', indexJobs],
  ['events', writerJobs],
  ['events-index', eventIndexJobs],
  ['events-seal', sealJobs],
]);

/** A worker process: serves the jobs of its role on a unix socket until the parent ends. Throws `usage`. */
export async function runWorker(role: string, socketPath: string): Promise<void> {
  if (role === 'handler') {
    const { serveScripts } = await import('./handlers/host/script-host.ts');
    return serveScripts(socketPath, process.env['SVC_DOCROOT'] ?? process.cwd());
  }
  const jobs = roles.get(role);
  if (jobs === undefined) throw new AppError('usage', `No worker role '${role}'`);
  // Typed copies hold what only some may read.
  process.umask(0o077);
  await serveChild({ socketPath, jobs: jobs() });
}

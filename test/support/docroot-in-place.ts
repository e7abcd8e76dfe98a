/**
 * A document root with its tables and edits, below the HTTP door: the jobs of its workers run in this process, so that a
 * test can come in between.
 */
import { mkdirSync } from 'node:fs';
import { kinds } from '../../plugins/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { ChildPool } from '../../src/processes/child-pool.ts';
import { defaultConfig } from '../../src/config/settings.ts';
import { parseMutation } from '../../src/tables/edit/change-request.ts';
import type { Table } from '../../src/tables/copy/table.ts';
import type { TableTarget } from '../../src/tables/copy/table-target.ts';
import { fileJobs } from '../../src/docroot/parsing/file-jobs.ts';
import { loadJobs } from '../../src/docroot/parsing/load-table.ts';
import { type Docroot, openDocroot } from '../../src/docroot/open-docroot.ts';
import { temporaryDatabase, testLog } from './database.ts';
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts';
import type { EditResult } from '../../src/tables/edit/draft.ts';

const METHODS = { create: 'POST', update: 'PATCH', delete: 'DELETE' } as const;

/** What is asked of the rows of a dataset; `ifMatch` as in an edit. */
export interface RowChange {
  readonly action: keyof typeof METHODS;
  readonly data: unknown;
  readonly ifMatch?: readonly string[];
}

/** The folder and what was made of it; closed and deleted at the end of an `await using` block. */
export interface DocrootInPlace extends AsyncDisposable {
  readonly folder: TemporaryFolder;
  readonly docroot: Docroot;
  /** Called before a job of a worker runs, by its name. */
  beforeJob: (job: string) => void | Promise<void>;
  targetOf(name: string): TableTarget;
  /** The dataset of a name as it is now. */
  table(name: string): Promise<Table>;
  /** The ids of its rows, in order. */
  ids(name: string): Promise<number[]>;
  change(name: string, change: RowChange): Promise<EditResult>;
  /** As at the end of a server; the folder stays. */
  stop(): Promise<void>;
}

/** In `folder`, or in one of its own. */
export async function docrootInPlace(
  files: Readonly<Record<string, string | Uint8Array>>,
  folder = temporaryFolder(),
  beforeJob: DocrootInPlace['beforeJob'] = () => {},
): Promise<DocrootInPlace> {
  for (const [rel, content] of Object.entries(files)) folder.write(rel, content);
  mkdirSync(folder.at('.svc'), { recursive: true });
  const database = await temporaryDatabase();
  const config = defaultConfig(folder.path, folder.at('.svc'));
  const jobs = { ...loadJobs(kinds), ...fileJobs(kinds) };
  const request = async (job: string, body: unknown): Promise<Response> => {
    await inPlace.beforeJob(job);
    return jobs[job]!(JSON.parse(JSON.stringify(body)), new AbortController().signal);
  };
  const docroot = openDocroot({
    config: () => config,
    kinds,
    db: database.db,
    clock: systemClock,
    log: testLog().log,
    pool: { request } as unknown as ChildPool,
    index: () => null,
    feed: () => null,
    exclusive: true,
    readsAhead: false,
  });
  const inPlace: DocrootInPlace = {
    folder,
    docroot,
    beforeJob,
    targetOf: (name) => docroot.datasets.targetOf(docroot.registry.lookup('dataset', name)!),
    table: (name) => docroot.tables.current(inPlace.targetOf(name)),
    ids: async (name) => {
      const { reader } = await inPlace.table(name);
      const rows = reader.query('SELECT _row_id FROM rows ORDER BY _row_id').values() as [number][];
      return rows.map(([id]) => id);
    },
    change: (name, { ifMatch = null, ...body }) =>
      docroot.edits.submit({
        target: inPlace.targetOf(name),
        owner: 'ada',
        userId: 1,
        name,
        ifMatch,
        isAlone: false,
        validate: ({ spelledColumns }) => parseMutation(METHODS[body.action], body, spelledColumns),
      }),
    async stop() {
      await docroot.stop();
      await docroot.close();
      await database[Symbol.asyncDispose]();
    },
    async [Symbol.asyncDispose]() {
      await inPlace.stop();
      folder[Symbol.dispose]();
    },
  };
  await docroot.scan();
  await docroot.registry.listed();
  return inPlace;
}

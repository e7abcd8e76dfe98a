/**
 * All that lives as long as the process. Every change of a file is handled here first, so that no later request sees
 * a copy, page or name of an older version.
 */
import { join } from 'node:path';
import { replaceFile } from '../base/files/atomic-file.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { ReplacedFiles } from '../base/files/replaced-files.ts';
import type { ChildPool } from '../processes/child-pool.ts';
import type { Config } from '../config/settings.ts';
import { type EditFeed, Edits } from '../tables/edit/edits.ts';
import { moveOwnership } from '../accounts/rights/upload-groups.ts';
import type { Table } from '../tables/copy/table.ts';
import type { TableTarget } from '../tables/copy/table-target.ts';
import { Tables } from '../tables/copy/tables.ts';
import type { Database } from '../store/database.ts';
import { removeDerived } from '../store/leftovers.ts';
import { stateFolder } from '../store/state-files.ts';
import { CopiesOfUnmounted } from './registry/copies-of-unmounted.ts';
import { CacheEntries } from './cache-entries.ts';
import { Datasets } from './datasets.ts';
import { DocumentRoot } from './document-root.ts';
import { FileVersions, VERSIONS_FOLDER } from './file-versions.ts';
import { Documents } from './documents.ts';
import { type CheckProgress, checkFiles, type Unread } from './parsing/file-check.ts';
import { FirstReads } from './parsing/first-reads.ts';
import type { Kind } from './kind.ts';
import { createKindTable } from './registry/kind-table.ts';
import { ClientLocks } from './client-locks.ts';
import { FileLocks } from './locks.ts';
import { FileMoves } from './moves/file-moves.ts';
import { openForRead, type OpenedFile, targetPath } from './opener.ts';
import { ParseWorkers } from './parsing/parse-workers.ts';
import { ARRIVALS_FILE } from './registry/arrivals.ts';
import { Registry, type Resource } from './registry/registry.ts';
import { Uploads } from './uploads/uploads.ts';
import { ChangeLog } from '../tables/history/change-log.ts';
import { PastTables } from '../tables/history/past-tables.ts';
import { DocrootWatch } from './registry/watch.ts';

interface ContentIndex {
  /** With the rows that an edit added and removed; the edit is answered when this resolves. */
  edited(
    target: TableTarget,
    table: Table,
    rows: { readonly put: readonly number[]; readonly remove: readonly number[] },
  ): Promise<void>;
  /** The file changed, but not this table. */
  restamped(target: TableTarget, table: Table): Promise<void>;
  /** Whether searches read rows from the typed copy of that file name. */
  reads(copy: string): boolean;
  /** Resolves when the resource can be found as it is. */
  settled(resource: Resource): Promise<void>;
}

interface DocrootOptions {
  readonly config: () => Config;
  readonly kinds: readonly Kind[];
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly pool: ChildPool;
  /** Null before it exists. */
  readonly index: () => ContentIndex | null;
  readonly feed: () => EditFeed | null;
  /** False for a command beside a server: nothing of the server's is deleted or shared. */
  readonly exclusive: boolean;
  readonly readsAhead: boolean;
}

/** Of hundreds of workbooks the rest appear as they are read. */
const MAX_LISTING_MS = 3_000;

/** Nothing is read before `scan`. */
export interface Docroot {
  readonly root: DocumentRoot;
  readonly workers: ParseWorkers;
  readonly registry: Registry;
  readonly datasets: Datasets;
  readonly locks: FileLocks;
  readonly tables: Tables;
  readonly edits: Edits;
  readonly changeLog: ChangeLog;
  readonly versions: FileVersions;
  readonly past: PastTables;
  readonly uploads: Uploads;
  readonly moves: FileMoves;
  readonly clientLocks: ClientLocks;
  readonly cache: CacheEntries;
  readonly documents: Documents;
  /** Only in the serving process. `onTouched` follows the registry's update. */
  watch(onTouched: (rels: ReadonlySet<string> | 'everything') => void): void;
  /** Call it when all listeners of the registry are registered. */
  scan(): Promise<void>;
  settled(): Promise<void>;
  check(onProgress: CheckProgress): Promise<readonly Unread[]>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Changes no state and no files. */
export function openDocroot(options: DocrootOptions): Docroot {
  const { config, clock, log, exclusive, index } = options;
  const { docroot, state_dir: stateDir, plugin_registry: overrides } = config();
  const now = (): number => clock.now();
  const root = new DocumentRoot(docroot, stateDir);
  const workers = new ParseWorkers(options.pool, config);
  const kindOf = createKindTable(options.kinds, overrides);
  const registry = new Registry({
    root,
    kindOf,
    log,
    // A command beside the server must not delete what the server is writing.
    startedAtMs: exclusive ? now() : null,
    sheetMemory: exclusive ? join(stateDir, 'sheets.json') : null,
    arrivalMemory: { path: join(stateDir, ARRIVALS_FILE), isWritten: exclusive },
    mountMemory: exclusive ? join(stateDir, 'mounts.json') : null,
    sheetsOf: (file) => workers.sheetsOf(file),
    isSwitchedOff: (extension) => overrides[extension] === 'none',
    publishesHiddenSheets: config().resources.hidden_sheets,
  });
  const datasets = new Datasets(registry);
  const timeoutMs = (): number => config().locks.timeout_seconds * 1000;
  const limits = () => ({ ttlMs: config().locks.ttl_seconds * 1000, timeoutMs: timeoutMs() });
  const locks = new FileLocks({ db: options.db, clock, log, limits });
  const tablesFolder = exclusive ? 'tables' : `tmp/tables-${process.pid}`;
  const open = ({ rel }: Pick<TableTarget, 'rel'>): Promise<OpenedFile> => openForRead(root, rel);
  const tables = new Tables({
    dir: stateFolder(stateDir, tablesFolder),
    build: async (order, turn) => {
      const resource = datasets.resourceOf(order.target);
      await workers.build(resource, registry.companionsOf(resource), order, turn);
    },
    open,
    onProblem: (target, problem) => registry.setProblem(target, problem),
    isRead: (copy) => index()?.reads(copy) ?? false,
    // A command beside the server sees neither all that was there nor what the server notes.
    onSuperseded: async (target, old, made) => {
      if (exclusive) await past.follow(target, old, made);
    },
    now,
    log,
  });
  const replaced = new ReplacedFiles({
    directory: join(stateDir, 'replaced'),
    clock,
    log,
    onConflict: (changed, copy) =>
      log.error(
        'another program wrote to a version that had just been replaced; its bytes were kept',
        { resource: root.relOf(changed), copy: `replaced/${copy}` },
      ),
  });
  const history = () => config().history;
  const changeLog = new ChangeLog(options.db, history, now, (error) =>
    log.warning('a change is made without its history', { error }),
  );
  const versions = new FileVersions({
    dir: join(stateDir, VERSIONS_FOLDER),
    root,
    locks,
    replaced,
    changeLog,
    limits: history,
    log,
  });
  const past = new PastTables({
    dir: join(stateFolder(stateDir, 'tmp'), exclusive ? 'past' : `past-${process.pid}`),
    changeLog,
    pool: options.pool,
    timeoutMs: () => config().limits.parse_timeout_seconds * 1000,
    maxBytes: () => history().max_bytes_per_table,
    log,
  });
  const firstReads = new FirstReads({
    read: async (resource, turn) => {
      await tables.current(datasets.targetOf(resource), turn);
    },
    log,
  });
  if (options.readsAhead) firstReads.follow(registry);
  const cache = new CacheEntries(clock);
  const copiesOfUnmounted = new CopiesOfUnmounted({ registry, tables, log });
  forgetChanges(registry, tables, cache, copiesOfUnmounted);
  const moves = new FileMoves({
    registry,
    locks,
    tables,
    versions,
    log,
    now,
    followed: async (was, to) => {
      await changeLog.renamed(was, to);
      await moveOwnership(options.db, was, to);
    },
    limits: () => config().files,
  });
  let stopWatching = async (): Promise<void> => {};
  let isStopped = false;

  return {
    root,
    workers,
    registry,
    datasets,
    locks,
    tables,
    cache,
    edits: new Edits({
      tables,
      lock: (resource, owner, reason, waitedMs) =>
        locks.acquire({ resource, owner, reason, waitedMs }),
      open,
      plan: async (target, source, layout, changes) =>
        workers.planEdit(datasets.resourceOf(target), { source, layout, changes }),
      siblings: (target) => datasets.siblingsOf(target),
      replace: ({ rel }, order) =>
        replaceFile({ ...order, path: targetPath(root, rel), rel, replaced }),
      onFollowed: async (target, table, rows) => {
        await index()?.edited(target, table, rows);
        for (const sibling of datasets.siblingsOf(target)) {
          const other = tables.peek(sibling);
          if (other !== null) await index()?.restamped(sibling, other);
        }
      },
      changeLog,
      feed: options.feed,
      timeoutMs,
      now,
      log,
    }),
    changeLog,
    versions,
    past,
    moves,
    clientLocks: new ClientLocks(locks),
    uploads: new Uploads({
      registry,
      kindOf,
      locks,
      replaced,
      versions,
      scratch: stateFolder(stateDir, 'tmp'),
      read: async (resource) => {
        if (resource.kind.dataset) await tables.current(datasets.targetOf(resource));
        await index()?.settled(resource);
      },
    }),
    documents: new Documents({
      root,
      familyOf: (rel) => {
        const { type, family } = registry.get(rel) ?? kindOf(rel) ?? {};
        if (type === 'dashboard') return type;
        return type === 'handler' ? null : (family ?? null);
      },
      cache,
      run: (job, resource, maxBytes) => workers.readDocument(job, resource, maxBytes),
    }),
    watch: (onTouched) => {
      stopWatching = follow(registry, options, onTouched);
    },
    scan: async () => {
      if (exclusive) {
        await replaced.removeLeftovers();
        await versions.settle();
        await past.close();
        await moves.recover();
      }
      await registry.rescan();
      // Worksheets have names only after their workbook was opened.
      const listed = registry.listed();
      await Promise.race([listed, Bun.sleep(MAX_LISTING_MS)]);
      void listed.then(() => (isStopped ? undefined : prune(log, registry, tables)));
    },
    settled: async () => {
      await registry.listed();
      await firstReads.idle();
    },
    check: (onProgress) => checkFiles({ registry, datasets, tables, workers }, onProgress),
    stop: async () => {
      isStopped = true;
      await stopWatching();
      firstReads.close();
      copiesOfUnmounted.close();
    },
    close: async () => {
      await past.close();
      await tables.close();
      if (!exclusive) removeDerived(join(stateDir, tablesFolder));
      await replaced.close();
      await locks.releaseAll();
    },
  };
}

async function prune(log: Log, registry: Registry, tables: Tables): Promise<void> {
  try {
    const datasets = registry.list().filter(({ kind }) => kind.dataset);
    await tables.prune(datasets, (rel) => registry.isAway(rel) || registry.isUnlisted(rel));
  } catch (error) {
    log.warning('copies of files that are gone were not deleted', { error });
  }
}

function forgetChanges(
  registry: Registry,
  tables: Tables,
  cache: CacheEntries,
  copiesOfUnmounted: CopiesOfUnmounted,
): void {
  cache.onForget((rel) => tables.forget(rel));
  registry.onChange(({ changed, removed }) => {
    for (const { rel } of [...changed, ...removed]) cache.drop(rel);
    for (const { kind, rel, sheet } of removed) {
      if (!kind.dataset || registry.get(rel, sheet)?.kind.dataset) continue;
      if (registry.isAway(rel)) {
        tables.setAside({ rel, sheet });
        copiesOfUnmounted.add(rel);
      } else tables.drop({ rel, sheet });
    }
    copiesOfUnmounted.changed();
  });
}

/** Also rescans periodically, in case the kernel dropped an event. */
function follow(
  registry: Registry,
  { config, log }: DocrootOptions,
  onTouched: (rels: ReadonlySet<string> | 'everything') => void,
): () => Promise<void> {
  let timer: Timer;
  const rescanLater = (): void => {
    timer = setTimeout(async () => {
      try {
        await registry.rescan();
      } catch (error) {
        log.warning('the document root was not walked', { error });
      }
      rescanLater();
    }, config().limits.rescan_seconds * 1000);
    timer.unref();
  };
  const watcher = new DocrootWatch({
    root: registry.root,
    log,
    onPaths: async (rels) => {
      await (rels === 'everything' ? registry.rescan() : registry.refresh(rels));
      onTouched(rels);
    },
  });
  rescanLater();
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}

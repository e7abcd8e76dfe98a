/**
 * Everything of the published folder that lives as long as the process, joined in one place: what is there, the typed
 * copies and what is made of documents, and the ways to change a file.
 *
 * Every change of a file is heard of here first, so whoever asks afterwards finds no copy, page or name of an older version.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../base/atomic-file.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { ReplacedFiles } from '../base/replaced-files.ts';
import type { ChildPool } from '../children/child-pool.ts';
import type { Config } from '../config/schema.ts';
import { Edits } from '../dataset/edits.ts';
import type { Table } from '../dataset/table.ts';
import type { TableTarget } from '../dataset/table-target.ts';
import { Tables } from '../dataset/tables.ts';
import type { Database } from '../store/database.ts';
import { stateFolder } from '../store/state-files.ts';
import { AwayCopies } from './away-copies.ts';
import { CacheEntries } from './cache.ts';
import { Datasets } from './datasets.ts';
import { DocumentRoot } from './document-root.ts';
import { Documents } from './documents.ts';
import { type CheckProgress, checkFiles, type Unread } from './file-check.ts';
import { FirstReads } from './first-reads.ts';
import type { Kind } from './kind.ts';
import { createKindTable, type KindTable } from './kind-table.ts';
import { FileLocks, type LockReason } from './locks.ts';
import { openForRead, targetPath } from './opener.ts';
import { ParseWorkers } from './parse-workers.ts';
import { Registry, type Resource } from './registry.ts';
import { Uploads } from './uploads.ts';
import { watchDocroot } from './watch.ts';

/** An index over the contents that answers as the files are now (DS-152). */
export interface ContentIndex {
  /** Told the rows an edit put and removed; the edit is answered when this resolves. */
  edited(
    target: TableTarget,
    table: Table,
    rows: { readonly put: readonly number[]; readonly remove: readonly number[] },
  ): Promise<void>;
  /** Told that a file changed, but not in this table. */
  restamped(target: TableTarget, table: Table): Promise<void>;
  /** Resolves when the resource can be found as it is. */
  settled(resource: Resource): Promise<void>;
}

interface DocrootOptions {
  readonly config: () => Config;
  readonly kinds: readonly Kind[];
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** The parse workers. */
  readonly pool: ChildPool;
  /** Null as long as there is none. */
  readonly index: () => ContentIndex | null;
  /** False beside a server: nothing that belongs to it is tidied away or shared. */
  readonly exclusive: boolean;
  /** Whether datasets are read before they are asked for. */
  readonly readsAhead: boolean;
}

/** How long a start waits for the names of worksheets; hundreds of workbooks take longer and appear as they are read. */
const MAX_LISTING_MS = 3_000;

/** The published folder. Nothing is looked at before `scan`. */
export interface Docroot {
  readonly root: DocumentRoot;
  readonly workers: ParseWorkers;
  readonly registry: Registry;
  readonly datasets: Datasets;
  readonly locks: FileLocks;
  readonly tables: Tables;
  readonly edits: Edits;
  readonly uploads: Uploads;
  readonly cache: CacheEntries;
  readonly documents: Documents;
  /** Follows changes from now on; `onTouched` hears of them after the registry. Only in the process that serves. */
  watch(onTouched: (rels: ReadonlySet<string> | 'everything') => void): void;
  /** Looks at everything once; call it when all who listen to the registry do. */
  scan(): Promise<void>;
  /** Resolves when every dataset found so far has been read once. */
  settled(): Promise<void>;
  /** See `checkFiles`. */
  check(onProgress: CheckProgress): Promise<readonly Unread[]>;
  /** Follows and reads nothing more. */
  stop(): Promise<void>;
  /** Ends what `stop` left, after the last request. */
  close(): Promise<void>;
}

/** Joins the parts; state and files are left as they are. */
export function openDocroot(options: DocrootOptions): Docroot {
  const { config, clock, log, exclusive } = options;
  const { docroot: path, state_dir: stateDir, plugin_registry: overrides } = config();
  const root = new DocumentRoot(path, stateDir);
  const workers = new ParseWorkers(options.pool, config);
  const kindOf = createKindTable(options.kinds, overrides);
  const registry = openRegistry(options, { root, workers, kindOf });
  const datasets = new Datasets(registry);
  const locks = openLocks(options);
  const tables = openTables(options, { root, workers, registry, datasets });
  const replaced = openReplaced(options, root);
  const parts = { root, workers, kindOf, registry, datasets, locks, tables, replaced };
  const firstReads = openFirstReads(options, parts);
  const cache = new CacheEntries(clock);
  const awayCopies = new AwayCopies({ registry, tables, log });
  forgetChanges(parts, cache, awayCopies);
  let stopWatching = async (): Promise<void> => {};
  let isStopped = false;

  return {
    ...parts,
    edits: openEdits(options, parts),
    uploads: openUploads(options, parts),
    cache,
    documents: new Documents({
      root,
      kindOf,
      cache,
      run: (job, resource, limits) => workers.readDocument(job, resource, limits),
    }),
    watch: (onTouched) => {
      stopWatching = follow(registry, options, onTouched);
    },
    scan: async () => {
      if (exclusive) await replaced.removeLeftovers();
      await registry.rescan();
      // Worksheets have names only once their workbook was opened: known ones answer from the first request on.
      const listed = registry.listed();
      await Promise.race([listed, Bun.sleep(MAX_LISTING_MS)]);
      void listed.then(() => (isStopped ? undefined : prune(options, registry, tables)));
    },
    settled: async () => {
      await registry.listed();
      await firstReads.idle();
    },
    check: (onProgress) => checkFiles(parts, onProgress),
    stop: async () => {
      isStopped = true;
      await stopWatching();
      firstReads.close();
      awayCopies.close();
    },
    close: async () => {
      await tables.close();
      // Nobody else reads the copies of a command.
      const copies = join(stateDir, tablesFolder(exclusive));
      if (!exclusive) await rm(copies, { recursive: true, force: true });
      await replaced.close();
      await locks.releaseAll();
    },
  };
}

/** In the state folder; a second process beside the server must not touch the copies the server reads. */
function tablesFolder(exclusive: boolean): string {
  return exclusive ? 'tables' : `tmp/tables-${process.pid}`;
}

interface Parts extends Pick<
  Docroot,
  'root' | 'workers' | 'registry' | 'datasets' | 'locks' | 'tables'
> {
  readonly kindOf: KindTable;
  readonly replaced: ReplacedFiles;
}

function openRegistry(
  { config, clock, log, exclusive }: DocrootOptions,
  { root, workers, kindOf }: Pick<Parts, 'root' | 'workers' | 'kindOf'>,
): Registry {
  return new Registry({
    root,
    kindOf,
    log,
    // A command beside the server must not tidy away what the server is writing.
    startedAtMs: exclusive ? clock.now() : null,
    sheetMemory: exclusive ? join(config().state_dir, 'sheets.json') : null,
    mountMemory: exclusive ? join(config().state_dir, 'mounts.json') : null,
    sheetsOf: (file) => workers.sheetsOf(file),
  });
}

function openLocks({ config, db, clock, log }: DocrootOptions): FileLocks {
  return new FileLocks({
    db,
    clock,
    log,
    limits: () => ({
      ttlMs: config().locks.ttl_seconds * 1000,
      timeoutMs: config().locks.timeout_seconds * 1000,
    }),
  });
}

function openTables(
  { config, clock, log, exclusive }: DocrootOptions,
  { root, workers, registry, datasets }: Pick<Parts, 'root' | 'workers' | 'registry' | 'datasets'>,
): Tables {
  return new Tables({
    dir: stateFolder(config().state_dir, tablesFolder(exclusive)),
    build: async (order) => {
      const resource = datasets.resourceOf(order.target);
      await workers.build(resource, registry.companionsOf(resource), order);
    },
    open: ({ rel }) => openForRead(root, rel),
    onProblem: (target, problem) => registry.setProblem(target, problem),
    now: () => clock.now(),
    log,
  });
}

function openReplaced({ config, clock, log }: DocrootOptions, root: DocumentRoot): ReplacedFiles {
  return new ReplacedFiles({
    directory: join(config().state_dir, 'replaced'),
    clock,
    log,
    onConflict: (changed, copy) =>
      log.error(
        'another program wrote to a version that had just been replaced; its bytes were kept',
        { resource: root.relOf(changed), copy: `replaced/${copy}` },
      ),
  });
}

function openFirstReads(
  { log, readsAhead }: DocrootOptions,
  { registry, datasets, tables }: Parts,
): FirstReads {
  const firstReads = new FirstReads({
    read: async (resource) => {
      await tables.current(datasets.targetOf(resource));
    },
    log,
  });
  if (readsAhead) firstReads.follow(registry);
  return firstReads;
}

async function prune({ log }: DocrootOptions, registry: Registry, tables: Tables): Promise<void> {
  try {
    const datasets = registry.list().filter(({ kind }) => kind.dataset);
    await tables.prune(datasets, (rel) => registry.isAway(rel) || registry.isUnlisted(rel));
  } catch (error) {
    log.warning('copies of files that are gone were not deleted', { error });
  }
}

/** What was made of a file that changed is made anew; the copy of one that is gone goes with it. */
function forgetChanges(
  { registry, tables }: Parts,
  cache: CacheEntries,
  awayCopies: AwayCopies,
): void {
  cache.onForget((rel) => tables.forget(rel));
  registry.onChange(({ changed, removed }) => {
    for (const { rel } of [...changed, ...removed]) cache.drop(rel);
    for (const { kind, rel, sheet } of removed) {
      if (!kind.dataset || registry.get(rel, sheet)) continue;
      if (registry.isAway(rel)) {
        tables.setAside({ rel, sheet });
        awayCopies.add(rel);
      } else tables.drop({ rel, sheet });
    }
    awayCopies.changed();
  });
}

function openEdits(
  { config, clock, log, index }: DocrootOptions,
  { root, workers, datasets, locks, tables, replaced }: Parts,
): Edits {
  return new Edits({
    tables,
    lock: (resource, owner, reason, waitedMs) =>
      locks.acquire({ resource, owner, reason: reason as LockReason, waitedMs }),
    open: ({ rel }) => openForRead(root, rel),
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
    timeoutMs: () => config().locks.timeout_seconds * 1000,
    now: () => clock.now(),
    log,
  });
}

function openUploads(
  { config, index }: DocrootOptions,
  { registry, kindOf, datasets, locks, tables, replaced }: Parts,
): Uploads {
  return new Uploads({
    registry,
    kindOf,
    locks,
    replaced,
    scratch: stateFolder(config().state_dir, 'tmp'),
    read: async (resource) => {
      if (resource.kind.dataset) await tables.current(datasets.targetOf(resource));
      await index()?.settled(resource);
    },
  });
}

/** Watches the folder, and looks at everything now and then in case the kernel dropped an event. */
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
  const watcher = watchDocroot({
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

/**
 * The composition root: configuration in, services out. The only file that knows the plugins, and the place where
 * contracts stated by lower parts meet what fulfils them.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '../plugins/index.ts';
import { Audit } from './auth/audit.ts';
import { LocalLogin } from './auth/local-login.ts';
import { isOidcOn, type Oidc, openOidc } from './auth/oidc/oidc.ts';
import { settlePromises } from './auth/upload-groups.ts';
import { replaceFile } from './base/atomic-file.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { AppError } from './base/errors.ts';
import type { FileSource } from './base/file-source.ts';
import type { Log } from './base/log.ts';
import { ReplacedFiles } from './base/replaced-files.ts';
import { ChildPool } from './children/child-pool.ts';
import { serveChild } from './children/child-server.ts';
import type { Config } from './config/schema.ts';
import { Edits } from './dataset/edits.ts';
import { listJobs, type Lists, runList } from './dataset/list-run.ts';
import { queryJobs } from './dataset/query-jobs.ts';
import { summaryJobs } from './dataset/summary-jobs.ts';
import { Reading } from './dataset/reading.ts';
import { type BuildOrder, Tables, type TableTarget } from './dataset/tables.ts';
import type { EditPlan, TableChanges, TableLayout } from './dataset/types.ts';
import { CacheEntries } from './docroot/cache.ts';
import { DocumentRoot } from './docroot/document-root.ts';
import { Documents } from './docroot/documents.ts';
import {
  type DocumentJob,
  editFile,
  type EditOrder,
  type FileOrder,
  isPublished,
  listSheets,
  readEditPlan,
  readMediaMetadata,
  renderFile,
  type SectionsOrder,
  wireChanges,
  writeSections,
} from './docroot/file-jobs.ts';
import { FirstReads } from './docroot/first-reads.ts';
import { createKindTable } from './docroot/kind-table.ts';
import { type LoadOrder, loadTableFile } from './docroot/load-table.ts';
import { clearLocks, FileLocks, type LockReason } from './docroot/locks.ts';
import { openForRead, targetPath } from './docroot/opener.ts';
import { Registry, type Resource } from './docroot/registry.ts';
import { Uploads } from './docroot/uploads.ts';
import { watchDocroot } from './docroot/watch.ts';
import { Handlers } from './handlers/handlers.ts';
import { indexJobs } from './search/index-jobs.ts';
import { searchJobs } from './search/search-jobs.ts';
import { INDEX_FILE as SEARCH_INDEX_FILE, openSearch, type Search } from './search/search.ts';
import { extractPairs } from './events/extract/pairs.ts';
import { eventIndexJobs } from './events/index-jobs.ts';
import { closeEvents, type EventParts, openEvents } from './events/open-events.ts';
import { type MakeEventFilter, QueryProblem } from './events/query-filter.ts';
import { EventReader } from './events/reader.ts';
import { eventReadJobs } from './events/read-jobs.ts';
import { EVENTS_FILE } from './events/schema.ts';
import { INDEX_FILE as EVENTS_INDEX_FILE } from './events/text-index.ts';
import { Retention } from './events/retention.ts';
import { writerJobs } from './events/writer-jobs.ts';
import { createEventFilter } from './pipeline/event-filter.ts';
import { Problem } from './pipeline/problem.ts';
import { pipelineJobs, type SearchParts } from './pipeline/search-jobs.ts';
import { Searches } from './pipeline/searches.ts';
import { isObject, valueOfJson, type Value } from './pipeline/value.ts';
import type { Database } from './store/database.ts';
import { foldLog } from './store/fold-log.ts';
import { readInstanceKey } from './store/instance-key.ts';
import { migrations } from './store/migrations/index.ts';
import { explain } from './store/state-check.ts';
import { openState, type State } from './store/state.ts';
import { DATABASE_FILE } from './store/state-files.ts';

/** Everything an operation may ask for; each names the few it needs. */
export interface App {
  /** The effective configuration; a reload replaces it. */
  config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly db: Database;
  readonly serverSecret: Uint8Array;
  /** Seals tokens: a file of the operator, else the server secret (EV-16). */
  readonly instanceKey: Uint8Array;
  /** See `State.foldLog`. */
  readonly foldStateLog: () => Promise<void>;
  readonly audit: Audit;
  readonly localLogin: LocalLogin;
  /** Null while OIDC is off (DS-119). */
  readonly oidc: Oidc | null;
  readonly registry: Registry;
  readonly datasets: Datasets;
  readonly tables: Tables;
  readonly reading: Reading;
  readonly edits: Edits;
  readonly locks: FileLocks;
  readonly uploads: Uploads;
  readonly eventParts: EventParts;
  readonly retention: Retention;
  readonly cache: CacheEntries;
  readonly documents: Documents;
  readonly lists: Lists;
  /** Runs nothing in a process that does not serve. */
  readonly handlers: Handlers;
  /** Only in the process that serves, or in its place rebuilds the index. */
  readonly search: Search;
  readonly searches: Searches;
  readonly pools: Readonly<Record<'parse' | 'query' | 'index', ChildPool>>;
  /** Resolves when every dataset found so far has been read once. */
  readonly settled: () => Promise<void>;
  close(): Promise<void>;
}

/** Where the tables of published files stand. */
export interface Datasets {
  /** The table of a dataset resource. */
  targetOf(resource: Resource): TableTarget;
}

/** Parallel first readings; more would only compete for the disk. */
const PARSE_WORKERS = 2;
/** How long a start waits for the names of worksheets; hundreds of workbooks take longer and appear as they are read. */
const MAX_LISTING_MS = 3_000;
/** Heavy queries at once; the others wait in line. */
const QUERY_WORKERS = 2;

/**
 * Opens the state and reads the names of the document root. `exclusive` is true for the one process that serves;
 * `readsAhead` false leaves the datasets unread until they are asked for.
 * Throws `state-unusable`.
 */
export async function openApp(
  config: Config,
  log: Log,
  options: { readonly exclusive: boolean; readonly readsAhead?: boolean },
): Promise<App> {
  const clock = systemClock;
  const keyFile = config.instance_key_file;
  const ownKey = keyFile === null ? null : readInstanceKey(keyFile);
  const state = await openState({
    stateDir: config.state_dir,
    migrations,
    log,
    exclusive: options.exclusive,
  });
  const instanceKey = ownKey ?? state.serverSecret;
  const current = { config };
  const { db } = state;
  const audit = new Audit({ db, clock, log });
  const root = new DocumentRoot(config.docroot, config.state_dir);
  const pools = openPools(config, log);
  const kindOf = createKindTable(kinds, config.plugin_registry);
  const registry = new Registry({
    root,
    kindOf,
    log,
    // A command beside the server must not tidy away what the server is writing.
    startedAtMs: options.exclusive ? clock.now() : null,
    sheetMemory: options.exclusive ? join(config.state_dir, 'sheets.json') : null,
    sheetsOf: async ({ rel, kind }) => {
      const order = fileOrder(current.config, rel, kind.type);
      const response = await pools.parse.request(kind.detection ? 'detect' : 'sheets', order, {
        timeoutMs: current.config.limits.parse_timeout_seconds * 1000,
      });
      return (await response.json()) as string[] | null;
    },
  });
  if (options.exclusive) await clearOldLocks(state);
  const locks = new FileLocks({
    db,
    clock,
    log,
    limits: () => ({
      ttlMs: current.config.locks.ttl_seconds * 1000,
      timeoutMs: current.config.locks.timeout_seconds * 1000,
    }),
  });
  const datasets = locateDatasets(registry);
  const open = (target: TableTarget) => openForRead(root, target.rel);
  const tables = new Tables({
    // A second process beside the server must not touch the copies the server reads.
    dir: ensureFolder(config.state_dir, options.exclusive ? 'tables' : `tmp/tables-${process.pid}`),
    build: (order) => buildTable(pools.parse, registry, current.config, order),
    open,
    onProblem: (target, problem) => registry.setProblem(target, problem),
    now: () => clock.now(),
    log,
  });
  const replaced = new ReplacedFiles({
    directory: join(config.state_dir, 'replaced'),
    clock,
    log,
    onConflict: (path, copy) =>
      log.error(
        'another program wrote to a version that had just been replaced; its bytes were kept',
        {
          resource: root.relOf(path),
          copy: `replaced/${copy}`,
        },
      ),
  });
  let search: Search | null = null;
  const edits = new Edits({
    tables,
    lock: (resource, owner, reason) =>
      locks.acquire({ resource, owner, reason: reason as LockReason }),
    open,
    plan: (target, source, layout, changes) =>
      planEdit(kindOfTarget(registry, target), pools.parse, current.config, {
        target,
        source,
        layout,
        changes,
      }),
    siblings: (target) => siblingsOf(registry, datasets, target),
    replace: (target, order) =>
      replaceFile({ ...order, path: targetPath(root, target.rel), rel: target.rel, replaced }),
    onFollowed: async (target, table, rows) => {
      await search?.edited(target, table, rows);
      for (const sibling of siblingsOf(registry, datasets, target)) {
        const other = tables.peek(sibling);
        if (other !== null) await search?.restamped(sibling, other);
      }
    },
    timeoutMs: () => current.config.locks.timeout_seconds * 1000,
    now: () => clock.now(),
    log,
  });
  const firstReads = new FirstReads({
    read: async (resource) => {
      await tables.current(datasets.targetOf(resource));
    },
    log,
  });
  if (options.readsAhead ?? true) firstReads.follow(registry);
  const cache = new CacheEntries(clock);
  cache.onForget((rel) => tables.forget(rel));
  registry.onChange(({ changed, removed }) => {
    for (const { rel } of [...changed, ...removed]) cache.drop(rel);
    for (const { kind, rel, sheet } of removed) {
      if (kind.dataset && !registry.get(rel, sheet)) tables.drop({ rel, sheet });
    }
  });
  const handlers = openHandlers(registry, () => current.config, log);
  if (options.exclusive) followHandlers(registry, handlers);
  const stopWatching = options.exclusive
    ? followDocroot(
        registry,
        root,
        log,
        () => current.config,
        (rels) => handlers.touched(rels),
      )
    : null;
  if (options.exclusive) {
    await replaced.removeLeftovers();
    await settlePromises(db, (filename) => existsSync(root.absolute(filename)));
  }
  await registry.rescan();
  // Worksheets have names only once their workbook was opened: known ones answer from the first request on.
  const listed = registry.listed();
  await Promise.race([listed, Bun.sleep(MAX_LISTING_MS)]);
  const eventParts = openEvents({
    db,
    config: () => current.config,
    clock,
    log,
    command: (role, socketPath) => [...selfCommand(), 'child', role, socketPath],
    socketDir: ensureFolder(config.state_dir, 'run'),
    readers: pools.query,
  });
  const retention = new Retention({
    events: eventParts.events,
    audit,
    clock,
    log,
    config: () => current.config,
  });
  if (options.exclusive) retention.start();
  // Behind the start: requests for events wait for it, the others do not.
  if (options.exclusive) void eventParts.events.open();
  let isClosing = false;
  void listed.then(() => {
    if (!isClosing) tables.prune(registry.list().filter(({ kind }) => kind.dataset));
  });
  if (options.exclusive) {
    search = await openSearch({
      stateDir: config.state_dir,
      published: registry,
      contents: {
        table: async (resource) =>
          tables.current(datasets.targetOf(publishedAt(registry, resource))),
        sections: (resource, out) =>
          extractSections(pools.parse, current.config, { ...resource, out }),
      },
      pools,
      config: () => current.config,
      clock,
      log,
    });
  }

  return {
    get config() {
      return current.config;
    },
    set config(next: Config) {
      current.config = next;
    },
    log,
    clock,
    db,
    serverSecret: state.serverSecret,
    instanceKey,
    foldStateLog: () => state.foldLog(),
    audit,
    localLogin: new LocalLogin({
      db,
      clock,
      log,
      audit,
      isEnabled: () => current.config.oidc.local_login || !isOidcOn(current.config.oidc),
    }),
    oidc: openOidc({ settings: config.oidc, db, clock, log, audit }),
    registry,
    datasets,
    tables,
    reading: new Reading({
      pool: pools.query,
      timeoutMs: () => current.config.limits.query_timeout_seconds * 1000,
      log,
    }),
    edits,
    locks,
    uploads: new Uploads({
      registry,
      kindOf,
      locks,
      replaced,
      scratch: ensureFolder(config.state_dir, 'tmp'),
      read: async (resource) => {
        if (resource.kind.dataset) await tables.current(datasets.targetOf(resource));
        await search?.settled(resource);
      },
    }),
    cache,
    documents: new Documents({
      root,
      kindOf,
      cache,
      run: async (job, { rel, type }, { timeoutMs, maxBytes }) => {
        const order: DocumentJob = { ...fileOrder(current.config, rel, type), maxBytes };
        return (await pools.parse.request(job, order, { timeoutMs })).text();
      },
    }),
    lists: listsIn(config, pools.query, () => current.config),
    handlers,
    get search() {
      if (search === null) throw new Error('a command beside the server has no search');
      return search;
    },
    eventParts,
    retention,
    searches: new Searches({
      pool: pools.query,
      perUser: () => current.config.events.search.concurrent_per_user,
    }),
    pools,
    settled: async () => {
      await registry.listed();
      await firstReads.idle();
    },
    close: async () => {
      isClosing = true;
      await stopWatching?.();
      firstReads.close();
      search?.close();
      retention.stop();
      await Promise.all([closeEvents(eventParts), handlers.stop()]);
      await Promise.all(Object.values(pools).map((pool) => pool.stop()));
      if (options.exclusive) {
        for (const name of WORKERS_DATABASES) foldLog(join(config.state_dir, name), log);
      }
      await tables.close();
      await replaced.close();
      await locks.releaseAll();
      await audit.drain();
      await state.close();
    },
  };
}

/** Written by worker processes only. */
const WORKERS_DATABASES = [EVENTS_FILE, EVENTS_INDEX_FILE, SEARCH_INDEX_FILE];

/** The first write to the state (DS-92); when it fails, the refusal names the state as those of `openState` do. */
async function clearOldLocks(state: State): Promise<void> {
  try {
    await clearLocks(state.db);
  } catch (error) {
    await state.close();
    throw explain(state.dir, error);
  }
}

/** A filter may look at millions of rows, so a worker reads what is not cheap. */
function listsIn({ state_dir: dir }: Config, pool: ChildPool, config: () => Config): Lists {
  return {
    read: async (plan) => {
      const order = { path: join(dir, DATABASE_FILE), plan };
      if (plan.isCheap) return runList(order);
      const response = await pool.request('list', order, {
        timeoutMs: config().limits.query_timeout_seconds * 1000,
      });
      return (await response.json()) as Awaited<ReturnType<Lists['read']>>;
    },
  };
}

function openPools(config: Config, log: Log): App['pools'] {
  const socketDir = ensureFolder(config.state_dir, 'run');
  const temporary = ensureFolder(config.state_dir, 'tmp');
  const pool = (role: string, size: number): ChildPool =>
    new ChildPool({
      role,
      size,
      command: (socketPath) => [...selfCommand(), 'child', role, socketPath],
      socketDir,
      log,
      maxRssBytes: config.limits.child_memory_bytes,
      // While others wait for a place, a reader that takes nothing for so long loses its answer.
      readerPatienceMs: 5_000,
      // Large sorts spill to files; they belong beside the state, not on a small /tmp.
      env: { SQLITE_TMPDIR: temporary },
    });
  return {
    parse: pool('parse', PARSE_WORKERS),
    query: pool('query', QUERY_WORKERS),
    // The search index has one writer.
    index: pool('index', 1),
  };
}

/** Linux only. */
const RUNNING_PROGRAM = '/proc/self/exe';

/** How this very program is started again: the executable, or from source the runtime and main.ts. */
function selfCommand(): string[] {
  const isCompiled = Bun.main.startsWith('/$bunfs/') || /^[A-Z]:[\\/]~BUN/.test(Bun.main);
  if (!isCompiled) return [process.execPath, join(import.meta.dir, 'main.ts')];
  // The file may have been replaced by a newer version meanwhile; this link still leads to the one that runs.
  return [existsSync(RUNNING_PROGRAM) ? RUNNING_PROGRAM : process.execPath];
}

function ensureFolder(stateDir: string, name: string): string {
  const path = join(stateDir, name);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

function locateDatasets(registry: Registry): Datasets {
  const known = new WeakMap<Resource, TableTarget>();
  return {
    targetOf(resource) {
      let target = known.get(resource);
      if (!target) {
        const { rel, sheet } = resource;
        const { schema, options } = registry.companionsOf(resource);
        const absolute = (companion: string): string => registry.root.absolute(companion);
        target = {
          rel,
          sheet,
          path: registry.root.absolute(rel),
          companions: { schema: schema.map(absolute), options: options.map(absolute) },
        };
        known.set(resource, target);
      }
      return target;
    },
  };
}

function kindOfTarget(registry: Registry, target: TableTarget): Resource['kind'] {
  return publishedAt(registry, target).kind;
}

/** The resource as it is now. Throws `not-found`. */
function publishedAt(
  registry: Registry,
  { rel, sheet }: { readonly rel: string; readonly sheet: string | null },
): Resource {
  const resource = registry.get(rel, sheet);
  if (!resource) throw new AppError('not-found', 'Not Found');
  return resource;
}

/** What the search finds in a document, taken out of it in a parse worker. */
async function extractSections(
  pool: ChildPool,
  config: Config,
  { rel, type, out }: { readonly rel: string; readonly type: string; readonly out: string },
): Promise<void> {
  const { max_document_bytes: maxBytes } = config.search;
  const order: SectionsOrder = { ...fileOrder(config, rel, type), maxBytes, out };
  const timeoutMs = config.limits.parse_timeout_seconds * 1000;
  const response = await pool.request('sections', order, { timeoutMs });
  await response.body?.cancel();
}

/** A file for the parse worker. */
function fileOrder(config: Config, rel: string, type: string): FileOrder {
  return {
    docroot: config.docroot,
    stateDir: config.state_dir,
    rel,
    type,
    limits: { maxBytes: config.limits.max_workbook_bytes },
  };
}

/** The other tables of the same file. */
function siblingsOf(registry: Registry, datasets: Datasets, target: TableTarget): TableTarget[] {
  if (target.sheet === null) return [];
  return registry
    .list()
    .filter(({ rel, sheet }) => rel === target.rel && sheet !== target.sheet)
    .map((resource) => datasets.targetOf(resource));
}

interface EditRequest {
  readonly target: TableTarget;
  readonly source: FileSource;
  readonly layout: TableLayout;
  readonly changes: TableChanges;
}

/** The kind's edit, here when it only looks at the touched rows, else in a parse worker. */
async function planEdit(
  kind: Resource['kind'],
  pool: ChildPool,
  config: Config,
  { target, source, layout, changes }: EditRequest,
): Promise<EditPlan> {
  const order = fileOrder(config, target.rel, kind.type);
  const { edit, editsWholeFile } = kind.dataset!;
  if (!editsWholeFile) return edit!(source, layout, changes, order.limits);
  const response = await pool.request(
    'edit',
    { ...order, layout, changes: wireChanges(changes) },
    { timeoutMs: config.limits.parse_timeout_seconds * 1000 },
  );
  return readEditPlan(response);
}

async function buildTable(
  pool: ChildPool,
  registry: Registry,
  config: Config,
  order: BuildOrder,
): Promise<void> {
  const { target } = order;
  const resource = registry.get(target.rel, target.sheet);
  if (!resource) throw new AppError('not-found', 'Not Found');
  const load: LoadOrder = {
    ...order,
    ...fileOrder(config, target.rel, resource.type),
    companionRels: registry.companionsOf(resource),
  };
  const seconds = config.limits.parse_timeout_seconds;
  try {
    const response = await pool.request('load', load, {
      timeoutMs: seconds * 1000,
      memoryError: () =>
        new AppError('too-large', 'reading it needs more memory than limits.child_memory_bytes'),
    });
    await response.body?.cancel();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'timed-out') throw error;
    throw new AppError('timed-out', `reading it takes longer than ${seconds} seconds`, {
      cause: error,
    });
  }
}

/** The hosts of handler files, in processes of this program and of Python. */
function openHandlers(registry: Registry, config: () => Config, log: Log): Handlers {
  const { docroot, state_dir: stateDir } = config();
  return new Handlers({
    docroot,
    socketDir: ensureFolder(stateDir, 'run'),
    scriptCommand: (socketPath) => [...selfCommand(), 'child', 'handler', socketPath],
    environment: process.env,
    limits: () => ({
      timeoutMs: config().limits.handler_timeout_seconds * 1000,
      memoryBytes: config().limits.child_memory_bytes,
    }),
    onProblem: (rel, problem) => registry.setProblem({ rel, sheet: null }, problem),
    log,
  });
}

function followHandlers(registry: Registry, handlers: Handlers): void {
  const rels = (resources: readonly Resource[]): string[] =>
    resources.filter(({ type }) => type === 'handler').map(({ rel }) => rel);
  registry.onChange(({ added, changed, removed }) =>
    handlers.follow({ present: rels([...added, ...changed]), gone: rels(removed) }),
  );
}

/** Watches the folder, and looks at everything now and then in case the kernel dropped an event. */
function followDocroot(
  registry: Registry,
  root: DocumentRoot,
  log: Log,
  config: () => Config,
  onTouched: (rels: ReadonlySet<string> | 'everything') => void,
): () => Promise<void> {
  let timer: Timer;
  const rescanLater = (): void => {
    timer = setTimeout(async () => {
      await registry.rescan();
      rescanLater();
    }, config().limits.rescan_seconds * 1000);
    timer.unref();
  };
  const watcher = watchDocroot({
    root,
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

/** The accounts alone, for commands that work beside a running server or without one. */
export interface AccountsApp {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly lists: Lists;
  close(): Promise<void>;
}

/** Opens the accounts; what is changed takes effect in a running server with its next request. */
export async function openAccounts(config: Config, log: Log): Promise<AccountsApp> {
  const state = await openState({
    stateDir: config.state_dir,
    migrations,
    log,
    exclusive: false,
  });
  const clock = systemClock;
  const audit = new Audit({ db: state.db, clock, log, isCommandLine: true });
  const path = join(config.state_dir, DATABASE_FILE);
  return {
    db: state.db,
    audit,
    clock,
    lists: { read: async (plan) => runList({ path, plan }) },
    close: async () => {
      await audit.drain();
      await state.close();
    },
  };
}

/** A worker process: serves the jobs of its role on a unix socket until the parent ends. */
export async function runChild(role: string, socketPath: string): Promise<void> {
  if (role === 'handler') {
    const { serveScripts } = await import('./handlers/host/script-host.ts');
    return serveScripts(socketPath, process.env['SVC_DOCROOT'] ?? process.cwd());
  }
  // Typed copies hold what only some may read.
  process.umask(0o077);
  if (role === 'parse') {
    await serveChild({
      socketPath,
      jobs: {
        load: async (body) => {
          await loadTableFile(body as LoadOrder, kinds);
          return new Response(null, { status: 204 });
        },
        sheets: async (body) => Response.json(await listSheets(body as FileOrder, kinds)),
        // As a list of the resources in the file: none, or null for the file itself.
        detect: async (body) =>
          Response.json((await isPublished(body as FileOrder, kinds)) ? null : []),
        edit: (body) => editFile(body as EditOrder, kinds),
        render: async (body) => Response.json(await renderFile(body as DocumentJob, kinds)),
        metadata: async (body) => Response.json(await readMediaMetadata(body as FileOrder, kinds)),
        sections: async (body) => {
          await writeSections(body as SectionsOrder, kinds);
          return new Response(null, { status: 204 });
        },
      },
    });
  } else if (role === 'query') {
    await serveChild({
      socketPath,
      jobs: {
        ...queryJobs(),
        ...summaryJobs(),
        ...listJobs(),
        ...searchJobs(),
        ...eventReadJobs(makeEventFilter),
        ...pipelineJobs(searchParts),
      },
    });
  } else if (role === 'index') {
    await serveChild({ socketPath, jobs: indexJobs() });
  } else if (role === 'events') {
    await serveChild({ socketPath, jobs: writerJobs() });
  } else if (role === 'events-index') {
    await serveChild({ socketPath, jobs: eventIndexJobs() });
  } else {
    throw new AppError('usage', `No worker role '${role}'`);
  }
}

/** Queries that choose among events, for a part that does not know their language. */
export const makeEventFilter: MakeEventFilter = (query) => {
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      throw new QueryProblem(error.told(query.text));
    }
  };
  const { extract } = searchParts;
  const filter = told(() => createEventFilter(query.text, { ...query, extract }));
  return (rows) => told(() => filter(rows));
};

/** What queries need of the events, which they do not know. */
const searchParts: SearchParts = {
  openEvents: (directory) => {
    if (!existsSync(join(directory, EVENTS_FILE))) return null;
    const reader = new EventReader(directory);
    reader.begin();
    return {
      db: reader.db,
      indexNames: () => reader.indexNames(),
      term: (text) => reader.term(text, 'data'),
      close: () => {
        reader.end();
        reader.close();
      },
    };
  },
  extract: (style, text) => {
    if (style === 'kv') return extractPairs(text, 'kv') as Record<string, Value> | null;
    const value = valueOfJson(text);
    return isObject(value) ? value : null;
  },
};

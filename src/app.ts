/**
 * The composition root: configuration in, services out. One of two files that know the plugins (`workers.ts` is the other),
 * and the place where contracts stated by lower parts meet what fulfils them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '../plugins/index.ts';
import { Audit } from './accounts/audit/audit.ts';
import { needsFactor } from './accounts/factors/required.ts';
import { HandlerCalls } from './accounts/identity/handler-calls.ts';
import { LocalLogin } from './accounts/identity/local-login.ts';
import { LoginThrottle } from './accounts/identity/throttle.ts';
import {
  judgedIn,
  judgePassword,
  type JudgePassword,
} from './accounts/identity/password-strength.ts';
import { isOidcOn, type Oidc, openOidc } from './accounts/oidc/oidc.ts';
import { settlePromises } from './accounts/rights/upload-groups.ts';
import { type Clock, systemClock } from './base/clock.ts';
import type { Log } from './base/log.ts';
import { ChildPool, type ChildPoolOptions } from './processes/child-pool.ts';
import { workerCommand } from './processes/own-command.ts';
import { KeptExports } from './processes/kept-exports.ts';
import { SpoolRoom } from './processes/spool.ts';
import type { Config } from './config/settings.ts';
import { type Lists, runList } from './tables/read/list-run.ts';
import type { RowsPage } from './tables/copy/table-cache.ts';
import { TableReader } from './tables/read/table-reader.ts';
import { clearLocks } from './docroot/locks.ts';
import { type Docroot, openDocroot } from './docroot/open-docroot.ts';
import type { Registry, Resource } from './docroot/registry/registry.ts';
import { closeEvents, type EventParts, openEvents } from './events/open-events.ts';
import { Retention } from './events/retention/retention.ts';
import { EVENTS_FILE } from './events/store/schema.ts';
import { INDEX_FILE as EVENTS_INDEX_FILE } from './events/read/text-index.ts';
import { ChangeFeed } from './feed/change-feed.ts';
import { Subscribers } from './feed/subscribers.ts';
import { Handlers } from './handlers/handlers.ts';
import { Searches } from './language/run/searches.ts';
import { INDEX_FILE as SEARCH_INDEX_FILE, openSearch, type Search } from './fulltext/search.ts';
import type { Database } from './store/database.ts';
import { foldLog } from './store/fold-log.ts';
import { readInstanceKey } from './store/instance-key.ts';
import { KeptReplies } from './store/kept-replies.ts';
import { removeLeftovers } from './store/leftovers.ts';
import { migrations } from './store/migrations/index.ts';
import { explain } from './store/state-check.ts';
import { openState, type State } from './store/state.ts';
import { DATABASE_FILE, stateFolder } from './store/state-files.ts';

/** What operations ask for of the published folder. */
type PublishedFiles = Pick<
  Docroot,
  | 'registry'
  | 'datasets'
  | 'tables'
  | 'edits'
  | 'changeLog'
  | 'versions'
  | 'past'
  | 'locks'
  | 'uploads'
  | 'moves'
  | 'clientLocks'
  | 'cache'
  | 'documents'
  | 'workers'
  | 'settled'
  | 'check'
>;

/** Everything that operations and the server ask for. */
export interface App extends PublishedFiles, EventParts {
  /** The effective configuration; a reload replaces it. */
  config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly db: Database;
  readonly serverSecret: Uint8Array;
  /** Seals tokens: a file of the operator, else the server secret. */
  readonly instanceKey: Uint8Array;
  /** See `State.foldLog`. */
  readonly foldStateLog: () => Promise<void>;
  /** See `State.requireInPlace`. */
  readonly requireStateInPlace: () => void;
  readonly audit: Audit;
  readonly keptReplies: KeptReplies;
  readonly localLogin: LocalLogin;
  /** Of passwords of links. */
  readonly linkThrottle: LoginThrottle;
  readonly handlerCalls: HandlerCalls;
  /** Null while OIDC is off. */
  readonly oidc: Oidc | null;
  readonly reading: TableReader;
  readonly retention: Retention;
  readonly feed: ChangeFeed;
  readonly subscribers: Subscribers;
  readonly lists: Lists;
  readonly judgePassword: JudgePassword;
  /** Runs nothing in a process that does not serve. */
  readonly handlers: Handlers;
  /** Only in the process that serves, or in its place rebuilds the index. */
  readonly search: Search;
  readonly searches: Searches;
  readonly exports: KeptExports<Omit<RowsPage, 'body'>>;
  readonly pools: Readonly<Record<'parse' | 'query' | 'index', ChildPool>>;
  close(): Promise<void>;
}

/**
 * Opens the state and reads the names of the document root. `exclusive` is true for the one process that serves;
 * `readsAhead` false leaves the datasets unread until they are asked for.
 * Throws `state-unusable`.
 */
export async function openApp(
  config: Config,
  log: Log,
  { exclusive, readsAhead = true }: { readonly exclusive: boolean; readonly readsAhead?: boolean },
): Promise<App> {
  const clock = systemClock;
  const keyFile = config.instance_key_file;
  const ownKey = keyFile === null ? null : readInstanceKey(keyFile);
  const { state_dir: stateDir } = config;
  const state = await openState({ stateDir, migrations, log, exclusive });
  const { db } = state;
  const current = { config };
  const live = (): Config => current.config;
  const audit = new Audit({ db, clock, log });
  const spoolRoom = openSpoolRoom(config, live, log);
  const pools = openPools(config, spoolRoom, log);
  const exports = new KeptExports<Omit<RowsPage, 'body'>>(spoolRoom);
  if (exclusive) {
    await clearOldLocks(state);
    await removeLeftovers(stateDir, clock.now());
  }
  let search: Search | null = null;
  let feed: ChangeFeed | null = null;
  const docroot = openDocroot({
    config: live,
    kinds,
    db,
    clock,
    log,
    pool: pools.parse,
    index: () => search?.indexer ?? null,
    feed: () => feed,
    exclusive,
    readsAhead,
  });
  const {
    root,
    registry,
    datasets,
    tables,
    edits,
    changeLog,
    versions,
    past,
    locks,
    uploads,
    cache,
    documents,
  } = docroot;
  const handlers = openHandlers(registry, live, log);
  const openedFeed = new ChangeFeed({
    db,
    registry,
    maxEntries: () => live().history.max_feed_entries,
    now: () => clock.now(),
    log,
  });
  const subscribers = new Subscribers(openedFeed);
  feed = openedFeed;
  if (exclusive) {
    followHandlers(registry, handlers);
    docroot.watch((rels) => handlers.touched(rels));
    await settlePromises(db, (filename) => existsSync(root.absolute(filename)));
  }
  await docroot.scan();
  if (exclusive) void registry.listed().then(() => openedFeed.start());
  const eventParts = openEvents({
    db,
    config: live,
    clock,
    log,
    command: workerCommand,
    socketDir: stateFolder(stateDir, 'run'),
    readers: pools.query,
  });
  const retention = new Retention({ events: eventParts.events, audit, clock, log, config: live });
  if (exclusive) {
    retention.start();
    // Behind the start: requests for events wait for it, the others do not.
    void eventParts.events.open();
    search = await openSearch({
      stateDir,
      copies: tables.dir,
      published: registry,
      contents: {
        table: async (resource, turn) =>
          tables.current(datasets.targetOf(datasets.resourceOf(resource)), turn),
        release: (copy) => tables.release(copy),
        sections: (resource, out, turn) =>
          docroot.workers.extractSections({ ...resource, out }, turn),
      },
      pools,
      config: live,
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
    instanceKey: ownKey ?? state.serverSecret,
    foldStateLog: () => state.foldLog(),
    requireStateInPlace: () => state.requireInPlace(),
    audit,
    keptReplies: new KeptReplies(db),
    handlerCalls: new HandlerCalls(),
    localLogin: new LocalLogin({
      db,
      clock,
      log,
      audit,
      isEnabled: () => live().oidc.local_login || !isOidcOn(live().oidc),
      needsFactor: (user) => needsFactor(db, user, live().second_factor),
    }),
    linkThrottle: new LoginThrottle(clock),
    oidc: openOidc({ settings: config.oidc, db, clock, log, audit }),
    registry,
    datasets,
    tables,
    edits,
    changeLog,
    versions,
    past,
    locks,
    uploads,
    moves: docroot.moves,
    clientLocks: docroot.clientLocks,
    cache,
    documents,
    workers: docroot.workers,
    settled: docroot.settled,
    check: docroot.check,
    reading: new TableReader({
      pool: pools.query,
      timeoutMs: () => live().limits.query_timeout_seconds * 1000,
      log,
    }),
    lists: listsIn(config, pools.query, live),
    judgePassword: judgedIn(pools.query, live),
    handlers,
    get search() {
      if (search === null) throw new Error('a command beside the server has no search');
      return search;
    },
    ...eventParts,
    retention,
    feed: openedFeed,
    subscribers,
    searches: new Searches({
      pool: pools.query,
      perUser: () => live().events.search.concurrent_per_user,
    }),
    pools,
    exports,
    close: async () => {
      exports.close();
      await docroot.stop();
      await openedFeed.settled();
      search?.close();
      retention.stop();
      await Promise.all([closeEvents(eventParts), handlers.stop()]);
      await Promise.all(Object.values(pools).map((pool) => pool.stop()));
      if (exclusive) for (const name of WORKERS_DATABASES) foldLog(join(stateDir, name), log);
      await docroot.close();
      await audit.drain();
      await state.close();
    },
  };
}

/** Written by worker processes only. */
const WORKERS_DATABASES = [EVENTS_FILE, EVENTS_INDEX_FILE, SEARCH_INDEX_FILE];

/** The first write to the state; when it fails, the refusal names the state as those of `openState` do. */
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

/** Parallel first readings; more would only compete for the disk. */
const PARSE_WORKERS = 2;
/** Heavy queries at once; the others wait in line. One person leaves a place to others, also of the four for exports. */
const QUERY_WORKERS = 3;
const INDEXER_IDLE_MS = 10_000;
/** A parse that works for longer lets others have its place. */
const LONG_PARSE_MS = 1_000;

function openSpoolRoom(config: Config, live: () => Config, log: Log): SpoolRoom {
  return new SpoolRoom({
    directory: stateFolder(config.state_dir, 'tmp'),
    maxBytes: () => live().limits.spool_bytes,
    // Long before events are refused for want of it.
    minFreeBytes: () => 2 * config.events.min_free_bytes,
    log,
  });
}

function openPools(config: Config, spoolRoom: SpoolRoom, log: Log): App['pools'] {
  const socketDir = stateFolder(config.state_dir, 'run');
  const temporary = stateFolder(config.state_dir, 'tmp');
  const pool = (role: string, size: number, own: Partial<ChildPoolOptions> = {}): ChildPool =>
    new ChildPool({
      role,
      size,
      command: (socketPath) => workerCommand(role, socketPath),
      socketDir,
      log,
      maxRssBytes: config.limits.child_memory_bytes,
      spoolRoom,
      // Large sorts spill to files; they belong beside the state, not on a small /tmp.
      env: { SQLITE_TMPDIR: temporary },
      ...own,
    });
  return {
    parse: pool('parse', PARSE_WORKERS, {
      maxDedicated: PARSE_WORKERS,
      perPerson: PARSE_WORKERS,
      longMs: LONG_PARSE_MS,
    }),
    query: pool('query', QUERY_WORKERS, { perPerson: QUERY_WORKERS }),
    // The search index has one writer, needed when files change.
    index: pool('index', 1, { idleMs: INDEXER_IDLE_MS }),
  };
}

/** The hosts of handler files, in processes of this program and of Python. */
function openHandlers(registry: Registry, config: () => Config, log: Log): Handlers {
  const { docroot, state_dir: stateDir } = config();
  return new Handlers({
    docroot,
    socketDir: stateFolder(stateDir, 'run'),
    python: config().handlers.python,
    scriptCommand: (socketPath) => workerCommand('handler', socketPath),
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

/** The accounts alone, for commands that work beside a running server or without one. */
export interface AccountsApp {
  readonly db: Database;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly lists: Lists;
  readonly judgePassword: JudgePassword;
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
    judgePassword: (password, username) => judgePassword(password, [username]),
    close: async () => {
      await audit.drain();
      await state.close();
    },
  };
}

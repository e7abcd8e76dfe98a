/**
 * A server in this process with real accounts in a temporary database, and no files behind it: for tests of everything
 * between the socket and the operations.
 */
import { KeptReplies } from '../../src/store/kept-replies.ts';
import { dirname, join } from 'node:path';
import { type AnyElysia, Elysia } from 'elysia';
import { Audit } from '../../src/accounts/audit/audit.ts';
import { createApiKey } from '../../src/accounts/identity/api-keys.ts';
import { csrfToken } from '../../src/accounts/identity/csrf-check.ts';
import { judgePassword } from '../../src/accounts/identity/password-strength.ts';
import { Dispatcher } from '../../src/deliveries/dispatcher.ts';
import { HandlerCalls } from '../../src/accounts/identity/handler-calls.ts';
import { LoginThrottle } from '../../src/accounts/identity/throttle.ts';
import { LocalLogin } from '../../src/accounts/identity/local-login.ts';
import { hashPassword } from '../../src/accounts/identity/passwords.ts';
import { parseScopes } from '../../src/accounts/rights/scopes.ts';
import { createSession } from '../../src/accounts/identity/sessions.ts';
import { createUser } from '../../src/accounts/identity/users.ts';
import type { User } from '../../src/accounts/identity/users.ts';
import { isLoopback } from '../../src/base/ip-network.ts';
import { ReplacedFiles } from '../../src/base/files/replaced-files.ts';
import { ChildPool } from '../../src/processes/child-pool.ts';
import type { Config } from '../../src/config/settings.ts';
import { configFrom, settings } from '../../src/config/settings.ts';
import type { SettingKey } from '../../src/config/settings.ts';
import { DocumentRoot } from '../../src/docroot/document-root.ts';
import { Documents } from '../../src/docroot/documents.ts';
import { ClientLocks } from '../../src/docroot/client-locks.ts';
import { FileLocks } from '../../src/docroot/locks.ts';
import { Registry } from '../../src/docroot/registry/registry.ts';
import { Uploads } from '../../src/docroot/uploads/uploads.ts';
import { runList } from '../../src/tables/read/list-run.ts';
import { CacheEntries } from '../../src/docroot/cache-entries.ts';
import { openEvents } from '../../src/events/open-events.ts';
import { FirstRun } from '../../src/operations/accounts/setup.ts';
import { Rebuilds } from '../../src/fulltext/rebuilds.ts';
import { lifecycle } from '../../src/http/lifecycle.ts';
import { IDLE_SECONDS } from '../../src/http/reply/idle-limit.ts';
import type { IdleSeconds } from '../../src/http/reply/idle-limit.ts';
import { Metrics } from '../../src/http/metrics.ts';
import { jsonReply } from '../../src/http/reply/reply.ts';
import { pageReply } from '../../src/pages/page-reply.ts';
import { errorPage } from '../../src/pages/error.tsx';
import { plugins, routes } from '../../src/routes.ts';
import { startServer } from '../../src/http/server.ts';
import type { RunningServer, TlsPair } from '../../src/http/server.ts';
import { temporaryDatabase, testClock, testLog } from '../support/database.ts';
import type { TestClock } from '../support/database.ts';
import type {
  Handler,
  RouteRules,
  ReadableResources,
  ServerServices,
} from '../../src/http/context.ts';
import type { RouteMethod } from '../../src/http/operation-description.ts';

/** A path with its handlers, each without Elysia's context. */
export interface TestRoute extends RouteRules {
  readonly pattern: string;
  readonly methods: Readonly<Partial<Record<RouteMethod, Handler>>>;
}

interface FixtureOptions {
  readonly config?: Partial<Record<SettingKey, unknown>>;
  /** Routes beside the product's own. */
  readonly routes?: readonly TestRoute[];
  readonly fallback?: Handler;
  readonly readable?: ReadableResources;
  readonly tls?: TlsPair;
  readonly checkState?: () => Promise<void>;
  readonly idle?: IdleSeconds;
}

/** A password that is strong for every user of the tests. */
export const PASSWORD = 'Correct-Horse-7';
const PASSWORD_HASH = await hashPassword(PASSWORD);

/** A running server and the means to use it. */
export interface Fixture extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly server: RunningServer;
  readonly services: ServerServices & { config: Config };
  readonly clock: TestClock;
  readonly log: readonly string[];
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** A user with PASSWORD; made once. */
  user(username: string, isSuperuser?: boolean): Promise<User>;
  /** Headers of a browser session, with its CSRF token. */
  session(username: string): Promise<{ cookie: string; token: string; csrf: string }>;
  apiKey(username: string, scopes?: readonly string[]): Promise<string>;
}

/** Starts the server; dispose it to stop it. The file door answers what it was asked for. */
export async function startFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const database = await temporaryDatabase();
  const { db } = database;
  const clock = testClock();
  const { log, lines } = testLog();
  const config = configFrom((key) => options.config?.[key] ?? settings[key].default);
  const audit = new Audit({ db, clock, log });
  const isEnabled = (): boolean => services.config.oidc.local_login;
  const services: ServerServices & { config: Config } = {
    config,
    db,
    clock,
    log,
    audit,
    keptReplies: new KeptReplies(db),
    ...emptyFolder(dirname(database.path), { db, clock, log }),
    handlerCalls: new HandlerCalls(),
    linkThrottle: new LoginThrottle(clock),
    localLogin: new LocalLogin({
      db,
      clock,
      log,
      audit,
      isEnabled,
      needsFactor: async () => false,
    }),
    ...openEvents({
      config: () => config,
      clock,
      log,
      db,
      command: () => ['false'],
      socketDir: join(dirname(database.path), 'run'),
      readers: new ChildPool({
        role: 'query',
        size: 1,
        command: () => ['false'],
        socketDir: join(dirname(database.path), 'run'),
        log,
        maxRssBytes: 1e9,
      }),
    }),
    oidc: null,
    // No test of the server below HTTP runs a query.
    searches: {} as never,
    deliveries: new Dispatcher({
      db,
      clock,
      log,
      config: () => config,
      baseUrl: () => '',
      writeHere: () => Promise.reject(new Error('nothing is written here')),
      audit: () => Promise.resolve(),
    }),
    alerts: { figures: {}, held: 0 } as never,
    tables: { size: 0 } as never,
    datasets: {} as never,
    reading: {} as never,
    edits: {} as never,
    changeLog: {} as never,
    versions: {} as never,
    feed: {} as never,
    subscribers: {} as never,
    past: {} as never,
    handlers: {} as never,
    locks: {} as never,
    workers: {} as never,
    pools: {} as never,
    exports: {} as never,
    retention: {} as never,
    settled: {} as never,
    check: {} as never,
    foldStateLog: async () => undefined,
    close: async () => undefined,
    routes,
    instanceKey: new Uint8Array(32),
    serverSecret: new Uint8Array(32).fill(7),
    metrics: new Metrics(),
    firstRun: new FirstRun({ db, clock, isLoopback: isLoopback(config.host) }),
    startedAt: clock.monotonic(),
    lists: { read: async (plan) => runList({ path: database.path, plan }) },
    judgePassword: (password, username) => judgePassword(password, [username]),
    cache: new CacheEntries(clock),
    listReadable: async (caller) =>
      (caller === null ? null : options.readable) ?? { resources: [], problems: [] },
    factsOf: () => ({ size: 2048, rows: null, changedAt: '2026-11-20T12:00:00.000Z' }),
    requireStateInPlace: () => undefined,
    checkState: options.checkState ?? (async () => undefined),
  };
  const idle = options.idle ?? IDLE_SECONDS;
  const server = startServer({
    host: config.host,
    port: 0,
    tls: options.tls ?? null,
    log,
    idle,
    services,
    plugins: [...plugins, pluginOf(options.routes ?? [])],
    files: options.fallback ?? echo,
    failurePage: (context, view, init) => pageReply(context, errorPage, view, init),
  });
  const users = new Map<string, User>();
  const user = async (username: string, isSuperuser = false): Promise<User> => {
    const known = users.get(username);
    if (known !== undefined) return known;
    const now = clock.now();
    const made = await createUser(db, { username, passwordHash: PASSWORD_HASH, isSuperuser, now });
    users.set(username, made);
    return made;
  };
  return {
    url: server.url,
    port: server.port,
    server,
    services,
    clock,
    log: lines,
    user,
    fetch: (path, init) => fetch(server.url + path, { redirect: 'manual', ...init }),
    async session(username) {
      const { id: userId } = await user(username);
      const { token } = await createSession(db, {
        userId,
        ip: null,
        userAgent: null,
        now: clock.now(),
      });
      const csrf = csrfToken(services.serverSecret, token);
      return { cookie: `svc_session=${token}; svc_csrf=${csrf}`, token, csrf };
    },
    async apiKey(username, scopes) {
      const { id: userId } = await user(username);
      const { value } = await createApiKey(db, {
        userId,
        description: null,
        expiresInDays: null,
        scopes: parseScopes(scopes),
        now: clock.now(),
      });
      return value;
    },
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await audit.drain();
      await database[Symbol.asyncDispose]();
    },
  };
}

function pluginOf(routes: readonly TestRoute[]): AnyElysia {
  const plugin = new Elysia({ name: 'test' }).use(lifecycle);
  for (const { pattern, methods, ...checks } of routes) {
    for (const [method, handler] of Object.entries(methods)) {
      plugin.route(method, pattern, ({ ask }) => handler(ask), { checks });
    }
  }
  return plugin;
}

/** What publishes files, over a folder in which there are none. */
function emptyFolder(
  folder: string,
  { db, clock, log }: Pick<ServerServices, 'db' | 'clock' | 'log'>,
): Pick<ServerServices, 'registry' | 'uploads' | 'moves' | 'clientLocks' | 'search' | 'documents'> {
  const kindOf = () => undefined;
  const root = new DocumentRoot(folder, folder);
  const registry = new Registry({ root, kindOf, log, startedAtMs: null });
  const limits = () => ({ ttlMs: 300_000, timeoutMs: 10_000 });
  const locks = new FileLocks({ db, clock, log, limits });
  const replaced = new ReplacedFiles({ directory: join(folder, 'replaced'), clock, log });
  const read = async (): Promise<void> => undefined;
  return {
    registry,
    search: {
      find: async () => ({ hits: [], hasMore: false }),
      leftOut: () => [],
      documents: 0,
      pending: 0,
      rebuilds: new Rebuilds({
        rebuild: async () => ({ indexed: 0, documents: 0, skipped: 0, pruned: 0 }),
        clock,
        log,
      }),
    } as Partial<ServerServices['search']> as ServerServices['search'],
    clientLocks: new ClientLocks(locks),
    moves: {
      isFolder: (rel: string) => rel === '',
      spelled: async (rel: string) => rel,
    } as Partial<ServerServices['moves']> as ServerServices['moves'],
    uploads: new Uploads({
      registry,
      kindOf,
      locks,
      replaced,
      versions: { keep: async () => null } as never,
      scratch: folder,
      read,
    }),
    documents: new Documents({
      root,
      familyOf: () => null,
      cache: new CacheEntries(clock),
      run: () => Promise.reject(new Error('The folder is empty')),
    }),
  };
}

const echo: Handler = ({ method, path, segments, isMatchable, search }) =>
  jsonReply({ method, path, segments, isMatchable, search });

/** Sends bytes as they are and answers all that comes back within `waitMs`, or until the server closes. */
export async function sendRaw(
  port: number,
  pieces: string | readonly (string | Uint8Array)[],
  waitMs = 5000,
): Promise<string> {
  let received = '';
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_, bytes) => {
        received += bytes.toString('latin1');
      },
      close: () => resolve(),
      error: () => resolve(),
    },
  });
  for (const piece of [pieces].flat()) {
    let rest = Buffer.from(piece);
    while (rest.length > 0) {
      const written = socket.write(rest);
      if (written < 0) break;
      rest = rest.subarray(written);
      if (rest.length > 0) await new Promise((next) => setTimeout(next, 1));
    }
  }
  const timer = setTimeout(resolve, waitMs);
  await promise;
  clearTimeout(timer);
  socket.end();
  return received;
}

/** One raw request that asks the server to close, and what it answers. */
export function rawGet(target: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { Host: 'localhost', Connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Status of a raw answer; 0 for none. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

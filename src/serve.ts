/**
 * From a configuration to a listening server, and back: opens the services, joins them with the routes, listens,
 * and closes everything in the opposite order.
 */
import { dirname } from 'node:path';
import { AlertRunner } from './alerts/runner.ts';
import { type App, openApp } from './app.ts';
import { countActiveSuperusers } from './accounts/identity/users.ts';
import { purgeExpiredSessions } from './accounts/identity/sessions.ts';
import { readHead } from './accounts/audit/audit-chain.ts';
import { pruneAudit } from './accounts/audit/audit.ts';
import type { Log } from './base/log.ts';
import { isLoopback } from './base/ip-network.ts';
import { version } from './base/version.ts';
import type { Config } from './config/settings.ts';
import { followAlertFiles } from './operations/alerts/alert-files.ts';
import { alertSearchOf } from './operations/alerts/alert-search.ts';
import { factsOf, listReadable } from './operations/files/resources.ts';
import { API_ROLE } from './handlers/handlers.ts';
import { FirstRun } from './operations/accounts/setup.ts';
import { prepareSockets } from './processes/child-sockets.ts';
import { LOOK_MS, readCertificate, ServedCertificate } from './http/certificate.ts';
import {
  registerAlertMetrics,
  registerDiskMetrics,
  registerEventMetrics,
  registerFindingMetrics,
} from './api/metrics.ts';
import { Dispatcher } from './deliveries/dispatcher.ts';
import { pruneFindings } from './findings/store.ts';
import { writerOf } from './operations/deliveries.ts';
import { publishChanges } from './operations/files/change-hooks.ts';
import { Metrics, registerProcessMetrics } from './http/metrics.ts';
import { plugins, routes } from './routes.ts';
import { answerPath } from './pages/files/files.ts';
import { pageReply } from './pages/page-reply.ts';
import { errorPage } from './pages/error.tsx';
import { type RunningServer, startServer, type TlsPair } from './http/server.ts';
import type { Caller } from './accounts/rights/principal.ts';
import { lookAtState } from './api/health.ts';
import { SyslogListeners } from './syslog/listeners.ts';
import type { ResourceView, ServerServices } from './http/context.ts';

/** A server that answers. */
interface RunningService {
  readonly url: string;
  /** One-time link for the first superuser; null when there is one or others can reach the server. */
  readonly setupUrl: string | null;
  readonly hasSuperuser: boolean;
  /** Files of the document root that no kind publishes, as far as known at the start. */
  readonly unserved: number;
  /** Applies a re-read configuration; the answers are warnings. */
  reload(config: Config): string[];
  /** Drains, then closes; resolves when nothing is open any more. */
  stop(): Promise<void>;
}

/** How long running requests may finish after a stop. */
const GRACE_MS = 10_000;
/** How long a change of accounts may stand in the write-ahead log alone. */
const FOLD_MS = 60_000;
/** How long a state folder that went away may stay unnoticed where nobody asks for the health. */
const STATE_LOOK_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Starts to serve. Throws `state-unusable`, `usage` for an unreadable certificate, and `unavailable` when the address
 * cannot be taken; then nothing stays open.
 */
export async function startService(config: Config, log: Log): Promise<RunningService> {
  const tls = readCertificate(config);
  const app = await openApp(config, log, { exclusive: true });
  try {
    return await listen(app, tls);
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function listen(app: App, tls: TlsPair | null): Promise<RunningService> {
  const { config, log } = app;
  const firstRun = new FirstRun({
    db: app.db,
    clock: app.clock,
    isLoopback: isLoopback(config.host),
  });
  const reached = { url: '' };
  const deliveries = dispatcherOf(app, () => app.config.public_url || reached.url);
  const alerts = new AlertRunner({
    db: app.db,
    clock: app.clock,
    log: app.log,
    perform: alertSearchOf(app),
    onFired: () => deliveries.wake(),
  });
  const services = serverServices(app, firstRun, { deliveries, alerts });
  prepareSockets(dirname(app.handlers.apiSocket), API_ROLE);
  const server = startServer({
    host: config.host,
    port: config.port,
    socket: app.handlers.apiSocket,
    tls,
    log,
    services,
    plugins,
    files: answerPath,
    failurePage: (context, view, options) => pageReply(context, errorPage, view, options),
  });
  reached.url = server.url;
  const listeners = new SyslogListeners(services, tls);
  try {
    await listeners.follow();
  } catch (error) {
    await server.stop(0);
    throw error;
  }
  await deliveries.start();
  const stopPublishing = publishChanges(app, () => deliveries.wake());
  const alertFiles = followAlertFiles(app);
  alerts.start();
  const stopUpkeep = startUpkeep(app, services);
  const certificate = certificateRenewal(app, { server, listeners }, tls);
  services.metrics.gauge(
    'svc_certificate_expiry_timestamp_seconds',
    'When the certificate of this server ends.',
    () => (certificate === null ? null : certificate.expiresAt() / 1000),
  );
  const stopFollowing = followCertificate(app, certificate);
  const token = await firstRun.issueToken();
  const hasSuperuser = (await countActiveSuperusers(app.db)) > 0;
  return {
    url: server.url,
    setupUrl: token === null ? null : `${server.url}/auth/setup?token=${token}`,
    hasSuperuser,
    unserved: app.registry.unserved().length,
    reload: (fresh) => {
      const warnings = reload(app, certificate, fresh);
      alertFiles.resync();
      listeners
        .follow()
        .catch((error: unknown) => log.error('syslog listeners did not open', { error }));
      return warnings;
    },
    stop: async () => {
      stopUpkeep();
      stopFollowing();
      app.tails.close();
      alertFiles.stop();
      await alertFiles.settled();
      await alerts.stop();
      app.subscribers.close();
      await stopPublishing();
      await deliveries.stop();
      await listeners.close();
      await server.stop(GRACE_MS);
      await app.close();
    },
  };
}

function dispatcherOf(app: App, baseUrl: () => string): Dispatcher {
  return new Dispatcher({
    db: app.db,
    clock: app.clock,
    log: app.log,
    config: () => app.config,
    baseUrl,
    writeHere: writerOf(app),
    audit: ({ id, ownerId }, { isSent, details }) =>
      app.audit.record({
        userId: ownerId,
        action: isSent ? 'send_delivery' : 'fail_delivery',
        resource: `delivery/${id}`,
        details,
        ipAddress: null,
      }),
  });
}

function serverServices(
  app: App,
  firstRun: FirstRun,
  { deliveries, alerts }: Pick<ServerServices, 'deliveries' | 'alerts'>,
): ServerServices {
  const metrics = new Metrics();
  registerProcessMetrics(metrics, version, app.clock.now());
  registerAppMetrics(metrics, app);
  registerEventMetrics(metrics, app);
  registerDiskMetrics(metrics, app);
  registerFindingMetrics(metrics, app, deliveries);
  registerAlertMetrics(metrics, app, alerts);
  const own = {
    metrics,
    deliveries,
    firstRun,
    alerts,
    startedAt: app.clock.monotonic(),
    routes,
    listReadable: async (caller: Caller) => {
      const resources = await listReadable(app, caller);
      const problems = new Map(
        resources.flatMap(({ rel, problem }) =>
          problem === null ? [] : [[rel, problem] as const],
        ),
      );
      return {
        resources: resources.map(({ rel, sheet, type, family, canonical, problem }) => ({
          rel,
          sheet,
          type,
          family,
          name: canonical,
          problem,
        })),
        problems: [...problems].map(([resource, problem]) => ({ resource, problem })),
      };
    },
    factsOf: (resource: ResourceView) => factsOf(app, resource),
    checkState: async () => {
      app.requireStateInPlace();
      // A write proves more than a read; the row is the same every time.
      await app.db.relaxed.run(
        "INSERT INTO settings (name, value) VALUES ('health_check', ?) " +
          'ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        [String(app.clock.now())],
      );
    },
  };
  // Its getters stay getters: a reload replaces the configuration.
  return Object.assign(Object.create(app) as App, own);
}

function registerAppMetrics(metrics: Metrics, app: App): void {
  metrics.gauge('svc_resources', 'Published resources by type.', () => {
    const counts = new Map<string, number>();
    for (const { type } of app.registry.list()) counts.set(type, (counts.get(type) ?? 0) + 1);
    return [...counts].map(([type, value]) => ({ labels: { type }, value }));
  });
  metrics.gauge('svc_resource_problems', 'Resources that cannot be read as they should.', () => [
    { labels: {}, value: app.registry.list().filter(({ problem }) => problem !== null).length },
  ]);
  metrics.gauge('svc_cache_entries', 'Typed copies held open.', () => [
    { labels: {}, value: app.tables.size },
  ]);
  metrics.gauge('svc_search_documents', 'Entries that search finds.', () => app.search.documents);
  metrics.gauge('svc_locks_held', 'File locks held by this process.', () => app.locks.stats().held);
  metrics.gauge(
    'svc_lock_timeouts_total',
    'Changes refused because a lock was not to be had in time.',
    () => app.locks.stats().timeouts,
    'counter',
  );
  metrics.gauge(
    'svc_login_failures_total',
    'Failed attempts to sign in with a password.',
    () => app.localLogin.failures,
    'counter',
  );
  metrics.gauge(
    'svc_handler_restarts_total',
    'Times a host of handlers was started again.',
    () => app.handlers.restarts,
    'counter',
  );
  metrics.gauge('svc_child_processes', 'Worker processes by role.', () =>
    Object.entries(app.pools).map(([role, pool]) => ({
      labels: { role },
      value: pool.stats().running,
    })),
  );
}

/** Housekeeping: daily and once at the start; the log of the state every minute. */
function startUpkeep(app: App, services: ServerServices): () => void {
  const prune = async (): Promise<void> => {
    const now = app.clock.now();
    await purgeExpiredSessions(app.db, now);
    const days = app.config.limits.audit_retention_days;
    if (days > 0) await pruneAudit(app.db, now - days * DAY_MS);
    await app.changeLog.prune();
    await app.versions.sweep();
    await app.feed.prune();
    const kept = app.config.findings.retention_days;
    if (kept > 0) await pruneFindings(app.db, now - kept * DAY_MS);
    // In a log that is kept elsewhere this shows whether the audit was computed anew since (see audit-chain.ts).
    const { id, hash } = await readHead(app.db);
    app.log.info('newest audit entry', { id, hash });
  };
  const every = (milliseconds: number, work: () => Promise<void>): Timer => {
    const timer = setInterval(() => {
      work().catch((error: unknown) => app.log.warning('housekeeping failed', { error }));
    }, milliseconds);
    timer.unref();
    return timer;
  };
  const timers = [
    every(DAY_MS, prune),
    every(FOLD_MS, app.foldStateLog),
    every(STATE_LOOK_MS, () => lookAtState(services)),
  ];
  prune().catch((error: unknown) => app.log.warning('housekeeping failed', { error }));
  return () => timers.forEach(clearInterval);
}

function reload(app: App, certificate: CertificateRenewal | null, fresh: Config): string[] {
  app.config = fresh;
  const problem = certificate?.renew((served) => served.renewed(fresh)) ?? null;
  return problem === null ? [] : [problem];
}

/** Gives new connections the new certificate of a server with TLS. */
interface CertificateRenewal {
  /** Serves the pair `find` gives, if any. Answers why none is to be had; the old one then stays. */
  renew(find: (served: ServedCertificate) => TlsPair | null): string | null;
  /** In milliseconds of the epoch. */
  expiresAt(): number;
}

function certificateRenewal(
  { config, log }: App,
  { server, listeners }: { readonly server: RunningServer; readonly listeners: SyslogListeners },
  tls: TlsPair | null,
): CertificateRenewal | null {
  if (tls === null) return null;
  const served = new ServedCertificate(config, tls);
  return {
    expiresAt: () => served.expiresAt,
    renew: (find) => {
      try {
        const pair = find(served);
        if (pair === null) return null;
        listeners.renewCertificate(pair);
        server.renewCertificate(pair).then(
          () => log.info('the certificate was renewed'),
          (error: unknown) => log.error('the certificate was not renewed', { error }),
        );
        return null;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return `the certificate was not renewed, the old one stays: ${reason}`;
      }
    },
  };
}

/** Certificates are replaced by programs that do not know of SIGHUP. */
function followCertificate(app: App, certificate: CertificateRenewal | null): () => void {
  if (certificate === null) return () => undefined;
  const timer = setInterval(() => {
    const problem = certificate.renew((served) => served.renewedIfChanged(app.config));
    if (problem !== null) app.log.error(problem);
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

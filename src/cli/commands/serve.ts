/**
 * `svc serve`: the server's life.
 *
 * SIGTERM and SIGINT stop it, a second one kills it; SIGHUP rereads the configuration. With
 * `--reload` a changed configuration file restarts it in this process. An invalid file changes
 * nothing in either case.
 */
import { startService } from '../../serve.ts';
import { AppError } from '../../base/errors.ts';
import { createLog } from '../../base/log.ts';
import type { Log, LogLevel } from '../../base/log.ts';
import { ServiceManager } from '../../base/service-manager.ts';
import { version } from '../../base/version.ts';
import { type LoadedConfig, resolveReload } from '../../config/load.ts';
import type { Config } from '../../config/settings.ts';
import type { Invocation, Outside } from '../command.ts';
import { loadInvocation } from '../configuration.ts';
import { tlsWarnings } from '../tls-warnings.ts';
import { watchFile } from 'node:fs';

type Service = Awaited<ReturnType<typeof startService>>;

export async function serve(invocation: Invocation): Promise<number> {
  const manager = new ServiceManager();
  const loaded = await loadInvocation(serving(invocation));
  const log = serverLog(loaded.config, invocation.outside);
  const requests = new ServerRequests();
  requests.followSignals();
  if (invocation.options['reload'] === true) requests.followFiles(loaded.candidates);
  surviveBugs(log);
  await serveUntilStopped(invocation, loaded, { requests, manager }, log);
  return 0;
}

function serving(invocation: Invocation): Invocation {
  return { ...invocation, atEnd: () => {} };
}

async function serveUntilStopped(
  invocation: Invocation,
  loaded: LoadedConfig,
  { requests, manager }: { readonly requests: ServerRequests; readonly manager: ServiceManager },
  log: Log,
): Promise<void> {
  let running = loaded.config;
  let service = await start(running, invocation.outside, log);
  const isReady = (): void => manager.ready(`Serving ${running.docroot} at ${service.url}`);
  isReady();
  for (;;) {
    const request = await requests.next();
    if (request === 'stop') break;
    manager.reloading();
    const fresh = await reread(invocation, log);
    if (fresh !== null && request === 'reload') {
      running = reload(service, running, fresh, log);
    } else if (fresh !== null) {
      await service.stop();
      const next = await restart(running, fresh, invocation.outside, log);
      running = next.config;
      service = next.service;
    }
    isReady();
  }
  manager.stopping();
  await service.stop();
}

async function start(config: Config, outside: Outside, log: Log): Promise<Service> {
  const service = await startService(config, log);
  for (const warning of await tlsWarnings(config, Date.now())) log.warning(warning);
  outside.out(`svc ${version} serving ${config.docroot} at ${service.url}\n`);
  if (service.setupUrl !== null) outside.out(`Create the first superuser: ${service.setupUrl}\n`);
  if (service.unserved > 0) {
    outside.err(`${service.unserved} file(s) are not served: svc check names them and says why\n`);
  }
  if (!service.hasSuperuser) {
    outside.err('No active superuser: create one with svc addsuperuser (same folder and flags)\n');
  }
  return service;
}

/**
 * Falls back to the old configuration when the server cannot start with the new one: a missing
 * certificate must not take the service down.
 */
async function restart(
  running: Config,
  fresh: Config,
  outside: Outside,
  log: Log,
): Promise<{ readonly config: Config; readonly service: Service }> {
  try {
    configureLog(log, fresh);
    return { config: fresh, service: await start(fresh, outside, log) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    configureLog(log, running);
    log.error('the server cannot start with the configuration, so it keeps the one before', {
      finding: error.message,
    });
    return { config: running, service: await start(running, outside, log) };
  }
}

/** Null when invalid; the findings are logged. */
async function reread(invocation: Invocation, log: Log): Promise<Config | null> {
  try {
    const err = (warning: string): void => log.warning(warning.trimEnd());
    const outside = { ...invocation.outside, err };
    return (await loadInvocation({ ...serving(invocation), outside })).config;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    for (const finding of error.message.split('\n')) {
      log.error('configuration is invalid and changes nothing', { finding });
    }
    return null;
  }
}

function reload(service: Service, running: Config, fresh: Config, log: Log): Config {
  const { config, applied, restart } = resolveReload(running, fresh);
  configureLog(log, config);
  const notes = service.reload(config);
  log.info('configuration reloaded', { applied });
  if (restart.length > 0) log.warning('settings that need a restart have changed', { restart });
  for (const note of notes) log.warning(note);
  return config;
}

function serverLog(config: Config, outside: Outside): Log {
  return createLog({
    level: levelOf(config),
    format: config.logging.format,
    write: (line) => outside.err(line),
  });
}

function configureLog(log: Log, config: Config): void {
  log.level = levelOf(config);
  log.format = config.logging.format;
}

function levelOf(config: Config): LogLevel {
  return config.debug ? 'debug' : config.logging.level;
}

function surviveBugs(log: Log): void {
  const record = (error: unknown): void => {
    const stack = error instanceof Error ? error.stack : String(error);
    log.error('unexpected error outside of any request', { stack });
  };
  process.on('uncaughtException', record);
  process.on('unhandledRejection', record);
}

/** `reload` applies settings that can change while running, `restart` all. */
type ServerRequest = 'stop' | 'reload' | 'restart';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Someone waits for this after saving a file; each check is one stat. */
const FILE_CHECK_MS = 300;

/** Queued, so none is lost; `stop` goes first. */
class ServerRequests {
  private readonly queue: ServerRequest[] = [];
  private wake: (() => void) | null = null;

  /** For one caller at a time. */
  async next(): Promise<ServerRequest> {
    while (this.queue.length === 0) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.queue.includes('stop') ? 'stop' : this.queue.shift()!;
  }

  /**
   * SIGTERM and SIGINT stop; the second gets the default action and kills the process. SIGHUP
   * reloads.
   */
  followSignals(): void {
    const stop = (): void => {
      for (const signal of STOP_SIGNALS) process.off(signal, stop);
      this.add('stop');
    };
    for (const signal of STOP_SIGNALS) process.on(signal, stop);
    process.on('SIGHUP', () => this.add('reload'));
  }

  /** Restarts when a file appears, changes or disappears. */
  followFiles(paths: readonly string[]): void {
    const onChange = (): void => this.add('restart');
    for (const path of paths) {
      watchFile(path, { interval: FILE_CHECK_MS, persistent: false }, onChange);
    }
  }

  private add(request: ServerRequest): void {
    if (!this.queue.includes(request)) this.queue.push(request);
    this.wake?.();
  }
}

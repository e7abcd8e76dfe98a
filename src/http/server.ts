/**
 * The HTTP server: Elysia on Bun, in front of our own dispatcher.
 *
 * Elysia holds the listener and hands every request over in one piece. Its router is not used for paths, because the
 * contract fixes slashes, decoding and the order of checks differently: so one wildcard route, and
 * Bun's native routes (native-routes.ts) in front of it. `standardHostname: false`, because Elysia otherwise looks for the path
 * from the eleventh character of the URL on, and a short Host shifts it.
 */
import http from 'node:http';
import { Elysia } from 'elysia';
import { AppError, errnoOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Connection } from './connection.ts';
import type { Dispatch } from './exchange.ts';
import { IDLE_SECONDS } from './reply/idle-limit.ts';
import type { IdleSeconds } from './reply/idle-limit.ts';
import { nativeRoutes } from './native-routes.ts';

/** Longest request head, request line included. Bun answers longer ones 431 by itself. */
const MAX_HEAD_BYTES = 256 * 1024;
/** Bodies are counted where they are read, each against its own limit. */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER;

type BunServer = Bun.Server<unknown>;
type MaybePromise = Response | Promise<Response>;

/** A certificate with its key, as PEM text. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** How and for whom to listen. */
interface ServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Null: plain HTTP. */
  readonly tls: TlsPair | null;
  readonly dispatch: Dispatch;
  readonly log: Log;
  /** IDLE_SECONDS when missing. */
  readonly idle?: IdleSeconds;
}

/** A listening server. */
export interface RunningServer {
  /** Where it listens: `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /** New connections get this certificate; requests under the old one finish. Only for a server started with TLS. */
  renewCertificate(tls: TlsPair): Promise<void>;
  /** Accepts nothing new, waits for running requests at most `graceMs`, then cuts them off. */
  stop(graceMs: number): Promise<void>;
}

/** Starts listening. Throws `unavailable`, saying why, when the address cannot be taken. */
export function startServer(options: ServerOptions): RunningServer {
  try {
    return start(options);
  } catch (error) {
    throw refusedAddress(options, error);
  }
}

function start(options: ServerOptions): RunningServer {
  // A process-wide setting, typed as a constant: Bun has a setter for it, also in an executable.
  (http as { maxHeaderSize: number }).maxHeaderSize = MAX_HEAD_BYTES;
  if (options.tls !== null && options.port !== 0) requireFreePort(options.host, options.port);
  let server = listen(options, options.port, options.tls);
  const port = server.port ?? options.port;
  const scheme = options.tls === null ? 'http' : 'https';
  const draining = new Set<Promise<void>>();
  return {
    url: `${scheme}://${urlHost(options.host)}:${port}`,
    port,
    async renewCertificate(tls) {
      // Bun cannot swap the certificate of a listener: the next one shares the port, then the old one drains.
      const old = server;
      server = listen(options, port, tls);
      const drained = old.stop(false).finally(() => draining.delete(drained));
      draining.add(drained);
    },
    async stop(graceMs) {
      const stopped = Promise.all([server.stop(false), ...draining]);
      const isDrained = await Promise.race([stopped.then(() => true), after(graceMs, false)]);
      if (!isDrained) await server.stop(true);
    },
  };
}

function listen(options: ServerOptions, port: number, tls: TlsPair | null): BunServer {
  const { host, dispatch, log, idle = IDLE_SECONDS } = options;
  const routes: Record<string, (request: Request, server: BunServer) => MaybePromise> = {};
  for (const { pattern, known } of nativeRoutes(dispatch.plainPaths)) {
    routes[pattern] = (request, server) =>
      dispatch(request, new SocketConnection(request, server), known);
  }
  const app = new Elysia({
    handler: { standardHostname: false },
    serve: {
      hostname: host,
      port,
      development: false,
      idleTimeout: idle.between,
      maxRequestBodySize: MAX_BODY_BYTES,
      // Only to take over from a listener with an older certificate; Elysia's default would share any busy port.
      reusePort: tls !== null,
      ...(tls === null ? {} : { tls: { cert: tls.cert, key: tls.key } }),
      routes,
      error: (error: Error) => lastResort(log, error),
    },
  });
  app.all(
    '/*',
    ({ request, server }) =>
      dispatch(request, new SocketConnection(request, server as BunServer), null),
    { parse: 'none' },
  );
  app.listen({ hostname: host, port });
  if (app.server === null) throw new Error('The server did not start');
  return app.server as BunServer;
}

/** With SO_REUSEPORT two processes may hold one port; so whether it is free is asked without. */
function requireFreePort(host: string, port: number): void {
  Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response(null) }).stop(true);
}

/** Why the system does not let it listen there; anything else as it is. */
function refusedAddress({ host, port }: ServerOptions, error: unknown): unknown {
  const reason = {
    EADDRINUSE: `port ${port} is in use by another program; choose another with --port`,
    EACCES: `port ${port} needs a right that this user lacks; choose one above 1023 with --port`,
    EADDRNOTAVAIL: 'this machine has no such address; choose another with --host',
    EINVAL: 'that is no address of this machine; choose another with --host',
  }[errnoOf(error) ?? ''];
  if (reason === undefined) return error;
  return new AppError('unavailable', `Cannot listen on ${urlHost(host)}: ${reason}`, {
    cause: error,
  });
}

/** The peer of one request. */
class SocketConnection implements Connection {
  readonly #request: Request;
  readonly #server: BunServer;

  constructor(request: Request, server: BunServer) {
    this.#request = request;
    this.#server = server;
  }

  address(): string | null {
    return this.#server.requestIP(this.#request)?.address ?? null;
  }

  limitIdle(seconds: number): void {
    this.#server.timeout(this.#request, seconds);
  }
}

/** For a failure outside every request's own handling, a bug by definition: says nothing about it. */
function lastResort(log: Log, error: Error): Response {
  log.error('request failed outside its handling', { error });
  const headers = { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' };
  return new Response('{"detail":"Internal Server Error"}', { status: 500, headers });
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function after<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), ms));
}

/**
 * The HTTP server: one Elysia application on Bun. Bun routes by the path as it was sent but hands out a normalised URL, in
 * which `..` is resolved. So there is one native route for each number of segments: a normalised path with another number
 * was changed. Behind them Elysia routes. `standardHostname: false`, because Elysia otherwise looks for the path from the
 * eleventh character of the URL on, and a short Host shifts it.
 */
import http from 'node:http';
import { type AnyElysia, Elysia } from 'elysia';
import { AppError, errnoOf } from '../base/errors.ts';
import { networkOf } from '../base/ip-network.ts';
import type { Log } from '../base/log.ts';
import { basePathOf } from '../base/paths.ts';
import { noteArrival } from '../base/scheduling/arrival.ts';
import { runForPerson } from '../base/scheduling/current-person.ts';
import { MAY_BE_SILENT } from '../processes/child-sockets.ts';
import { BodyRoom } from './body/body-room.ts';
import {
  Context,
  type ServerParts,
  type Handler,
  type ServerServices,
  type FailurePage,
} from './context.ts';
import { announce, around, others } from './lifecycle.ts';
import { mayStillSend } from './hooks/admission.ts';
import { corsOf } from './hooks/cors.ts';
import { createPeerReader, type Peer } from './hooks/client-address.ts';
import { createHostCheck } from './hooks/host-check.ts';
import { type PathShape, RequestTarget } from './hooks/request-target.ts';
import { securityHeaders } from './reply/headers.ts';
import {
  type Connection,
  IDLE_SECONDS,
  IdleLimit,
  type IdleSeconds,
  SlowAnswers,
} from './reply/idle-limit.ts';
import { Responder } from './reply/respond.ts';
import { routesOf } from './route.ts';

/** With the request line. Bun answers longer heads 431. */
const MAX_HEAD_BYTES = 256 * 1024;
/** Bodies are limited where they are read. */
const MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER;

type BunServer = Bun.Server<unknown>;
type Front = (request: Request, server: BunServer) => Response | Promise<Response>;

/** Deeper paths are taken as they come. */
const MAX_SEGMENTS = 16;

/** PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

interface ServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** For the handlers of this server; null: none. */
  readonly socket?: string | null;
  /** Null: plain HTTP. */
  readonly tls: TlsPair | null;
  readonly services: ServerServices;
  readonly plugins: readonly AnyElysia[];
  /** For every path without a route. */
  readonly files: Handler;
  readonly failurePage: FailurePage;
  readonly log: Log;
  /** IDLE_SECONDS when missing. */
  readonly idle?: IdleSeconds;
}

export interface RunningServer {
  /** `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /** Requests under the old one finish. Only for a server started with TLS. */
  renewCertificate(tls: TlsPair): Promise<void>;
  /** Waits at most `graceMs` for running requests, then cuts them off. */
  stop(graceMs: number): Promise<void>;
}

/** Throws `unavailable`, saying why, when the address cannot be taken. */
export function startServer(options: ServerOptions): RunningServer {
  try {
    return start(options);
  } catch (error) {
    throw refusedAddress(options, error);
  }
}

function start(options: ServerOptions): RunningServer {
  // Typed as a constant, but Bun has a setter, also in an executable.
  (http as { maxHeaderSize: number }).maxHeaderSize = MAX_HEAD_BYTES;
  if (options.tls !== null && options.port !== 0) requireFreePort(options.host, options.port);
  const app = application(options);
  let server = listen(app, options, options.port, options.tls);
  const local = options.socket ? listenLocally(app, options, options.socket) : null;
  const port = server.port ?? options.port;
  const scheme = options.tls === null ? 'http' : 'https';
  const draining = new Set<Promise<void>>();
  return {
    url: `${scheme}://${urlHost(options.host)}:${port}`,
    port,
    async renewCertificate(tls) {
      // Bun cannot swap the certificate of a listener: the next one shares the port, then the old one drains.
      const old = server;
      server = listen(app, options, port, tls);
      const drained = old.stop(false).finally(() => draining.delete(drained));
      draining.add(drained);
    },
    async stop(graceMs) {
      const stopped = Promise.all([server.stop(false), local?.stop(false), ...draining]);
      const isDrained = await Promise.race([stopped.then(() => true), after(graceMs, false)]);
      if (!isDrained) await Promise.all([server.stop(true), local?.stop(true)]);
    },
  };
}

function application(options: ServerOptions): AnyElysia {
  const { log, plugins, idle = IDLE_SECONDS } = options;
  const app: AnyElysia = new Elysia({
    handler: { standardHostname: false },
    systemRouter: false,
    serve: {
      development: false,
      idleTimeout: idle.between,
      maxRequestBodySize: MAX_BODY_BYTES,
      routes: nativeRoutes(frontOf(options, (request) => app.fetch(request))),
      error: (error: Error) => lastResort(log, error),
    },
  }).use(around);
  for (const plugin of plugins) app.use(plugin);
  return app.use(others(routesOf(plugins)));
}

function listen(
  app: AnyElysia,
  { host }: ServerOptions,
  port: number,
  tls: TlsPair | null,
): BunServer {
  app.listen({
    hostname: host,
    port,
    // Only for taking over; Elysia's default would share any busy port.
    reusePort: tls !== null,
    ...(tls === null ? {} : { tls: { cert: tls.cert, key: tls.key } }),
  });
  if (app.server === null) throw new Error('The server did not start');
  return app.server as BunServer;
}

/** For processes that may open the state folder. */
function listenLocally(app: AnyElysia, options: ServerOptions, unix: string): BunServer {
  const umask = process.umask(0o177);
  try {
    return Bun.serve({
      unix,
      maxRequestBodySize: MAX_BODY_BYTES,
      ...MAY_BE_SILENT,
      routes: nativeRoutes(frontOf(options, (request) => app.fetch(request))),
      error: (error: Error) => lastResort(options.log, error),
    });
  } finally {
    process.umask(umask);
  }
}

function nativeRoutes(frontFor: (shape: PathShape | null) => Front): Record<string, Front> {
  const routes: Record<string, Front> = { '/': frontFor({ segments: 0, isOpen: true }) };
  let pattern = '';
  for (let segments = 1; segments <= MAX_SEGMENTS; segments++) {
    pattern += `/:s${segments}`;
    routes[pattern] = frontFor({ segments, isOpen: false });
    // More segments match a longer pattern first, so the next one is empty.
    const open = segments < MAX_SEGMENTS ? { segments, isOpen: true } : null;
    routes[`${pattern}/*`] = frontFor(open);
  }
  routes['/*'] = frontFor(null);
  return routes;
}

function frontOf(
  { services, files, failurePage, tls, idle = IDLE_SECONDS }: ServerOptions,
  route: (request: Request) => Response | Promise<Response>,
): (shape: PathShape | null) => Front {
  const { config } = services;
  const { issuer, client_id: clientId } = config.oidc;
  const hasTls = tls !== null;
  const readPeer = createPeerReader(config.trusted_proxies);
  const parts: ServerParts = {
    services,
    files,
    failurePage,
    hosts: createHostCheck({
      bindHost: config.host,
      publicUrl: config.public_url,
      allowedHosts: config.allowed_hosts,
    }),
    cors: corsOf(config),
    basePath: basePathOf(config.public_url),
    responder: new Responder(
      securityHeaders({
        isAlwaysSecure: hasTls || config.public_url.startsWith('https:'),
        oidcIssuer: issuer !== '' && clientId !== '' ? issuer : null,
      }),
    ),
    slowAnswers: new SlowAnswers(),
    bodyRoom: new BodyRoom(() => services.config.limits.max_body_bytes),
    hasTls,
    mayStillSend,
  };
  return (shape) => (request, server) => {
    noteArrival();
    const connection = new SocketConnection(request, server);
    const peer = readPeer(connection.address(), request.headers);
    const target = new RequestTarget(request, shape, parts.basePath);
    const idleLimit = new IdleLimit(connection, idle);
    const requestId = requestIdOf(request.headers, peer);
    const ask = new Context({ request, target, server: parts, requestId, peer, idleLimit });
    const routed = routedAs(request, target);
    announce(routed, ask);
    parts.slowAnswers.begin(idleLimit);
    // Before authentication.
    return runForPerson(`address:${networkOf(peer.address, 64)}`, () => route(routed));
  };
}

/** A HEAD as GET, a path with percent signs in its one spelling. The body stays with the original request. */
function routedAs(request: Request, target: RequestTarget): Request {
  const isHead = request.method === 'HEAD';
  const isSpelled = !target.path.includes('%') || !target.isMatchable;
  // Of an https address Elysia takes the host for a part of the path.
  const isSame = !isHead && isSpelled && !target.isBelowBase && target.linkSecret === null;
  if (isSame && request.url.startsWith('http:')) return request;
  const path = isSpelled ? target.path : `/${target.segments.map(encodeURIComponent).join('/')}`;
  return new Request(`http://own.invalid${path}`, { method: isHead ? 'GET' : request.method });
}

function requestIdOf(headers: Headers, peer: Peer): string {
  if (peer.isTrusted) {
    const given = headers.get('x-request-id');
    if (given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given)) return given;
  }
  return crypto.randomUUID();
}

/** With SO_REUSEPORT two processes may hold one port, so this asks without it. */
function requireFreePort(host: string, port: number): void {
  Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response(null) }).stop(true);
}

/** Other errors as they are. */
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

/** Clients of the socket have no address. */
const LOCAL = '127.0.0.1';

class SocketConnection implements Connection {
  readonly #request: Request;
  readonly #server: BunServer;

  constructor(request: Request, server: BunServer) {
    this.#request = request;
    this.#server = server;
  }

  address(): string | null {
    return this.#server.requestIP(this.#request)?.address ?? LOCAL;
  }

  limitIdle(seconds: number): void {
    this.#server.timeout(this.#request, seconds);
  }
}

/** A failure outside every request's own handling is a bug. */
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

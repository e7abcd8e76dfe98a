/**
 * One request from its head to its answer, through the checks in the order the contract fixes.
 *
 * Host, then route, then method, then what admission.ts checks; only then the handler, which reads parameters and body.
 * Files have no route here: they are the `fallback`, which decides existence, method and read-only mode itself. Nothing is
 * awaited for an anonymous GET of a public route, so the cheapest requests stay synchronous.
 */
import { noteArrival } from '../base/work/arrival.ts';
import { askedBy } from '../base/work/asker.ts';
import { AppError } from '../base/errors.ts';
import { networkOf } from '../base/ip-network.ts';
import type { Soon } from '../base/work/soon.ts';
import { isCrowded, ownTurn } from '../base/work/time-slice.ts';
import { noteAccess } from './hooks/access-log.ts';
import type { Guarded } from './hooks/admission.ts';
import { admit, mayStillSend } from './hooks/admission.ts';
import { BodyRoom } from './body/body-room.ts';
import { createPeerReader } from './hooks/client-address.ts';
import type { Peer, PeerReader } from './hooks/client-address.ts';
import type { Connection } from './connection.ts';
import { Context } from './context.ts';
import { errorReply, jsonError } from './reply/errors.ts';
import { NO_STORE, PRIVATE, securityHeaders } from './reply/headers.ts';
import { createHostCheck } from './hooks/host-check.ts';
import type { HostCheck } from './hooks/host-check.ts';
import { IDLE_SECONDS, IdleLimit } from './reply/idle-limit.ts';
import type { IdleSeconds } from './reply/idle-limit.ts';
import type { StreamEnd } from './reply/outgoing-stream.ts';
import type { KnownPath } from './native-routes.ts';
import { DATASET_METHODS, READ_METHODS } from '../operations/datasets.ts';
import { isSafeMethod, methodNotAllowed } from './reply/refusals.ts';
import { emptyReply, jsonReply } from './reply/reply.ts';
import { RequestTarget } from './hooks/request-target.ts';
import { Responder } from './reply/respond.ts';
import { SlowAnswers } from './reply/slow-answers.ts';
import type { Answer, Handler, Match, RegisteredRoute, Route, RouteMethod } from './route-table.ts';
import { RouteTable } from './route-table.ts';
import type { ServerServices } from './dependencies.ts';

/** What answers every path without a built-in route, for all methods. Its callers are signed in. */
interface Fallback {
  readonly handler: Handler;
}

interface ExchangeOptions {
  readonly services: ServerServices;
  readonly routes: readonly Route[];
  readonly fallback: Fallback;
  /** The server itself speaks TLS. */
  readonly hasTls: boolean;
  /** IDLE_SECONDS when missing; the server has to listen with the same. */
  readonly idle?: IdleSeconds;
}

export interface Dispatch {
  /** `known`: what is known about the raw path; null for nothing. Never rejects but for a bug in the error page. */
  (request: Request, connection: Connection, known: KnownPath | null): Response | Promise<Response>;
  /** Paths that stand for themselves, for the native router. */
  readonly plainPaths: readonly string[];
}

/** Values in a change of rows: MAX_CREATED_ROWS of seven columns. */
export const MAX_ROW_VALUES = 400_000;
/** Compressed in about a millisecond. */
const LONG_BYTES = 32 * 1024;
/** Label of what is no built-in route, in the metrics. */
const FILES_PATTERN = '/{file}';
/** Methods that are refused everywhere, whatever the path. */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['TRACE', 'CONNECT']);

/** Of all that can lie below the first segment: the refusal comes before anybody may know what does. */
function filesAllow(target: RequestTarget): string {
  return target.path.startsWith('/api/') ? DATASET_METHODS : READ_METHODS;
}

/** What is worked out once for a server. Settings used here need a restart. */
interface Door {
  readonly services: ServerServices;
  readonly table: RouteTable;
  readonly files: RegisteredRoute & Guarded;
  readonly fallback: Handler;
  readonly hosts: HostCheck;
  readonly readPeer: PeerReader;
  readonly responder: Responder;
  readonly slowAnswers: SlowAnswers;
  readonly idle: IdleSeconds;
  readonly bodyRoom: BodyRoom;
  readonly hasTls: boolean;
}

/** The dispatcher of one server. Throws RangeError for routes that contradict each other. */
export function createExchange(options: ExchangeOptions): Dispatch {
  const { services, routes, fallback, hasTls, idle = IDLE_SECONDS } = options;
  const { config } = services;
  const { issuer, client_id: clientId } = config.oidc;
  const door: Door = {
    services,
    table: new RouteTable(routes),
    files: {
      pattern: FILES_PATTERN,
      access: 'user',
      cacheControl: PRIVATE,
      methods: {},
      allow: '',
      decidesReadOnly: true,
      body: { maxBytes: Number.POSITIVE_INFINITY, maxValues: MAX_ROW_VALUES },
    },
    fallback: fallback.handler,
    hosts: createHostCheck({
      bindHost: config.host,
      publicUrl: config.public_url,
      allowedHosts: config.allowed_hosts,
    }),
    readPeer: createPeerReader(config.trusted_proxies),
    responder: new Responder(
      securityHeaders({
        isAlwaysSecure: hasTls || config.public_url.startsWith('https:'),
        oidcIssuer: issuer !== '' && clientId !== '' ? issuer : null,
      }),
    ),
    slowAnswers: new SlowAnswers(),
    idle,
    bodyRoom: new BodyRoom(() => services.config.limits.max_body_bytes),
    hasTls,
  };
  const dispatch = (request: Request, connection: Connection, known: KnownPath | null) => {
    noteArrival();
    const exchange = new Exchange(door, request, connection, known);
    return askedBy(exchange.asker, () => exchange.run());
  };
  return Object.assign(dispatch, { plainPaths: door.table.plainPaths });
}

class Exchange {
  readonly #door: Door;
  readonly #request: Request;
  readonly #idleLimit: IdleLimit;
  readonly #startedAt: number;
  readonly #peer: Peer;
  readonly #requestId: string;
  readonly #target: RequestTarget;
  #route: RegisteredRoute & Guarded;
  #context: Context | null = null;
  /** The end of the answer was noted already. */
  #isNoted = false;
  /** Somebody else made the response. */
  #isForeign = false;

  constructor(door: Door, request: Request, connection: Connection, known: KnownPath | null) {
    this.#door = door;
    this.#request = request;
    this.#idleLimit = new IdleLimit(connection, door.idle);
    this.#startedAt = door.services.clock.monotonic();
    this.#peer = door.readPeer(connection.address(), request.headers);
    this.#requestId = requestIdOf(request.headers, this.#peer);
    this.#target = new RequestTarget(request, known);
    this.#route = door.files;
  }

  /** Before it has told who it is. */
  get asker(): string {
    return `address:${networkOf(this.#peer.address, 64)}`;
  }

  run(): Response | Promise<Response> {
    const response = this.#run();
    if (isSafeMethod(this.#request.method)) return response;
    if (!(response instanceof Promise)) return this.#afterBody(response);
    return response.then((made) => this.#afterBody(made));
  }

  /** The same response, once the client can read it. */
  #afterBody(response: Response): Response | Promise<Response> {
    const unread = this.#context?.body.unread() ?? null;
    return unread === null ? response : unread.then(() => response);
  }

  #run(): Response | Promise<Response> {
    try {
      const { hosts } = this.#door;
      if (!hosts.isAllowed(this.#request.headers.get('host'))) return this.#refuseHost();
      const answer = this.#answer();
      return answer instanceof Promise ? this.#finishLater(answer) : this.#finishNow(answer);
    } catch (error) {
      return this.#fail(error);
    }
  }

  #answer(): Answer | Promise<Answer> {
    const { services, table, hasTls } = this.#door;
    const found = table.find(this.#target);
    const match = found !== null && this.#isLeft(found) ? null : found;
    if (match !== null) this.#route = match.route;
    const context = new Context({
      request: this.#request,
      target: this.#target,
      services,
      requestId: this.#requestId,
      peer: this.#peer,
      hasTls,
      idleLimit: this.#idleLimit,
      bodyRoom: this.#door.bodyRoom,
      mayStillSend,
    });
    this.#context = context;
    if (this.#route.body !== undefined) context.bodyLimits = this.#route.body;
    if (match === null) return this.#answerFile(context);
    context.parameters = match.parameters;
    const isOn = match.route.isOn?.(services) ?? true;
    if (isOn === true) return this.#answerRoute(context, match);
    return this.#answerIfOn(context, match, isOn);
  }

  /** Whether the route has nothing to do with the method, so that a file of that name answers. */
  #isLeft({ route }: Match): boolean {
    const { method } = this.#request;
    if (route.leavesOtherMethods !== true || method === 'OPTIONS') return false;
    return route.methods[(method === 'HEAD' ? 'GET' : method) as RouteMethod] === undefined;
  }

  async #answerIfOn(
    context: Context,
    match: Match,
    isOn: boolean | Promise<boolean>,
  ): Promise<Answer> {
    if (await isOn) return this.#answerRoute(context, match);
    throw new AppError('not-found', 'Not Found');
  }

  #answerRoute(context: Context, { route }: Match): Answer | Promise<Answer> {
    const { method } = context;
    if (method === 'OPTIONS') return emptyReply(204, { Allow: route.allow });
    const handler = route.methods[(method === 'HEAD' ? 'GET' : method) as RouteMethod];
    if (handler !== undefined) return this.#admitted(context, handler);
    const refusal = methodNotAllowed(Object.keys(route.methods));
    const { beforeMethodRefusal } = route;
    if (beforeMethodRefusal === undefined) throw refusal;
    return this.#admitted(context, async () => {
      await beforeMethodRefusal(context);
      throw refusal;
    });
  }

  #answerFile(context: Context): Answer | Promise<Answer> {
    if (REFUSED_METHODS.has(context.method)) {
      throw new AppError('method-not-allowed', 'Method Not Allowed', {
        headers: { Allow: filesAllow(this.#target) },
      });
    }
    return this.#admitted(context, this.#door.fallback);
  }

  #admitted(context: Context, handler: Handler): Answer | Promise<Answer> {
    let admission: Soon<void>;
    try {
      admission = admit(context, this.#route, this.#door.hosts);
    } catch (error) {
      return this.#refuse(context, error);
    }
    const answer = (): Answer | Promise<Answer> =>
      this.#route.comesFirst === true || !isCrowded()
        ? handler(context)
        : ownTurn().then(() => handler(context));
    if (!(admission instanceof Promise)) return answer();
    return admission.then(answer, (error: unknown) => this.#refuse(context, error));
  }

  #refuse(context: Context, error: unknown): Promise<never> {
    const { onRefused } = this.#route;
    if (onRefused === undefined || !(error instanceof AppError)) throw error;
    return onRefused(context, error).then(() => {
      throw error;
    });
  }

  #finishNow(answer: Answer): Response {
    const response = this.#finish(answer);
    if (this.#isStream(response)) this.#idleLimit.settle(true);
    return response;
  }

  async #finishLater(answer: Promise<Answer>): Promise<Response> {
    const { slowAnswers } = this.#door;
    slowAnswers.begin(this.#idleLimit);
    let response: Response | null = null;
    try {
      const made = await answer;
      if (isLong(made) && isCrowded()) await ownTurn();
      response = this.#finish(made, true);
    } catch (error) {
      response = this.#fail(error);
    } finally {
      slowAnswers.end(this.#idleLimit);
      this.#context?.leaveBodyRoom();
      this.#idleLimit.settle(response !== null && this.#isStream(response));
    }
    return response;
  }

  /** Whether the body is made while it is sent. */
  #isStream(response: Response): boolean {
    // Looking at the body of a response makes a stream of it, which costs as much as the response.
    if (!this.#isForeign) return !this.#isNoted;
    return response.body !== null && !response.headers.has('Content-Length');
  }

  #refuseHost(): Response {
    // Misdirected, as the MCP transport wants it told.
    const isMcp = /^\/mcp\/?$/.test(this.#target.path);
    return this.#finish(
      jsonReply({ detail: 'Invalid host header' }, { status: isMcp ? 421 : 400 }),
    );
  }

  #fail(error: unknown): Response {
    const context = this.#context;
    if (context !== null) return this.#finish(errorReply(error, context, this.#route));
    if (!(error instanceof AppError)) throw error;
    return this.#finish(jsonError(error, this.#requestId));
  }

  #finish(answer: Answer, isLate = false): Response {
    const context = this.#context;
    this.#isForeign = answer instanceof Response;
    return this.#door.responder.respond(answer, {
      request: this.#request,
      requestId: this.#requestId,
      cacheControl: context === null ? NO_STORE : (this.#route.cacheControl ?? NO_STORE),
      cookies: context === null ? [] : context.cookies,
      isLate,
      onEnd: (end, status) => this.#note(end, status),
    });
  }

  #note(end: StreamEnd, status: number): void {
    this.#isNoted = true;
    const { clock, log, metrics } = this.#door.services;
    noteAccess(log, metrics, {
      requestId: this.#requestId,
      clientAddress: this.#peer.address,
      userId: this.#context?.caller?.userId ?? null,
      method: this.#request.method,
      path: this.#target.path,
      route: this.#route.pattern,
      status,
      milliseconds: clock.monotonic() - this.#startedAt,
      bytes: end.bytes,
      error: end.error,
      // Nobody reads the body of a HEAD.
      isCancelled: end.isCancelled && this.#request.method !== 'HEAD',
    });
  }
}

/** Whether compressing it takes a while. */
function isLong(answer: Answer): boolean {
  if (answer instanceof Response) return false;
  const { body } = answer;
  return (typeof body === 'string' || body instanceof Uint8Array) && body.length > LONG_BYTES;
}

function requestIdOf(headers: Headers, peer: Peer): string {
  if (peer.isTrusted) {
    const given = headers.get('x-request-id');
    if (given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given)) return given;
  }
  return crypto.randomUUID();
}

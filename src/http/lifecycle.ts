/**
 * The order of checks of every request, fixed by the contract: host, route, method, then admission.ts; then the handler;
 * last the headers of every response, and the access log. `around` holds the hooks of the whole server. A plugin uses
 * `lifecycle`, names its checks at each route and gets the request as `ask`.
 */
import { type AnyElysia, Elysia } from 'elysia';
import { AppError } from '../base/errors.ts';
import { isCrowded, ownTurn } from '../base/scheduling/time-slice.ts';
import { DATASET_METHODS, READ_METHODS } from '../operations/files/datasets.ts';
import { type Context, FILES, type Route, type RouteRules } from './context.ts';
import { noteAccess } from './hooks/access-log.ts';
import { admit } from './hooks/admission.ts';
import { addCorsHeaders, preflightReply } from './hooks/cors.ts';
import { beginChange, bodyHash, endChange } from './hooks/idempotency.ts';
import { requireDescribedParameters } from './hooks/known-parameters.ts';
import { keepLinkPrivate } from './hooks/link.ts';
import { isSafeMethod, methodNotAllowed, allowed, patternOf } from './route.ts';
import { withBasePath } from './reply/base-path.ts';
import { errorReply } from './reply/errors.ts';
import { NO_STORE } from './reply/headers.ts';
import type { StreamEnd } from './reply/outgoing-stream.ts';
import { emptyReply, jsonReply, type Answer } from './reply/reply.ts';
import type { OperationDescription } from './operation-description.ts';

/** Compressed in about a millisecond. */
const LONG_BYTES = 32 * 1024;
const REFUSED_METHODS: ReadonlySet<string> = new Set(['TRACE', 'CONNECT']);

/** By the request that Elysia routes, which is not always the one that came (server.ts). */
const asks = new WeakMap<Request, Context>();

export function announce(request: Request, ask: Context): void {
  asks.set(request, ask);
}

function askOf(request: Request): Context {
  const ask = asks.get(request);
  if (ask === undefined) throw new Error('The request did not come through the server');
  return ask;
}

type Params = Readonly<Record<string, string>>;

interface Passing {
  readonly request: Request;
  readonly params: unknown;
  readonly route: string;
}

/** For the plugins of nouns. */
export const lifecycle = new Elysia({ name: 'lifecycle' })
  .derive({ as: 'scoped' }, ({ request }) => ({ ask: askOf(request) }))
  .macro({
    checks: (rules: RouteRules) => ({
      detail: { 'x-rules': rules } as object,
      beforeHandle: async ({ request, params, route }: Passing) =>
        letIn(askOf(request), rules, route, params as Params | undefined),
    }),
    /** Only whether the path is one of this route: for answers before authentication. */
    opens: (rules: RouteRules) => ({
      beforeHandle: async ({ request, params, route }: Passing) =>
        open(askOf(request), rules, route, params as Params | undefined),
    }),
    describes: (operation: OperationDescription) => ({
      detail: { 'x-operation': operation } as object,
    }),
  });

export interface Asked {
  readonly ask: Context;
}

export const around = new Elysia({ name: 'around' })
  .onRequest(({ request }) => {
    const ask = askOf(request);
    if (!ask.server.hosts.isAllowed(ask.request.headers.get('host'))) return refuseHost(ask);
    const preflight = preflightReply(ask);
    if (preflight !== null) return finish(ask, preflight);
  })
  .onError({ as: 'global' }, ({ error, request }) => errorReply(error, askOf(request)))
  .mapResponse({ as: 'global' }, async ({ request, responseValue, set }) => {
    const ask = askOf(request);
    const answer = (await responseValue) as Answer;
    if (ask.change !== null) await endChange(ask, ask.change, answer);
    // Elysia would make the response anew for any other status.
    set.status = 200;
    if (ask.idleLimit.isLate && isLong(answer) && isCrowded()) await ownTurn();
    const response = finish(ask, answer);
    const unread = isSafeMethod(ask.method) ? null : ask.body.unread();
    if (unread !== null) await unread;
    return response;
  });

/** Methods the routes do not have, and paths that are no route. */
export function others(routes: readonly Route[]): AnyElysia {
  const app = new Elysia({ name: 'others' }).use(lifecycle).all('/*', ({ ask }) => answerFile(ask));
  for (const { path, methods, rules } of routes) {
    if (!methods.includes('OPTIONS'))
      app.options(path, () => emptyReply(204, { Allow: allowed(methods) }), { opens: rules });
    if (rules.leavesOtherMethods === true) continue;
    app.all(path, ({ ask }) => refuseMethod(ask, methods), { opens: rules });
  }
  return app;
}

async function refuseMethod(ask: Context, methods: readonly string[]): Promise<never> {
  const { beforeMethodRefusal } = ask.rules;
  if (beforeMethodRefusal !== undefined) {
    await letThrough(ask);
    await beforeMethodRefusal(ask);
  }
  throw methodNotAllowed(methods);
}

/** Answers where the path is not this route's after all. Throws `not-found` for a route that is switched off. */
function open(
  ask: Context,
  rules: RouteRules,
  path: string,
  params: Params = {},
): Promise<Answer | void> | void {
  const { hasNumbers, isOn, rest } = rules;
  const isNone =
    !ask.isMatchable ||
    (hasNumbers === true && !Object.values(params).every((value) => /^[0-9]+$/.test(value))) ||
    params['*'] === '';
  const isOff = rules.yieldsWhenOff === true && isOn?.(ask.services) === false;
  if (isNone || isOff) return answerFile(ask);
  ask.rules = rules;
  ask.pattern = patternOf(path, rules);
  ask.parameters =
    rest === undefined
      ? params
      : { [rest]: ask.segments.slice(path.split('/').length - 2).join('/') };
  if (isOn !== undefined) return requireOn(isOn(ask.services));
}

async function requireOn(isOn: boolean | Promise<boolean>): Promise<void> {
  if (!(await isOn)) throw new AppError('not-found', 'Not Found');
}

async function letIn(
  ask: Context,
  rules: RouteRules,
  path: string,
  params: Params | undefined,
): Promise<Answer | void> {
  const opened = open(ask, rules, path, params);
  const answer = opened === undefined ? undefined : await opened;
  if (answer !== undefined) return answer;
  await letThrough(ask);
  requireDescribedParameters(ask, path);
  if (rules.repeats === undefined || isSafeMethod(ask.method)) return;
  if (!ask.request.headers.has('idempotency-key')) return;
  await rules.repeats(ask);
  return (await beginChange(ask, await bodyHash(ask))) ?? undefined;
}

async function letThrough(ask: Context): Promise<void> {
  const { comesFirst, onRefused } = ask.rules;
  try {
    await admit(ask);
  } catch (error) {
    if (onRefused !== undefined && error instanceof AppError) await onRefused(ask, error);
    throw error;
  }
  if (comesFirst !== true && isCrowded()) await ownTurn();
}

async function answerFile(ask: Context): Promise<Answer> {
  ask.rules = FILES;
  ask.pattern = FILES.pattern;
  if (REFUSED_METHODS.has(ask.method)) {
    throw new AppError('method-not-allowed', 'Method Not Allowed', {
      // Of all that can lie below the first segment: the refusal comes before rights are known.
      headers: { Allow: ask.path.startsWith('/api/') ? DATASET_METHODS : READ_METHODS },
    });
  }
  await letThrough(ask);
  return ask.server.files(ask);
}

function refuseHost(ask: Context): Response {
  // Misdirected, as the MCP transport demands.
  const isMcp = /^\/mcp\/?$/.test(ask.path);
  ask.rules = { access: 'public' };
  return finish(ask, jsonReply({ detail: 'Invalid host header' }, { status: isMcp ? 421 : 400 }));
}

function finish(ask: Context, given: Answer): Response {
  const { basePath, cookies, idleLimit, request, requestId, rules, server } = ask;
  const answer = basePath === '' ? given : withBasePath(given, basePath);
  const isForeign = answer instanceof Response;
  let isNoted = false;
  const response = server.responder.respond(answer, {
    request,
    requestId,
    cacheControl: ask.linkSecret === null ? (rules.cacheControl ?? NO_STORE) : NO_STORE,
    cookies,
    isLate: ask.idleLimit.isLate,
    onEnd: (end, status) => {
      isNoted = true;
      note(ask, end, status);
    },
  });
  if (server.cors !== null) addCorsHeaders(ask, response.headers);
  if (ask.linkSecret !== null) keepLinkPrivate(response.headers);
  server.slowAnswers.end(idleLimit);
  ask.leaveBodyRoom();
  // Reading the body of a response makes a stream of it, which costs as much as the response.
  const isStream = isForeign
    ? response.body !== null && !response.headers.has('Content-Length')
    : !isNoted;
  idleLimit.settle(isStream);
  return response;
}

function note(ask: Context, end: StreamEnd, status: number): void {
  const { clock, log, metrics } = ask.services;
  noteAccess(log, metrics, {
    requestId: ask.requestId,
    clientAddress: ask.peer.address,
    userId: ask.caller?.link === undefined ? (ask.caller?.userId ?? null) : null,
    method: ask.method,
    path: ask.linkSecret === null ? ask.path : `/s/…${ask.path}`,
    route: ask.pattern,
    status,
    milliseconds: clock.monotonic() - ask.startedAt,
    bytes: end.bytes,
    error: end.error,
    // Nobody reads the body of a HEAD.
    isCancelled: end.isCancelled && ask.method !== 'HEAD',
  });
}

function isLong(answer: Answer): boolean {
  if (answer instanceof Response) return false;
  const { body } = answer;
  return (typeof body === 'string' || body instanceof Uint8Array) && body.length > LONG_BYTES;
}

/**
 * What passes between a client and a handler file. Credentials stop here; the handler learns the caller from `x-svc-*`
 * headers, which no client can send.
 */
import type { App } from '../app.ts';
import { loadGrants } from '../accounts/rights/permissions.ts';
import type { Principal, Verb } from '../accounts/rights/principal.ts';
import { AppError } from '../base/errors.ts';
import type { HandlerRequest } from '../handlers/handler-call.ts';
import { mayAccess, type Origin } from '../operations/access.ts';
import {
  addressedHandler,
  callHandler,
  type HandlerAddress,
} from '../operations/files/handlers.ts';
import { isStillAdmitted } from './hooks/admission.ts';
import { gzipBytes, isTextLike, MIN_GZIP_BYTES, acceptsGzip } from './reply/negotiate.ts';
import type { Context } from './context.ts';
import { byteStream, countedStream, whileAllowed } from './reply/outgoing-stream.ts';
import { isSafeMethod } from './route.ts';

/** About the connection, not the message (RFC 9110, 7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** Credentials, and forwarding headers a client may have invented. */
const WITHHELD = [
  'authorization',
  'x-api-key',
  'x-csrf-token',
  'cookie',
  'forwarded',
  'x-real-ip',
  'content-length',
  'expect',
];
const OWN_HEADER = /^x-(?:svc|forwarded)-/;
const OWN_COOKIE = /^\s*svc_/;
/** Longer bodies are streamed. */
const SHORT_BYTES = 256 * 1024;

/** Null when the path belongs to no handler. */
export function handlerAnswer(context: Context): Promise<Response> | null {
  const { services } = context;
  const address = addressedHandler(services, context.segments.slice(1));
  if (address === null) return null;
  const verb: Verb = isSafeMethod(context.method) ? 'read' : 'write';
  const { caller, origin } = context;
  const name = context.segments.slice(1).join('/');
  let end = (): void => {};
  const answer = callHandler(services, address, { caller, origin, name, verb }, (user) => {
    const call = services.handlerCalls.begin(user);
    ({ end } = call);
    return requestFor(context, address, user, call.token);
  });
  const isAllowed = async (): Promise<boolean> =>
    (await isStillAdmitted(context)) &&
    mayAccess(await loadGrants(services.db, context.caller), address.resource, verb);
  return answer
    .then((response) => answerFor(response, context, isAllowed))
    .then((response) => whenSent(response, end))
    .catch((error: unknown) => {
      end();
      throw error;
    });
}

async function requestFor(
  context: Context,
  { resource, nameLength }: HandlerAddress,
  user: Principal,
  token: string,
): Promise<HandlerRequest> {
  if (context.request.headers.has('upgrade')) {
    throw new AppError('not-implemented', 'Protocol upgrades are not supported');
  }
  const [prefix, path] = splitPath(context.path, nameLength + 1);
  return {
    rel: resource.rel,
    method: context.method,
    target: path + context.search,
    headers: requestHeaders(context, prefix, user, token),
    body: await requestBody(context),
    signal: context.request.signal,
  };
}

/** The rest starts with a slash. */
function splitPath(path: string, segments: number): [string, string] {
  const slash = /\/|%2f/gi;
  for (let count = 0; count <= segments; count++) {
    const found = slash.exec(path);
    if (found === null) return [path, '/'];
    if (count < segments) continue;
    return [path.slice(0, found.index), `/${path.slice(slash.lastIndex)}`];
  }
  return [path, '/'];
}

function requestHeaders(context: Context, prefix: string, user: Principal, token: string): Headers {
  const { request, peer, requestId } = context;
  const headers = new Headers(request.headers);
  const named = headers.get('connection')?.split(',') ?? [];
  for (const name of [...HOP_BY_HOP, ...WITHHELD, ...named.map((one) => one.trim())]) {
    if (/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) headers.delete(name);
  }
  for (const name of [...headers.keys()]) if (OWN_HEADER.test(name)) headers.delete(name);
  const cookies = othersCookies(request.headers.get('cookie'));
  if (cookies !== '') headers.set('cookie', cookies);
  // Without one the runtime would send its own and decode what the client cannot.
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'identity');
  addCaller(headers, context.services, user, token);
  headers.set('x-request-id', requestId);
  headers.set('x-forwarded-for', peer.address);
  headers.set('x-forwarded-proto', context.scheme);
  headers.set('x-forwarded-host', peer.host ?? request.headers.get('host') ?? '');
  headers.set('x-forwarded-prefix', context.server.basePath + prefix);
  return headers;
}

/** For a call that does not come from a request. */
export function handlerHeaders(
  services: App,
  user: Principal,
  {
    origin,
    prefix,
    token,
  }: { readonly origin: Origin; readonly prefix: string; readonly token: string },
): Headers {
  const headers = new Headers({ host: 'localhost', 'accept-encoding': 'identity' });
  addCaller(headers, services, user, token);
  const address = URL.parse(services.config.public_url);
  headers.set('x-forwarded-for', origin.clientAddress ?? 'unknown');
  headers.set('x-forwarded-proto', address?.protocol.slice(0, -1) ?? 'http');
  headers.set('x-forwarded-host', address?.host ?? 'localhost');
  headers.set('x-forwarded-prefix', prefix);
  return headers;
}

function addCaller(headers: Headers, services: App, user: Principal, token: string): void {
  headers.set('x-svc-token', token);
  headers.set('x-svc-socket', latin(services.handlers.apiSocket));
  headers.set('x-svc-user', latin(user.username));
  headers.set('x-svc-user-id', String(user.userId));
  headers.set('x-svc-superuser', String(user.isSuperuser));
}

function othersCookies(header: string | null): string {
  const cookies = header?.split(';').filter((cookie) => !OWN_COOKIE.test(cookie)) ?? [];
  return cookies
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '')
    .join('; ');
}

/** UTF-8 bytes, which a header carries as Latin-1. */
function latin(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

async function requestBody({
  body,
  method,
  request,
  services,
}: Context): Promise<HandlerRequest['body']> {
  if (request.body === null || method === 'GET' || method === 'HEAD') return null;
  const limit = services.config.limits.max_body_bytes;
  const declared = request.headers.get('content-length');
  if (declared === null || Number(declared) > SHORT_BYTES) {
    if (Number(declared) > limit) throw new AppError('too-large', 'Request body too large');
    return body.stream(limit);
  }
  return body.bytes(limit);
}

/** `onEnd` is called when all is sent or the reader is gone. */
function whenSent(response: Response, onEnd: () => void): Response {
  const { status, headers, body } = response;
  const length = headers.get('content-length');
  if (body === null || (length !== null && Number(length) <= SHORT_BYTES)) {
    onEnd();
    return response;
  }
  return new Response(countedStream(body, onEnd), { status, headers });
}

async function answerFor(
  response: Response,
  context: Context,
  isAllowed: () => Promise<boolean>,
): Promise<Response> {
  const { status, body } = response;
  if (status < 200) throw new AppError('handler-failed', 'Handler failed');
  const headers = new Headers(response.headers);
  const named = headers.get('connection')?.split(',') ?? [];
  for (const name of [...HOP_BY_HOP, 'date', ...named.map((one) => one.trim())]) {
    if (name !== '') headers.delete(name);
  }
  for (const name of [...headers.keys()]) if (name.startsWith('x-svc-')) headers.delete(name);
  const cookies = headers.getSetCookie().filter((cookie) => !OWN_COOKIE.test(cookie));
  headers.delete('set-cookie');
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  if (context.method === 'HEAD') {
    // A null body would be sent with a length of its own.
    return new Response(body === null ? new ReadableStream() : body, { status, headers });
  }
  const zipped = await compressed(response, headers, context);
  if (zipped !== null) return new Response(zipped, { status, headers });
  const length = headers.get('content-length');
  // Event streams never end, and a slow reader of a large answer takes its time.
  const isLong = body !== null && (length === null || Number(length) > SHORT_BYTES);
  const sent = isLong ? byteStream(whileAllowed(body, isAllowed)) : body;
  return new Response(sent, { status, headers });
}

/** A whole text that the handler did not compress; null for others. */
async function compressed(
  response: Response,
  headers: Headers,
  { request }: Context,
): Promise<Bun.BodyInit | null> {
  const length = Number(headers.get('content-length') ?? 0);
  if (length <= MIN_GZIP_BYTES || length > SHORT_BYTES || response.status === 206) return null;
  if (headers.has('content-encoding') || headers.has('etag')) return null;
  if (!isTextLike(headers.get('content-type') ?? '')) return null;
  headers.append('vary', 'Accept-Encoding');
  if (!acceptsGzip(request.headers.get('accept-encoding'))) return null;
  const zipped = gzipBytes(Buffer.from(await response.bytes()));
  headers.set('content-encoding', 'gzip');
  headers.delete('content-length');
  return zipped as Bun.BodyInit;
}

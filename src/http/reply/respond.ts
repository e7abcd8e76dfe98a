import {
  gzipBytes,
  gzipStream,
  isTextLike,
  MIN_GZIP_BYTES,
  acceptsGzip,
  isNotModified,
  namesGzipped,
  quotedTag,
} from './negotiate.ts';
import { byteStream, countedStream, discardBody, wholeAtOnce } from './outgoing-stream.ts';
import type { StreamEnd } from './outgoing-stream.ts';
import type { BodyStream, Reply, Answer } from './reply.ts';

/** A handler's own value wins. */
const OVERRIDABLE: ReadonlySet<string> = new Set(['content-security-policy', 'cache-control']);
/** Media types and cache rules are a small closed set; this bounds a mistake. */
const MAX_TEMPLATES = 256;

/** Late bodies of this size are sent at once (`wholeAtOnce`): smaller ones are anyway, larger ones are not worth a copy. */
const AT_ONCE_BYTES = { least: 12 * 1024, most: 2 * 1024 * 1024 };

type EncodedBody = string | Uint8Array | ReadableStream<Uint8Array>;

interface ResponseFacts {
  readonly request: Request;
  readonly requestId: string;
  readonly cacheControl: string;
  readonly cookies: readonly string[];
  /** After the turn of the event loop that took the request. */
  readonly isLate: boolean;
  /** Called once; at once unless the body is a stream. */
  onEnd(end: StreamEnd, status: number): void;
}

/** Shared by all answers of one media type and cache rule. */
interface Template {
  readonly headers: Headers;
  readonly isText: boolean;
}

export class Responder {
  readonly #base: Headers;
  readonly #templates = new Map<string, Map<string, Template>>();
  /** Of replies with `isKept`. */
  readonly #kept = new WeakMap<Reply, Headers>();

  /** `base`: the security headers. */
  constructor(base: Headers) {
    this.#base = base;
  }

  respond(answer: Answer, facts: ResponseFacts): Response {
    return answer instanceof Response ? this.#complete(answer, facts) : this.#make(answer, facts);
  }

  #make(reply: Reply, facts: ResponseFacts): Response {
    const { isText, headers: shared } = this.#template(reply, facts.cacheControl);
    const headers =
      reply.isKept === true
        ? this.#keptHeaders(reply, shared, isText)
        : headersOf(reply, shared, isText);
    addPerRequest(headers, facts);
    if (isAlreadyKnown(reply, facts.request)) return notModified(reply, headers, facts);
    const isGzipped = isText && agreeOnGzip(reply, headers, facts.request);
    if (isGzipped && reply.etag !== undefined) headers.set('ETag', quotedTag(reply.etag, true));
    return send(encodedBody(reply, facts.request, isGzipped), reply.status, headers, facts);
  }

  /** Setting four headers takes as long as copying all of them. */
  #keptHeaders(reply: Reply, shared: Headers, isText: boolean): Headers {
    let kept = this.#kept.get(reply);
    if (kept === undefined) this.#kept.set(reply, (kept = headersOf(reply, shared, isText)));
    return new Headers(kept);
  }

  /** Its own policy and cache rules stay. */
  #complete(response: Response, facts: ResponseFacts): Response {
    const { headers } = response;
    for (const [name, value] of this.#base) {
      if (!OVERRIDABLE.has(name) || !headers.has(name)) headers.set(name, value);
    }
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', facts.cacheControl);
    addPerRequest(headers, facts);
    const length = Number(headers.get('content-length') ?? Number.NaN);
    const bytes = Number.isNaN(length) ? 0 : length;
    facts.onEnd({ bytes, error: null, isCancelled: false }, response.status);
    return response;
  }

  #template(reply: Reply, cacheControl: string): Template {
    const type = reply.headers['Content-Type'] ?? '';
    let byType = this.#templates.get(cacheControl);
    const known = byType?.get(type);
    if (known !== undefined) return known;
    const headers = new Headers(this.#base);
    headers.set('Cache-Control', cacheControl);
    if (type !== '') headers.set('Content-Type', type);
    const isText = isTextLike(type);
    if (isText) headers.set('Vary', 'Accept-Encoding');
    const template = { headers, isText };
    if (byType === undefined) this.#templates.set(cacheControl, (byType = new Map()));
    if (byType.size < MAX_TEMPLATES) byType.set(type, template);
    return template;
  }
}

function headersOf(reply: Reply, shared: Headers, isText: boolean): Headers {
  const headers = new Headers(shared);
  for (const name in reply.headers) {
    if (name !== 'Content-Type') headers.set(name, reply.headers[name]!);
  }
  if (isText && reply.headers['Vary'] !== undefined) addVary(headers, reply.headers['Vary']);
  if (reply.etag !== undefined) headers.set('ETag', quotedTag(reply.etag, false));
  return headers;
}

function addPerRequest(headers: Headers, { request, requestId, cookies }: ResponseFacts): void {
  headers.set('X-Request-Id', requestId);
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  // Bun dates every other answer by itself.
  if (request.method === 'HEAD') headers.set('Date', new Date().toUTCString());
}

function addVary(headers: Headers, vary: string): void {
  if (vary.includes('Accept-Encoding') || /accept-encoding/i.test(vary)) return;
  headers.set('Vary', `${vary}, Accept-Encoding`);
}

/** Said by the handler, or found by the entity tag. */
function isAlreadyKnown({ status, etag }: Reply, { method, headers }: Request): boolean {
  if (status === 304) return true;
  if (etag === undefined || status !== 200 || (method !== 'GET' && method !== 'HEAD')) return false;
  return isNotModified(headers.get('if-none-match'), etag);
}

function notModified({ etag, body }: Reply, headers: Headers, facts: ResponseFacts): Response {
  // Nobody reads it.
  if (body !== null && !isWhole(body)) void discardBody(body).catch(() => undefined);
  headers.delete('Content-Type');
  headers.delete('Content-Disposition');
  if (etag !== undefined) {
    const isGzipped = namesGzipped(facts.request.headers.get('if-none-match'), etag);
    headers.set('ETag', quotedTag(etag, isGzipped));
  }
  return send(null, 304, headers, facts);
}

/** Sets the headers too. */
function agreeOnGzip({ body }: Reply, headers: Headers, request: Request): boolean {
  if (body !== null && isWhole(body) && body.length <= MIN_GZIP_BYTES) return false;
  if (!acceptsGzip(request.headers.get('accept-encoding'))) return false;
  if (headers.has('Content-Encoding')) return false;
  headers.set('Content-Encoding', 'gzip');
  return true;
}

function encodedBody(
  { body, headers }: Reply,
  request: Request,
  isGzipped: boolean,
): EncodedBody | null {
  if (body === null) {
    // A null body would go out as `Content-Length: 0`, unlike that of GET.
    const isLeftOut = request.method === 'HEAD' && headers['Content-Type'] !== undefined;
    return isLeftOut ? new ReadableStream() : null;
  }
  if (!isWhole(body)) return isGzipped ? gzipStream(byteStream(body)) : byteStream(body);
  if (!isGzipped) return body;
  return gzipBytes(typeof body === 'string' ? Buffer.from(body) : Buffer.from(body));
}

function isWhole(body: string | Uint8Array | BodyStream): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function send(
  body: EncodedBody | null,
  status: number,
  headers: Headers,
  facts: ResponseFacts,
): Response {
  if (body instanceof ReadableStream) {
    const counted = countedStream(body, (end) => facts.onEnd(end, status));
    return new Response(counted, { status, headers });
  }
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0);
  facts.onEnd({ bytes, error: null, isCancelled: false }, status);
  const isAtOnce =
    facts.isLate &&
    body !== null &&
    bytes >= AT_ONCE_BYTES.least &&
    bytes <= AT_ONCE_BYTES.most &&
    // The head alone tells the length.
    facts.request.method !== 'HEAD';
  const sent = isAtOnce ? wholeAtOnce(body, bytes) : body;
  return new Response(sent as Bun.BodyInit | null, { status, headers });
}

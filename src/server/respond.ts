/**
 * From a handler's answer to the response on the wire: conditional answers, compression, cookies and the headers every
 * response has (DS-19, DS-20, DS-46, DS-207).
 */
import { gzipBytes, gzipStream, isTextLike, MIN_GZIP_BYTES } from './compression.ts';
import { acceptsGzip, isNotModified, namesGzipped, quotedTag } from './negotiate.ts';
import { byteStream, countedStream, discardBody } from './outgoing-stream.ts';
import type { StreamEnd } from './outgoing-stream.ts';
import type { BodyStream, Reply } from './reply.ts';

/** Headers a handler may set itself; every other one of ours wins over its. */
const OVERRIDABLE: ReadonlySet<string> = new Set(['content-security-policy', 'cache-control']);

type EncodedBody = string | Uint8Array | ReadableStream<Uint8Array>;

/** What a response needs besides the answer. */
export interface ResponseFacts {
  readonly request: Request;
  readonly requestId: string;
  readonly cacheControl: string;
  readonly cookies: Iterable<string>;
  /** The security headers of this server. */
  readonly base: Headers;
  readonly onEnd: (end: StreamEnd, status: number) => void;
}

/** The response for a reply. `onEnd` hears once, at once unless the body is a stream. */
export function responseOf(reply: Reply, facts: ResponseFacts): Response {
  const headers = new Headers(facts.base);
  for (const name in reply.headers) headers.set(name, reply.headers[name]!);
  if (reply.headers['Cache-Control'] === undefined) {
    headers.set('Cache-Control', facts.cacheControl);
  }
  addPerRequest(headers, facts);
  const isGzipped = agreeOnGzip(reply, headers, facts.request);
  if (isAlreadyKnown(reply, facts.request)) return notModified(reply, headers, facts);
  if (reply.etag !== undefined) headers.set('ETag', quotedTag(reply.etag, isGzipped));
  if (isGzipped) headers.set('Content-Encoding', 'gzip');
  return send(encodedBody(reply, facts.request, isGzipped), reply.status, headers, facts);
}

/** A response somebody else made, with the headers every response has. Its own policy and cache rules stay. */
export function completed(response: Response, facts: ResponseFacts): Response {
  const { headers } = response;
  for (const [name, value] of facts.base) {
    if (!OVERRIDABLE.has(name) || !headers.has(name)) headers.set(name, value);
  }
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', facts.cacheControl);
  addPerRequest(headers, facts);
  const length = Number(headers.get('content-length') ?? Number.NaN);
  const bytes = Number.isNaN(length) ? 0 : length;
  facts.onEnd({ bytes, error: null, isCancelled: false }, response.status);
  return response;
}

function addPerRequest(headers: Headers, facts: ResponseFacts): void {
  headers.set('X-Request-Id', facts.requestId);
  for (const cookie of facts.cookies) headers.append('Set-Cookie', cookie);
}

/** The client has this version: the handler says so, or its answer turns out to be it. */
function isAlreadyKnown({ status, etag }: Reply, { method, headers }: Request): boolean {
  if (status === 304) return true;
  if (etag === undefined || status !== 200 || (method !== 'GET' && method !== 'HEAD')) return false;
  return isNotModified(headers.get('if-none-match'), etag);
}

function notModified({ etag, body }: Reply, headers: Headers, facts: ResponseFacts): Response {
  // Nobody reads it; that giving it up fails changes nothing for the client.
  if (body !== null && !isWhole(body)) void discardBody(body).catch(() => undefined);
  headers.delete('Content-Type');
  headers.delete('Content-Disposition');
  if (etag !== undefined) {
    const isGzipped = namesGzipped(facts.request.headers.get('if-none-match'), etag);
    headers.set('ETag', quotedTag(etag, isGzipped));
  }
  return send(null, 304, headers, facts);
}

/** Whether the body goes out compressed: it is text, long enough, and the client takes gzip (DS-19). */
function agreeOnGzip({ body }: Reply, headers: Headers, request: Request): boolean {
  if (!isTextLike(headers.get('Content-Type') ?? '') || headers.has('Content-Encoding'))
    return false;
  headers.set('Vary', withAcceptEncoding(headers.get('Vary')));
  if (body !== null && isWhole(body) && body.length <= MIN_GZIP_BYTES) return false;
  return acceptsGzip(request.headers.get('accept-encoding'));
}

function encodedBody(
  { body, headers }: Reply,
  request: Request,
  isGzipped: boolean,
): EncodedBody | null {
  if (body === null) {
    // A null body would go out as `Content-Length: 0`, which is not what GET says.
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

function withAcceptEncoding(vary: string | null): string {
  if (vary === null) return 'Accept-Encoding';
  return /accept-encoding/i.test(vary) ? vary : `${vary}, Accept-Encoding`;
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
  return new Response(body as Bun.BodyInit | null, { status, headers });
}

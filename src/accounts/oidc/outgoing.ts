/**
 * Requests to the identity provider, the only ones this server makes by itself: short, small, and only to addresses
 * from the operator or the provider's checked metadata.
 *
 * Redirects are not followed. A host other than the issuer's own must not resolve to an address of a private network;
 * the issuer itself may, because the operator named it. The connection resolves names again, but an answer that
 * changed in between meets https, and a private machine has no certificate for that name.
 */
import { lookup } from 'node:dns/promises';
import { bareHost, isLoopback, isPrivate } from '../../base/ip-network.ts';

/** Metadata and key sets are a few kilobytes. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Its message is for the log. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

/** https, or http where the issuer itself is http on this machine. Checks the text only. */
export function checkedAddress(text: unknown, what: string, issuer: URL): URL {
  if (typeof text !== 'string' || !URL.canParse(text)) {
    throw new RefusedAddress(`${what} is no address`);
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new RefusedAddress(`${what} has a user name, password or fragment`);
  }
  const isOwn = url.host === issuer.host;
  const isPlain = url.protocol === 'http:' && issuer.protocol === 'http:' && isOwn;
  if (url.protocol !== 'https:' && !(isPlain && isLoopback(bareHost(issuer)))) {
    throw new RefusedAddress(`${what} is not https`);
  }
  if (!isOwn && isPrivate(bareHost(url))) {
    throw new RefusedAddress(`${what} is an address of a private network`);
  }
  return url;
}

/** The response is complete when it resolves, within `timeoutMs`. */
export function createFetch(
  issuer: URL,
  timeoutMs: number,
): (url: string, init: RequestInit) => Promise<Response> {
  return async (address, init) => {
    const url = checkedAddress(address, 'the address', issuer);
    if (url.host !== issuer.host) await requirePublic(url);
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const { status, headers } = response;
    const body = await boundedBody(response, signal);
    const type = headers.get('content-type');
    return new Response(status === 204 || status === 304 ? null : body, {
      status,
      headers: type === null ? {} : { 'Content-Type': type },
    });
  };
}

async function requirePublic(url: URL): Promise<void> {
  const addresses = await lookup(bareHost(url), { all: true });
  if (addresses.length > 0 && !addresses.some(({ address }) => isPrivate(address))) return;
  throw new RefusedAddress(`${url.host} leads into a private network`);
}

async function boundedBody(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await within(reader.read(), signal);
    if (done) break;
    length += value.byteLength;
    if (length > MAX_ANSWER_BYTES) {
      await reader.cancel();
      throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks);
}

/** Ends a read from a dripping server at the limit, whatever the runtime does with the signal by then. */
async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

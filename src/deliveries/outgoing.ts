/**
 * Which address a request goes to, and the request itself.
 *
 * A name is resolved once, its addresses are checked, and the connection goes to that very address, while the
 * certificate must still be for the name: an answer of the name server that changes meanwhile changes nothing.
 * Redirects are not followed, since the one who answers would decide where this server connects.
 */
import { lookup } from 'node:dns/promises';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIP } from 'node:net';
import { bareHost, isLoopback, isPrivate, isWithin, networksOf } from '../base/ip-network.ts';

/** Where requests may go. */
export interface Reach {
  /** As `deliveries.allowed_hosts`. */
  readonly hosts: readonly string[];
  /** As `deliveries.private_networks`. */
  readonly networks: readonly string[];
  /** Asks the system unless given. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

type Ways = Pick<Reach, 'networks' | 'resolve'>;

/** It is of no use to try again before somebody changed the configuration or the definition. */
export class RefusedDelivery extends Error {
  override readonly name = 'RefusedDelivery';
}

/** Throws RefusedDelivery. Looks at the text only. */
export function checkedUrl(text: string, { hosts }: Pick<Reach, 'hosts'>): URL {
  if (!URL.canParse(text)) throw new RefusedDelivery('the address is no http(s) address');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new RefusedDelivery('the address must begin with https:// or http://');
  if (url.username !== '' || url.password !== '')
    throw new RefusedDelivery('the address must hold no user name or password');
  if (!hosts.some((pattern) => matchesHost(pattern, hostOf(url))))
    throw new RefusedDelivery(
      `the host ${url.hostname} is not among deliveries.allowed_hosts of the configuration`,
    );
  return url;
}

/** The parser of URLs has turned decimal and octal spellings into addresses, and capitals into small letters. */
export function hostOf(url: URL): string {
  return bareHost(url).replace(/\.$/, '');
}

function matchesHost(pattern: string, host: string): boolean {
  const bare = pattern.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) !== 0) return bare === host || sameAddress(bare, host);
  return bare.startsWith('*.') ? host.endsWith(bare.slice(1)) && isIP(host) === 0 : bare === host;
}

function sameAddress(named: string, host: string): boolean {
  const version = isIP(host);
  return version !== 0 && version === isIP(named) && isWithin(networksOf([named]), host);
}

/** An address of the host that may be reached. Throws RefusedDelivery, and what the resolver throws. */
export async function addressOf(
  host: string,
  { networks, resolve = resolved }: Ways,
): Promise<string> {
  // Only one that the configuration names has come so far.
  if (isIP(host) !== 0) return host;
  const named = networksOf(networks);
  const found = await resolve(host);
  const reachable = found.find(
    (address) =>
      !isPrivate(address) ||
      isWithin(named, address) ||
      (host === 'localhost' && isLoopback(address)),
  );
  if (reachable !== undefined) return reachable;
  throw new RefusedDelivery(
    `${host} leads to ${found.join(', ')}, a private address; ` +
      'deliveries.private_networks of the configuration can name its network',
  );
}

async function resolved(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

export interface Post {
  readonly url: URL;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Posted {
  readonly status: number;
  readonly retryAfter: string | null;
}

/** The body of the answer is not read: it is of the receiver, and might be of somebody who was not meant. */
export async function post(
  { url, body, headers, timeoutMs, signal }: Post,
  reach: Ways,
): Promise<Posted> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const host = hostOf(url);
  const address = await within(addressOf(host, reach), limit);
  const { promise, resolve, reject } = Promise.withResolvers<Posted>();
  const isTls = url.protocol === 'https:';
  const bytes = Buffer.from(body);
  const request = (isTls ? requestTls : requestPlain)(
    {
      host: address,
      port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      // A connection of its own: a kept one may lead elsewhere.
      agent: false,
      ...(isTls && isIP(host) === 0 && { servername: host }),
      headers: {
        ...headers,
        Host: url.host,
        'Content-Length': String(bytes.length),
        Connection: 'close',
      },
    },
    (response) => {
      const { statusCode = 0, headers: told } = response;
      response.on('error', () => undefined);
      response.destroy();
      resolve({ status: statusCode, retryAfter: told['retry-after'] ?? null });
    },
  );
  request.on('error', reject);
  request.end(bytes);
  try {
    return await within(promise, limit);
  } finally {
    request.destroy();
  }
}

/** Ends the waiting, not always the work. Throws the reason of the signal. */
export async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  work.catch(() => undefined);
  try {
    signal.throwIfAborted();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

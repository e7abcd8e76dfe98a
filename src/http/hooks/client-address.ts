/**
 * The peer of a connection. Forwarding headers count only from a trusted proxy; the client is the right-most address that
 * is not one, since it may have invented everything to its left.
 */
import { BlockList, isIP } from 'node:net';

export interface Peer {
  /** IPv4 in IPv6 form is shown as IPv4. `unknown` when the socket is gone. */
  readonly address: string;
  /** From a trusted proxy; null without one. */
  readonly scheme: 'http' | 'https' | null;
  /** From a trusted proxy; null without one. */
  readonly host: string | null;
  readonly isTrusted: boolean;
}

/** `socketAddress` null: the socket is gone. */
export type PeerReader = (socketAddress: string | null, headers: Headers) => Peer;

/** IP addresses and CIDR blocks. */
export function createPeerReader(trustedProxies: readonly string[]): PeerReader {
  const trusted = new BlockList();
  for (const entry of trustedProxies) {
    const [network = '', prefix] = entry.split('/');
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) trusted.addAddress(network, family);
    else trusted.addSubnet(network, Number(prefix), family);
  }
  const isTrusted = (address: string): boolean =>
    trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  // The last peer: the next request mostly comes from it too.
  let last = { socketAddress: '', peer: direct('unknown') };
  return (socketAddress, headers) => {
    if (socketAddress === last.socketAddress) return last.peer;
    const peer = plainAddress(socketAddress ?? '') ?? 'unknown';
    if (trustedProxies.length === 0 || peer === 'unknown' || !isTrusted(peer)) {
      last = { socketAddress: socketAddress ?? '', peer: direct(peer) };
      return last.peer;
    }
    const forwarded = headers.get('x-forwarded-for') === null ? headers.get('forwarded') : null;
    const hops = forwarded === null ? null : parseForwarded(forwarded);
    const addresses = hops?.map((hop) => hop.get('for') ?? '') ?? list(headers, 'x-forwarded-for');
    const first = hops?.[0];
    const scheme = (list(headers, 'x-forwarded-proto')[0] ?? first?.get('proto'))?.toLowerCase();
    return {
      address: clientOf(peer, addresses, isTrusted),
      scheme: scheme === 'https' || scheme === 'http' ? scheme : null,
      host: list(headers, 'x-forwarded-host')[0] ?? first?.get('host') ?? null,
      isTrusted: true,
    };
  };
}

function direct(address: string): Peer {
  return { address, scheme: null, host: null, isTrusted: false };
}

function clientOf(
  peer: string,
  addresses: readonly string[],
  isTrusted: (address: string) => boolean,
): string {
  let client = peer;
  for (const entry of addresses.toReversed()) {
    const address = plainAddress(entry);
    // Not an address (`unknown`, an obfuscated name): the proxy that wrote it is the best known.
    if (address === null) return client;
    client = address;
    if (!isTrusted(address)) return client;
  }
  return client;
}

/** Without brackets, port and IPv4-in-IPv6 prefix; null when it is none. */
function plainAddress(text: string): string | null {
  let address = text.trim();
  const bracket = /^\[([^\]]+)\](?::\d+)?$/.exec(address);
  if (bracket !== null) address = bracket[1] ?? '';
  else if (/^[\d.]+:\d+$/.test(address)) address = address.slice(0, address.indexOf(':'));
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) address = mapped[1] ?? '';
  return isIP(address) === 0 ? null : address;
}

function list(headers: Headers, name: string): string[] {
  const value = headers.get(name);
  if (value === null || value.trim() === '') return [];
  return value.split(',').map((item) => item.trim());
}

/** RFC 7239, nearest to the client first; parameter names in lower case. */
function parseForwarded(value: string): Map<string, string>[] {
  return value.split(',').map((hop) => {
    const parameters = new Map<string, string>();
    for (const [, name = '', quoted, bare] of hop.matchAll(
      /(?<![\w-])([\w-]+)=(?:"([^"]*)"|([^;\s]*))/g,
    )) {
      parameters.set(name.toLowerCase(), quoted ?? bare ?? '');
    }
    return parameters;
  });
}

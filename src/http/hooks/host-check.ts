/**
 * Which `Host` headers are answered: the defence against DNS rebinding. A malformed one is refused even where the check is
 * off, because Bun leaves the URL of such a request relative.
 */

const HOST =
  /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?\.?)(?::[0-9]{0,5})?$/;
const WILDCARD_BINDS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]', '']);
/** Further distinct values are checked each time. */
const MAX_REMEMBERED = 256;

export interface HostRules {
  /** Without brackets. */
  readonly bindHost: string;
  /** `''` when not configured. */
  readonly publicUrl: string;
  /** Exact names or `*.domain`. */
  readonly allowedHosts: readonly string[];
}

export interface HostCheck {
  /** Null: no header. */
  isAllowed(hostHeader: string | null): boolean;
  /** Of a bare host name: lower case, no port. */
  isListed(hostname: string): boolean;
}

/** Lower case, without port and trailing dot, IPv6 in brackets; null when malformed. */
export function hostnameOf(hostHeader: string): string | null {
  const name = HOST.exec(hostHeader)?.[1];
  if (name === undefined) return null;
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

/** Binding all interfaces with neither `public_url` nor `allowed_hosts` switches it off. */
export function createHostCheck(rules: HostRules): HostCheck {
  const { bindHost, publicUrl, allowedHosts } = rules;
  const listed = matcherOf(allowedHosts);
  const own = new Set(['localhost', '127.0.0.1', '[::1]', bracketed(bindHost)]);
  const publicHost = publicUrl === '' ? null : hostnameOf(new URL(publicUrl).host);
  if (publicHost !== null) own.add(publicHost);
  const isOff = WILDCARD_BINDS.has(bindHost) && publicUrl === '' && allowedHosts.length === 0;
  const remembered = new Map<string, boolean>();

  const decide = (hostHeader: string): boolean => {
    const name = hostnameOf(hostHeader);
    return name !== null && (isOff || own.has(name) || listed(name));
  };
  return {
    isListed: listed,
    isAllowed(hostHeader) {
      // HTTP/1.0 may come without one (RFC 9110, 7.2); HTTP/1.1 without one never arrives here.
      if (hostHeader === null) return isOff;
      const known = remembered.get(hostHeader);
      if (known !== undefined) return known;
      const isAllowed = decide(hostHeader);
      if (remembered.size < MAX_REMEMBERED) remembered.set(hostHeader, isAllowed);
      return isAllowed;
    },
  };
}

function matcherOf(allowedHosts: readonly string[]): (hostname: string) => boolean {
  const exact = new Set<string>();
  const suffixes: string[] = [];
  for (const entry of allowedHosts) {
    const name = entry.toLowerCase();
    if (name.startsWith('*.')) suffixes.push(name.slice(1));
    else exact.add(bracketed(name));
  }
  return (hostname) =>
    exact.has(hostname) ||
    suffixes.some((suffix) => hostname.length > suffix.length && hostname.endsWith(suffix));
}

function bracketed(host: string): string {
  const name = host.toLowerCase();
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

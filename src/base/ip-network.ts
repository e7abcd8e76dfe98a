import { isIP } from 'node:net';

/** One customer of a provider has many IPv6 addresses: for counting they are cut to their network. */

/** Mapped (RFC 4291) and translated (RFC 6052) addresses: each is an IPv4 client of its own. */
const IPV4_INSIDE = /^(?:0:0:0:0:0:ffff|64:ff9b:0:0:0:0):/;

/** The first `bits` (a multiple of 16) of an IPv6 address in one spelling; anything else unchanged. */
export function networkOf(address: string, bits: number): string {
  if (!address.includes(':')) return address;
  const [plain = ''] = address.split('%');
  const [head = [], tail = []] = plain.split('::').map((part) => part.split(':').filter(Boolean));
  const written = [...head, ...tail].length + (plain.includes('.') ? 1 : 0);
  const groups = [...head, ...Array<string>(Math.max(0, 8 - written)).fill('0'), ...tail].map(
    (group) => (group.includes('.') ? group : Number.parseInt(group, 16).toString(16)),
  );
  const whole = groups.join(':');
  return IPV4_INSIDE.test(whole) ? whole : `${groups.slice(0, bits / 16).join(':')}::/${bits}`;
}

/** True for an address or name that other machines cannot reach. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === '[::1]' || host === 'localhost';
}

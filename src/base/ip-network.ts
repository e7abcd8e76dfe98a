import { BlockList, isIP } from 'node:net';

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

const privateNetworks = networksOf([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  // Translated, tunnelled and discarded: they may hold any IPv4 address.
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/9',
  'ff00::/8',
]);

/** Of IP addresses and CIDR blocks that are known to be valid. */
export function networksOf(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = '', bits] = text.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** False for a name. An IPv4 address in IPv6 form is compared with the IPv4 networks too. */
export function isWithin(networks: BlockList, address: string): boolean {
  const [plain = ''] = address.split('%');
  const version = isIP(plain);
  return version !== 0 && networks.check(plain, version === 6 ? 'ipv6' : 'ipv4');
}

/** Loopback, private, link-local and what else is not of the public network; false for a name. */
export function isPrivate(address: string): boolean {
  return isWithin(privateNetworks, address);
}

export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

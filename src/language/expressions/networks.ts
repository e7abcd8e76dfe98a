interface Address {
  readonly bits: bigint;
  readonly size: 32 | 128;
}

/** Network such as `10.0.0.0/8`; null when one of the texts is no address or network. */
export function isInNetwork(network: string, address: string): boolean | null {
  const [base = '', length, ...rest] = network.split('/');
  const of = addressOf(base);
  const one = addressOf(address.trim());
  if (of === null || one === null || rest.length > 0) return null;
  const prefix = length === undefined ? of.size : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (prefix < 0 || prefix > of.size) return null;
  const shift = BigInt(of.size - prefix);
  return of.size === one.size && of.bits >> shift === one.bits >> shift;
}

function addressOf(text: string): Address | null {
  const four = bitsOfFour(text);
  if (four !== null) return { bits: four, size: 32 };
  const six = bitsOfSix(text);
  return six === null ? null : { bits: six, size: 128 };
}

function bitsOfFour(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) {
    return null;
  }
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function bitsOfSix(text: string): bigint | null {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const four = tail ? bitsOfFour(tail[2]!) : null;
  if (tail && four === null) return null;
  const spelled = tail
    ? `${tail[1]}${(four! >> 16n).toString(16)}:${(four! & 0xffffn).toString(16)}`
    : text;
  const halves = spelled.split('::');
  if (halves.length > 2) return null;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const given = groups.flat();
  if (!given.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return null;
  if (halves.length === 1 ? given.length !== 8 : given.length > 7) return null;
  const zeros = Array.from({ length: 8 - given.length }, () => '0');
  const all = halves.length === 1 ? given : [...groups[0]!, ...zeros, ...groups[1]!];
  return all.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

/** Numbers that sums get wrong, and their true sum. */
type Random = () => number;

const FIXED = [
  0,
  -0,
  1,
  -1,
  0.1,
  0.2,
  0.3,
  1.5,
  2 ** 53,
  -(2 ** 53),
  2 ** 53 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 31 - 1,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MIN_VALUE,
  -Number.MIN_VALUE,
  2 ** -1022,
  2 ** 970,
  -(2 ** 969),
  2 ** 1023,
  1e308,
  -1e308,
  1e-300,
  1e16,
  123456.78,
];

export function AWKWARD(random: Random): number {
  const kind = random();
  if (kind < 0.4) return FIXED[Math.floor(random() * FIXED.length)]!;
  if (kind < 0.6) return Math.round((random() - 0.5) * 2_000);
  if (kind < 0.8) return (random() - 0.5) * 2 ** Math.floor(random() * 80 - 40);
  return (random() - 0.5) * 2 ** Math.floor(random() * 2_000 - 1_000);
}

export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const words = new BigUint64Array(1);
const double = new Float64Array(words.buffer);

/** In units of 2^-1074, which every double is a multiple of. */
function unitsOf(x: number): bigint {
  double[0] = x;
  const bits = words[0]!;
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const size = exponent === 0 ? fraction : (fraction | (1n << 52n)) << BigInt(exponent - 1);
  return bits >> 63n === 1n ? -size : size;
}

/** The nearest double, of two the even one. */
export function exactTotal(numbers: readonly number[]): number {
  const total = numbers.reduce((sum, x) => sum + unitsOf(x), 0n);
  const size = total < 0n ? -total : total;
  const excess = Math.max(0, size.toString(2).length - 53);
  let kept = size >> BigInt(excess);
  const rest = size - (kept << BigInt(excess));
  const half = excess === 0 ? 0n : 1n << BigInt(excess - 1);
  if (excess > 0 && (rest > half || (rest === half && kept % 2n === 1n))) kept += 1n;
  const middle = Math.floor((excess - 1074) / 2);
  const value = Number(kept) * 2 ** middle * 2 ** (excess - 1074 - middle);
  return total < 0n ? -value + 0 : value;
}

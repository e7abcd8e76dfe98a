/** The number people would write for a float of 16 or 32 bits: 0.1, not 0.10000000149011612. */

/** Up to here numbers of two decimals are further apart than floats, so none is shorter. */
const QUICK_LIMIT = 1e5;
const QUICK_FACTOR = 100;

/** The number with the fewest digits that rounds to this float. */
export function shortestFloat(value: number, bits: 16 | 32): number {
  const isSame = bits === 32 ? isSameSingle : isSameHalf;
  // Most numbers in tables have few decimals.
  const quick = Math.round(value * QUICK_FACTOR) / QUICK_FACTOR;
  if (bits === 32 && Math.abs(value) < QUICK_LIMIT && isSame(quick, value)) return quick;
  if (!Number.isFinite(value) || value === 0) return value;
  for (let digits = bits === 32 ? 6 : 3; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (isSame(candidate, value)) return fewest(candidate, value, digits, isSame);
  }
  return Number(value.toPrecision(9));
}

/** Fewer digits may do for numbers like 1e-40, whose neighbours are far away. */
function fewest(
  candidate: number,
  value: number,
  digits: number,
  isSame: (a: number, b: number) => boolean,
): number {
  let best = candidate;
  for (let fewer = digits - 1; fewer >= 1; fewer--) {
    const shorter = Number(value.toPrecision(fewer));
    if (!isSame(shorter, value)) break;
    best = shorter;
  }
  return best;
}

function isSameSingle(candidate: number, value: number): boolean {
  return Math.fround(candidate) === value;
}

function isSameHalf(candidate: number, value: number): boolean {
  return Math.f16round(candidate) === value;
}

/**
 * Where an axis of numbers is marked: at multiples of 1, 2 or 5 times a power of ten, wherever the axis begins.
 */

/** Of a step: what a division of floats may be off by. */
const ROUNDING = 1e-9;

/** At most `count` marks from one number to another, in order; never none. `isWhole`: nothing between two integers. */
export function numberTicks(min: number, max: number, count: number, isWhole: boolean): number[] {
  if (min === max) return [min];
  const most = Math.max(2, Math.floor(count));
  let power = Math.floor(Math.log10((max - min) / most));
  if (isWhole) power = Math.max(0, power);
  for (;;) {
    for (const digit of [1, 2, 5]) {
      const ticks = multiples(min, max, { digit, power }, most);
      if (ticks === null) continue;
      return ticks.length >= 2 ? ticks : [min, max];
    }
    power++;
  }
}

/** The multiples of a step between two numbers; null when they are more than wanted. */
function multiples(
  min: number,
  max: number,
  { digit, power }: { readonly digit: number; readonly power: number },
  most: number,
): number[] | null {
  // Divided by what is exact: a tenth is not.
  const scale = 10 ** Math.abs(power);
  const valueOf = (at: number): number => (power < 0 ? (at * digit) / scale : at * digit * scale);
  const unit = valueOf(1);
  const [first, last] = [Math.ceil(min / unit - ROUNDING), Math.floor(max / unit + ROUNDING)];
  if (last - first + 1 > most) return null;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => valueOf(first + at));
}

/** Ticks at multiples of 1, 2 or 5 times a power of ten, wherever the axis begins. */

/** Relative to the step: error allowed for float division. */
const ROUNDING = 1e-9;

/**
 * At most `count` ticks from one number to another, in order; at least one. `isWhole`: no ticks
 * between integers.
 */
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

/** Null when there would be too many. */
function multiples(
  min: number,
  max: number,
  { digit, power }: { readonly digit: number; readonly power: number },
  most: number,
): number[] | null {
  // Divides by an exact power: 0.1 is not exact.
  const scale = 10 ** Math.abs(power);
  const valueOf = (at: number): number => (power < 0 ? (at * digit) / scale : at * digit * scale);
  const unit = valueOf(1);
  const [first, last] = [Math.ceil(min / unit - ROUNDING), Math.floor(max / unit + ROUNDING)];
  if (last - first + 1 > most) return null;
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => valueOf(first + at));
}

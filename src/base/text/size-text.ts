/**
 * Sizes as people read them.
 */
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** At most one decimal, in the largest fitting unit: `1.5 MiB`. `numberText` writes the number. */
export function sizeText(bytes: number, numberText: (value: number) => string = String): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit++) value /= 1024;
  if (unit === 0) return bytes === 1 ? '1 byte' : `${numberText(bytes)} bytes`;
  return `${numberText(Number(value.toFixed(1)))} ${UNITS[unit]}`;
}

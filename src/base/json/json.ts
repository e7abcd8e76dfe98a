/**
 * JSON without silent rounding.
 *
 * `JSON.parse` turns 9007199254740993 into a neighbour and cannot tell 1.0 from 1, which validation must.
 */

/**
 * Integral by value but not by spelling (`1.0`, `1e3`), too large for a double (`1e400`), or longer than
 * MAX_NUMBER_LENGTH.
 */
export class JsonNumber {
  constructor(readonly source: string) {}
  get value(): number {
    return Number(this.source);
  }
}

/** The time of `BigInt` grows with the square of the length, to seconds for four million digits. */
export const MAX_NUMBER_LENGTH = 1000;

/** An optional minus and digits. */
export function isIntegerSource(text: string): boolean {
  return /^-?[0-9]+$/.test(text);
}

/**
 * Integers past 2^53 become bigint, other numbers whose double is integral or infinite `JsonNumber`. Throws
 * SyntaxError. Costs about seven times `JSON.parse` on texts that may hold such numbers, nothing extra on others.
 */
export function parseJson(text: string): unknown {
  // Only a zero fraction, an exponent or 16 digits can matter; most bodies have none.
  if (!/[0-9]\.0+(?![0-9])|[0-9][eE][+-]?[0-9]|[0-9]{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || context?.source === undefined) return value;
    if (context.source.length > MAX_NUMBER_LENGTH) return new JsonNumber(context.source);
    if (isIntegerSource(context.source)) {
      return Number.isSafeInteger(value) ? value : BigInt(context.source);
    }
    return Number.isInteger(value) || !Number.isFinite(value)
      ? new JsonNumber(context.source)
      : value;
  });
}

/** Not yet known to the types. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** The JSON of a value of `parseJson`, with all digits. */
export function jsonText(value: unknown, indent = 0): string {
  const exact = (_key: string, one: unknown): unknown => {
    if (typeof one === 'bigint') return rawJSON(String(one));
    return one instanceof JsonNumber ? rawJSON(one.source) : one;
  };
  return JSON.stringify(value, exact, indent);
}

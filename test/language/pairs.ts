/**
 * `key=value` pairs of a line, enough for the fixture.
 */
import type { Value } from '../../src/language/expressions/value.ts';

export function extractPairs(text: string): Record<string, Value> {
  const pairs: Record<string, Value> = {};
  for (const [, name, quoted, bare] of text.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)) {
    const number = Number(bare);
    pairs[name!] = quoted ?? (Number.isNaN(number) ? bare! : number);
  }
  return pairs;
}

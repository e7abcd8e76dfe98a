/**
 * Patterns of `$regex`: RE2 syntax, linear time.
 *
 * The built-in engine takes minutes on some patterns and, past its backtracking budget, answers wrongly. Length and
 * program size are limited, because counted repeats multiply and compiling 100,000 instructions takes 0.2 s.
 */
import { RE2JS } from 're2js';
import { Lru } from '../../base/lru.ts';

/** Longer patterns are generated; those belong in `$in` or in the client. */
export const MAX_PATTERN_CHARACTERS = 1_000;
/** Compiles in about 5 ms and runs at about 2 µs a character at worst. RE2 itself allows 1,000 repeats. */
const MAX_INSTRUCTIONS = 2_500;
const CACHED_PATTERNS = 64;

/** Found anywhere in the text. */
type TextTest = (text: string) => boolean;

const compiled = new Lru<string, RE2JS>(CACHED_PATTERNS);

/** Null when the pattern is malformed, unsupported or over the limits. */
export function compileRegex(pattern: string): TextTest | null {
  const regex = compilePattern(pattern);
  return regex && ((text: string) => regex.test(text));
}

/** For callers that need groups. Remembers the last ones. */
export function compilePattern(pattern: string): RE2JS | null {
  const known = compiled.get(pattern);
  if (known) return known;
  if (pattern.length > MAX_PATTERN_CHARACTERS || programSize(pattern) > MAX_INSTRUCTIONS)
    return null;
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(pattern);
  } catch {
    // The contract has one text for every fault of a pattern.
    return null;
  }
  compiled.set(pattern, regex);
  return regex;
}

/** Rough, never much too low. The compiler refuses malformed patterns. */
function programSize(pattern: string): number {
  const open: number[] = [];
  let total = 0;
  let last = 0;
  const token =
    /\\[pPx]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:[^\]]*:\]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/gu;
  for (const [part] of pattern.matchAll(token)) {
    const repeat = /^\{(\d+)(?:,(\d*))?\}$/.exec(part);
    if (part === '(') {
      open.push(total);
      total = 0;
      last = 0;
    } else if (part === ')') {
      last = total + 2;
      total = (open.pop() ?? 0) + last;
    } else if (repeat) {
      const times = Math.max(Number(repeat[1]), Number(repeat[2] ?? 0), 1);
      total += last * (times - 1);
      last *= times;
    } else {
      last = /^[*+?|]$/.test(part) ? last : 1;
      total += 1;
    }
  }
  return total + open.reduce((sum, size) => sum + size, 0);
}

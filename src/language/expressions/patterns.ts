/** RE2 syntax, linear time, found anywhere in a text. */
import type { RE2JS } from 're2js';
import { compilePattern, MAX_PATTERN_CHARACTERS } from '../../tables/filter/regex.ts';
import { Problem, type Place } from '../syntax/problem.ts';

/** Throws `bad_regex`, `too_large`. */
export function requirePattern(pattern: string, place: Place | null): RE2JS {
  if (pattern.length > MAX_PATTERN_CHARACTERS) {
    const text = `A regular expression may have ${MAX_PATTERN_CHARACTERS} characters`;
    throw new Problem('too_large', text, { place });
  }
  const compiled = compilePattern(pattern);
  if (compiled === null) {
    throw new Problem('bad_regex', 'Invalid regular expression', { place });
  }
  return compiled;
}

/** Null also for a group that took no part. */
export function firstGroup(regex: RE2JS, text: string, group: number): string | null {
  const matcher = regex.matcher(text);
  if (group > regex.groupCount() || !matcher.find()) return null;
  return matcher.group(group) ?? null;
}

/** `\1` to `\9` in `to` stand for groups. */
export function replaceAll(regex: RE2JS, text: string, to: string): string {
  const matcher = regex.matcher(text);
  let result = '';
  let from = 0;
  while (matcher.find()) {
    result += text.slice(from, matcher.start());
    result += to.replace(/\\([1-9])/g, (_whole, digit: string) =>
      Number(digit) <= regex.groupCount() ? (matcher.group(Number(digit)) ?? '') : '',
    );
    from = matcher.end();
  }
  return result + text.slice(from);
}

/** `%` any run, `_` one character, case-sensitive. Linear. */
export function likeTest(pattern: string): (text: string) => boolean {
  const parts = pattern.split(/%+/).map((part) => [...part]);
  return (text) => fitsParts(parts, [...text], (a, b) => a === '_' || a === b);
}

/** `*` any run, `\*` itself; the caller folds both texts. */
export function wildcardTest(pattern: string): (text: string) => boolean {
  const parts = wildcardParts(pattern);
  if (parts.length === 1) return (text) => text === parts[0];
  const units = parts.map((part) => part.split(''));
  return (text) => fitsParts(units, text, (a, b) => a === b);
}

/** One part means no wildcard. */
export function wildcardParts(pattern: string): string[] {
  const parts = [''];
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\' && pattern[at + 1] === '*') {
      parts[parts.length - 1] += '*';
      at++;
    } else if (pattern[at] !== '*') parts[parts.length - 1] += pattern[at]!;
    else parts.push('');
  }
  return parts;
}

/** The leftmost place of the parts between never misses a match. */
function fitsParts(
  parts: readonly (readonly string[])[],
  text: ArrayLike<string>,
  fits: (part: string, character: string) => boolean,
): boolean {
  const isAt = (part: readonly string[], at: number): boolean =>
    at + part.length <= text.length && part.every((one, index) => fits(one, text[at + index]!));
  const first = parts[0]!;
  if (parts.length === 1) return first.length === text.length && isAt(first, 0);
  const last = parts.at(-1)!;
  if (!isAt(first, 0)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    while (at + part.length <= end && !isAt(part, at)) at++;
    if (at + part.length > end) return false;
    at += part.length;
  }
  return at <= end && isAt(last, end);
}

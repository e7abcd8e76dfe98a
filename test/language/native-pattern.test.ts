/**
 * Patterns for the runtime's own engine: they find what RE2JS finds, and are only those that cannot take long (SL-151).
 */
import { expect, test } from 'bun:test';
import { compilePattern } from '../../src/tables/filter/regex.ts';
import { nativePattern } from '../../src/language/expressions/native-pattern.ts';
import { RandomQueries, randomFrom } from './random-query.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_122);

type Found = (string | null)[][];

function byRe2(pattern: string, text: string): Found {
  const regex = compilePattern(pattern)!;
  const matcher = regex.matcher(text);
  const found: Found = [];
  while (matcher.find())
    found.push(
      Array.from({ length: regex.groupCount() + 1 }, (_, group) => matcher.group(group) ?? null),
    );
  return found;
}

function byRuntime(native: RegExp, text: string): Found {
  return [...text.matchAll(native)].map((match) =>
    Array.from({ length: match.length }, (_, group) => match[group] ?? null),
  );
}

test('common patterns are taken, those that may backtrack are not', () => {
  const taken = [
    'from (?<ip>[^ ]+)',
    'user=(?P<user>\\w+)',
    'took=(?<ms>\\d+)ms',
    '"status":(?<status>\\d+),"bytes":(?<bytes>\\d+)',
    'GET (?<path>/[^ ?]+)',
    '\\[(?<level>[A-Z]+)\\]',
    'a(b)c',
  ];
  expect(taken.filter((pattern) => nativePattern(pattern) === null)).toEqual([]);
  const left = [
    '(?<a>(a+)+)$',
    '(?<a>\\d+)',
    'a(?<x>a+)b',
    'a(?<x>[^ ]+)b',
    'x(?<a>\\w+)\\w+y',
    'x(?<a>b|c)',
    'x(?<a>\\s+)y',
    'x(?<a>\\d*)',
    'x(?<a>\\d{3})',
    '(?i)x(?<a>\\d+)',
    '^x',
    'x(?<a>\\d+)?',
    'x(?:y)',
    'x\\b',
    'é(?<a>\\d+)',
    'x[[:alpha:]]+ ',
    'x[^^]+',
    'x[a-]+ ',
    'x'.repeat(101),
  ];
  expect(left.filter((pattern) => nativePattern(pattern) !== null)).toEqual([]);
});

test(`they find what RE2JS finds (seed ${SEED})`, () => {
  const random = new RandomQueries(randomFrom(SEED));
  const atoms = [
    'a',
    'b',
    ' ',
    '=',
    ':',
    '\\.',
    '/',
    '"',
    '\\d',
    '[^ ]',
    '[a-c]',
    '[^=b]',
    '\\w',
    '.',
    '[0-9.]',
    '[{}]',
  ];
  const repeated = [
    '[^ ]+',
    '\\d+',
    '\\w+',
    '[a-c]+',
    '.+',
    '[^"]+',
    '[0-9.]+',
    '[^=b]+',
    '[^/?]+',
  ];
  const pieces = [
    'a',
    'b',
    'c',
    ' ',
    '=',
    ':',
    '.',
    '/',
    '"',
    '7',
    '42',
    'ab=',
    '\n',
    '\r',
    '\u2028',
    'é',
    '😀',
    '\ud83d',
    '_',
    '{',
    '}',
  ];
  let taken = 0;
  for (let at = 0; at < 4_000; at++) {
    const sequence = random.many(1, 6, () => {
      const atom = random.chance(0.4) ? random.pick(repeated) : random.pick(atoms);
      return random.chance(0.3) ? `(${random.chance(0.5) ? `?<g${'%'}>` : ''}${atom})` : atom;
    });
    const pattern = sequence.map((part, index) => part.replace('%', String(index))).join('');
    const native = nativePattern(pattern);
    if (native === null) continue;
    taken++;
    const text = random.many(0, 40, () => random.pick(pieces)).join('');
    expect({ pattern, text, found: byRuntime(native, text) }).toEqual({
      pattern,
      text,
      found: byRe2(pattern, text),
    });
  }
  expect(taken).toBeGreaterThan(400);
});

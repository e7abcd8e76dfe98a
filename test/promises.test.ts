/** Every promise has its tests, and every id that a test cites is a promise (`promises.ts`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'bun:test';
import { promises } from './promises.ts';

/** Ids by group: a promise that is taken out of the list must be taken out here as well. */
const COUNTS: Readonly<Record<string, number>> = {
  ...{ 'S-P': 12, 'S-U': 10, 'S-X': 11, 'S-A': 14, 'S-C': 9, 'S-Z': 11, 'S-Q': 9, 'S-O': 8 },
  ...{
    'S-J': 7,
    'S-M': 8,
    'S-W': 5,
    'S-H': 7,
    'S-K': 5,
    'S-L': 5,
    'S-D': 6,
    F: 20,
    L: 11,
    'B-': 13,
  },
};

/** What stands in a source file outside of its comments. */
function codeOf(file: string): string {
  const text = readFileSync(join(import.meta.dir, file), 'utf8');
  return text.replace(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, '');
}

const known = new Map<string, string>();
function holds(file: string, words: string): boolean {
  const code = known.get(file) ?? codeOf(file);
  known.set(file, code);
  const at = words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // An id is not the beginning of another one.
  return new RegExp(/\d$/.test(words) ? `${at}(?!\\d)` : at).test(code);
}

test.each(promises.map((one) => [one[0], one[1], one] as const))('%s %s', (_, meaning, promise) => {
  const [, , ...proofs] = promise;
  expect(meaning).toEndWith('.');
  expect(proofs.length).toBeGreaterThan(0);
  expect(proofs.filter(([file, words]) => !holds(file, words))).toEqual([]);
});

test('no promise is missing, none is there twice', () => {
  const ids = promises.map(([id]) => id);
  expect(ids).toEqual([...new Set(ids)]);
  for (const [group, count] of Object.entries(COUNTS)) {
    const own = ids.filter(
      (id) => id.startsWith(group) && /^(?:\d+|[A-Z])$/.test(id.slice(group.length)),
    );
    expect({ group, count: own.length }).toEqual({ group, count });
  }
  const sum = Object.values(COUNTS).reduce((total, count) => total + count, 0);
  expect(ids).toHaveLength(sum);
});

test('every id of the security table that a test cites is a promise', () => {
  const ids = new Set<string>(promises.map(([id]) => id));
  const cited = new Map<string, string>();
  for (const file of new Bun.Glob('**/*.ts').scanSync({ cwd: import.meta.dir })) {
    for (const [id] of readFileSync(join(import.meta.dir, file), 'utf8').matchAll(
      /\bS-[A-Z]\d+\b/g,
    )) {
      cited.set(id, file);
    }
  }
  expect([...cited].filter(([id]) => !ids.has(id))).toEqual([]);
});

test('control: a promise without its test is noticed', () => {
  expect(holds('promises.test.ts', `S-P${100}`)).toBe(false);
  expect(holds('http/security-uploads.test.ts', 'S-U1')).toBe(true);
  expect(() => holds('http/no-such.test.ts', 'S-U1')).toThrow();
});

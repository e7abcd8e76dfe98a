/** Where lines break texts without spaces. */
import { expect, test } from 'bun:test';
import { breakableParts } from '../../src/base/text/breakable-text.ts';

test('a JSON object breaks behind its commas, not within its dates', () => {
  expect(breakableParts('{"at":"2026-11-22T01:02:03Z","n":1,"s":"x, y"}')).toEqual([
    '{"at":"2026-11-22T01:02:03Z",',
    '"n":1,',
    '"s":"x, y"}',
  ]);
  expect(breakableParts('')).toEqual(['']);
});

test('nothing is lost, and of a long text only the beginning is looked at', () => {
  for (const text of [',,;', 'a,', 'a,b'.repeat(1_000), `${'x'.repeat(999)},y,z`]) {
    expect(breakableParts(text).join('')).toBe(text);
  }
  expect(breakableParts('1,'.repeat(100_000)).length).toBe(500);
});

import { expect, test } from 'bun:test';
import { systemClock, timestamp } from '../../src/base/clock.ts';
import { randomToken, sha256Hex, shortId } from '../../src/base/ids.ts';

test('tokens are unguessable, URL-safe and as long as asked', () => {
  expect(randomToken()).toMatch(/^[\w-]{43}$/);
  expect(randomToken(8)).toMatch(/^[\w-]{11}$/);
  expect(new Set(Array.from({ length: 1000 }, () => shortId())).size).toBe(1000);
  expect(shortId()).toMatch(/^[0-9a-f]{16}$/);
});

test('digests are SHA-256 in hex, of text as UTF-8', () => {
  expect(sha256Hex('Ā')).toBe(sha256Hex(Buffer.from('Ā')));
  expect(sha256Hex('xyz')).toHaveLength(64);
  expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

test('timestamps have milliseconds and end in Z (DS-16)', () => {
  expect(timestamp(Date.UTC(2026, 10, 20, 23, 29, 0, 715))).toBe('2026-11-20T23:29:00.715Z');
});

test('monotonic time does not go back', () => {
  const before = systemClock.monotonic();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
});

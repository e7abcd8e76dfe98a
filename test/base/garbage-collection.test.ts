import { expect, test } from 'bun:test';
import { release } from '../../src/base/scheduling/garbage-collection.ts';

test('memory is given back once, and not what is a part of something larger', () => {
  const bytes = new Uint8Array(16);
  release(bytes);
  release(bytes);
  expect(bytes.length).toBe(0);
  const larger = new Uint8Array(16);
  release(larger.subarray(8));
  expect(larger.length).toBe(16);
});

/** Long bodies under snappy, against the library that reads short ones. */
import { expect, test } from 'bun:test';
import { snappyCompress } from 'hysnappy';
import { SpoolFile } from '../../src/base/files/spool-file.ts';
import { uncompressedLength, unsnapped } from '../../src/events/intake/wire/snappy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MIB = 2 ** 20;
const words = Buffer.from(Array.from({ length: 900_000 }, (_, at) => `${at * 7919} ä€`).join(''));
const noise = Buffer.alloc(6 * MIB);
for (let at = 0, seed = 1; at < noise.length; at++) {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  noise[at] = seed >>> 24;
}

test.each([
  ['of one letter', Buffer.alloc(9 * MIB, 'x')],
  ['of words', words],
  ['that cannot be compressed', noise],
  ['of all of these', Buffer.concat([words, noise, Buffer.alloc(5 * MIB, 'ab'), noise])],
  ['that is short', Buffer.from('short')],
])('a body %s', (_name, bytes) => {
  using folder = temporaryFolder();
  using file = new SpoolFile(folder.path);
  const body = snappyCompress(bytes);
  expect(uncompressedLength(body)).toBe(bytes.length);
  expect(Buffer.from(unsnapped(body, () => file)).equals(bytes)).toBe(true);
  if (bytes.length < MIB) return;
  for (const [damaged, why] of [
    [body.subarray(0, body.length - 3), 'premature end of input'],
    [Buffer.concat([body, Uint8Array.of(0, 1)]), 'more than its length says'],
    [Buffer.concat([body.subarray(0, 4), Uint8Array.of(1, 9)]), 'a reference to what is not there'],
  ] as const) {
    using other = new SpoolFile(folder.path);
    expect(() => unsnapped(damaged, () => other)).toThrow(why);
  }
});

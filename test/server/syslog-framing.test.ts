/**
 * Syslog messages in a stream: however the bytes are cut into pieces, the same messages come out (EV-76).
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { SyslogFramer } from '../../src/syslog/framing.ts';

/** Cuts at the given places, up to 9 bytes each. */
function framed(
  stream: string,
  sizes: readonly number[],
  maxBytes = 32,
): { messages: string[]; cut: number; isReadable: boolean } {
  const messages: string[] = [];
  let cut = 0;
  const framer = new SyslogFramer(maxBytes, (bytes, isCut) => {
    messages.push(Buffer.from(bytes).toString());
    if (isCut) cut += 1;
  });
  const bytes = Buffer.from(stream);
  let isReadable = true;
  for (let at = 0, index = 0; at < bytes.length && isReadable; index += 1) {
    const size = sizes[index % sizes.length] ?? bytes.length;
    isReadable = framer.push(bytes.subarray(at, at + size));
    at += size;
  }
  framer.end();
  return { messages, cut, isReadable };
}

const message = fc
  .string({ minLength: 1, maxLength: 60 })
  .map((text) => `<13>${text.replace(/\n/g, ' ')}`);
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });

test('messages on lines and with their length come out whole, cut at the limit', () => {
  const seed = Number(process.env['SEED'] ?? 1);
  fc.assert(
    fc.property(fc.array(message), sizes, (texts, cuts) => {
      const expected = texts.map((text) => Buffer.from(text).subarray(0, 32).toString());
      const tooLong = texts.filter((text) => Buffer.byteLength(text) > 32).length;
      const lines = texts.map((text) => `${text}\n`).join('');
      const counted = texts.map((text) => `${Buffer.byteLength(text)} ${text}`).join('');
      for (const stream of [lines, counted]) {
        const result = framed(stream, cuts);
        expect(result).toEqual({ messages: expected, cut: tooLong, isReadable: true });
      }
    }),
    { seed },
  );
});

test('an end without its line feed is a message, an unfinished count is cut', () => {
  expect(framed('<13>a\n\n<13>b', [3]).messages).toEqual(['<13>a', '<13>b']);
  expect(framed('5 <13>a\n5 <1', [2])).toEqual({
    messages: ['<13>a', '<1'],
    cut: 1,
    isReadable: true,
  });
});

test('what is no framing ends the reading', () => {
  expect(framed('5 <13>aGET / HTTP/1.1', [64])).toEqual({
    messages: ['<13>a'],
    cut: 0,
    isReadable: false,
  });
  expect(framed('99999999999 x', [64]).isReadable).toBe(false);
});

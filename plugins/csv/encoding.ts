/**
 * Lossless conversion: what cannot be decoded or encoded exactly is refused, never replaced.
 *
 * Text lengths therefore give file lengths. `latin1` is ISO 8859-1 proper: byte n is code point n; `windows-1252`
 * differs in bytes 80 to 9F; `cp850` is the code page of the consoles of Western Europe. The tables are those of the
 * runtime where it has them.
 */
import { unreadable } from '../../src/base/errors.ts';
import { completeUtf8, strictText } from '../../src/base/text/text-bytes.ts';
import type { ReadOptions } from '../../src/tables/types.ts';

export type Encoding = NonNullable<ReadOptions['encoding']>;

type OneByteEncoding = 'latin1' | keyof typeof UPPER_HALF;

const UPPER_BYTES = Uint8Array.from({ length: 128 }, (_, at) => 0x80 + at);
/** The characters of bytes 80 to FF. */
const UPPER_HALF = {
  'windows-1252': new TextDecoder('windows-1252').decode(UPPER_BYTES),
  'windows-1250': new TextDecoder('windows-1250').decode(UPPER_BYTES),
  'windows-1251': new TextDecoder('windows-1251').decode(UPPER_BYTES),
  'iso-8859-2': new TextDecoder('iso-8859-2').decode(UPPER_BYTES),
  macintosh: new TextDecoder('macintosh').decode(UPPER_BYTES),
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐' +
    '└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
} as const;
const BYTES = new Map(
  Object.entries(UPPER_HALF).map(([encoding, characters]) => [
    encoding as OneByteEncoding,
    new Map(Array.from(characters, (character, at) => [character, String.fromCharCode(0x80 + at)])),
  ]),
);

const UNENCODABLE = new Map<OneByteEncoding | 'unicode', RegExp>([
  ['unicode', /[\0\p{Cs}]/u],
  ['latin1', /[^\u0001-\u00ff]/u],
  ...Object.entries(UPPER_HALF).map(([encoding, characters]): [OneByteEncoding, RegExp] => [
    encoding as OneByteEncoding,
    new RegExp(`[^\\u0001-\\u007f${characters}]`, 'u'),
  ]),
]);

/** By the byte order mark, whose length it also returns; null without one. */
export function markedEncoding(head: Uint8Array): { encoding: Encoding; bom: number } | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf)
    return { encoding: 'utf-8', bom: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', bom: 2 };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', bom: 2 };
  return null;
}

export function unitBytes(encoding: Encoding): 1 | 2 {
  return encoding === 'utf-16le' || encoding === 'utf-16be' ? 2 : 1;
}

/**
 * `offset`: of `bytes` in the file. Throws `unreadable-file` with the offset of the first invalid sequence or NUL,
 * which no table holds and at which SQLite would cut.
 */
export function decodeText(bytes: Uint8Array, encoding: Encoding, offset: number): string {
  const nul = unitBytes(encoding) === 1 ? bytes.indexOf(0) : -1;
  if (nul >= 0) {
    decodeText(bytes.subarray(0, nul), encoding, offset);
    throw unreadable(`NUL at byte offset ${offset + nul}`);
  }
  if (isOneByte(encoding)) return oneByteText(bytes, encoding);
  const text = strictText(bytes, encoding, offset);
  const wideNul = unitBytes(encoding) === 2 ? text.indexOf('\0') : -1;
  if (wideNul >= 0) throw unreadable(`NUL at byte offset ${offset + wideNul * 2}`);
  return text;
}

function isOneByte(encoding: Encoding): encoding is OneByteEncoding {
  return encoding === 'latin1' || encoding in UPPER_HALF;
}

function oneByteText(bytes: Uint8Array, encoding: OneByteEncoding): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  if (encoding === 'latin1') return text;
  const upper = UPPER_HALF[encoding];
  const differing = encoding === 'windows-1252' ? /[\u0080-\u009f]/g : /[\u0080-\u00ff]/g;
  return text.replace(differing, (byte) => upper[byte.charCodeAt(0) - 0x80]!);
}

/** Bytes of complete characters; the rest waits for more input. */
export function completeLength(bytes: Uint8Array, encoding: Encoding): number {
  if (isOneByte(encoding)) return bytes.length;
  if (encoding !== 'utf-8') {
    const even = bytes.length - (bytes.length % 2);
    const lastHigh = bytes[encoding === 'utf-16le' ? even - 1 : even - 2] ?? 0;
    return (lastHigh & 0xfc) === 0xd8 ? even - 2 : even;
  }
  return completeUtf8(bytes);
}

export function encodedLength(text: string, encoding: Encoding): number {
  if (encoding === 'utf-8') return Buffer.byteLength(text, 'utf8');
  return text.length * unitBytes(encoding);
}

/** For text that `unencodable` has passed. */
export function encodeText(text: string, encoding: Encoding): Uint8Array {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8');
  if (encoding === 'latin1') return Buffer.from(text, 'latin1');
  if (isOneByte(encoding)) {
    const bytes = BYTES.get(encoding)!;
    return Buffer.from(
      text.replace(/[^\u0000-\u007f]/g, (character) => bytes.get(character)!),
      'latin1',
    );
  }
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

export function unencodable(text: string, encoding: Encoding): string | null {
  // Most texts are ASCII, and this is much faster than finding a bad character.
  const isPlain = isOneByte(encoding)
    ? Buffer.byteLength(text) === text.length
    : text.isWellFormed();
  if (isPlain && !text.includes('\0')) return null;
  const match = UNENCODABLE.get(isOneByte(encoding) ? encoding : 'unicode')!.exec(text);
  if (!match) return null;
  const code = `U+${match[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  return /\p{C}/u.test(match[0]) ? code : `${match[0]} (${code})`;
}

/**
 * Picture sizes from headers: PNG, GIF, WebP, JPEG with its orientation (Exif 2.32, 4.6.4), SVG
 * with sizes in pixels, and what `photo-size.ts` knows.
 *
 * A page reserves room for pictures; a wrong size would be worse than none, so doubtful ones have
 * none.
 */
import type { FileSource } from '../../src/base/files/file-source.ts';
import type { PictureSize } from '../../src/docroot/kind.ts';
import { heifSize, tiffSize } from './photo-size.ts';

const HEAD_BYTES = 4096;
/** Browsers draw nothing larger. */
const MAX_PIXELS = 65_535;
/** Pictures have a dozen before the one with the size. */
const MAX_SEGMENTS = 100;
/** A segment's limit (Exif 2.32). */
const MAX_EXIF_BYTES = 65_536;
const ORIENTATION = 0x0112;

/** Pixels as shown by a browser; null when unknown. Reads little more than the header. */
export async function readPictureSize(source: FileSource): Promise<PictureSize | null> {
  const head = Buffer.from(await source.read(0, HEAD_BYTES));
  const size =
    pngSize(head) ??
    gifSize(head) ??
    webpSize(head) ??
    (await tiffSize(source)) ??
    (await heifSize(source)) ??
    (head[0] === 0xff && head[1] === 0xd8 ? await jpegSize(source) : svgSize(head));
  if (size === null) return null;
  const isShown = [size.width, size.height].every((pixels) => pixels > 0 && pixels <= MAX_PIXELS);
  return isShown ? size : null;
}

function pngSize(head: Buffer): PictureSize | null {
  if (head.length < 24 || head.toString('latin1', 1, 8) !== 'PNG\r\n\x1a\n') return null;
  if (head.toString('latin1', 12, 16) !== 'IHDR') return null;
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
}

function gifSize(head: Buffer): PictureSize | null {
  if (head.length < 10 || !/^GIF8[79]a/.test(head.toString('latin1', 0, 6))) return null;
  return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
}

function webpSize(head: Buffer): PictureSize | null {
  if (head.length < 30 || head.toString('latin1', 0, 4) !== 'RIFF') return null;
  switch (head.toString('latin1', 8, 16)) {
    case 'WEBPVP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    case 'WEBPVP8L': {
      const bits = head.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'WEBPVP8X': {
      const mayBeTurned = (head[20]! & 0x08) !== 0;
      return mayBeTurned
        ? null
        : { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    }
    default:
      return null;
  }
}

async function jpegSize(source: FileSource): Promise<PictureSize | null> {
  let isTurned = false;
  let at = 2;
  for (let segment = 0; segment < MAX_SEGMENTS; segment++) {
    const head = Buffer.from(await source.read(at, 9));
    if (head.length < 9 || head[0] !== 0xff) return null;
    const marker = head[1]!;
    const length = head.readUInt16BE(2);
    // Frames of every coding; C4, C8 and CC are tables.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const [height, width] = [head.readUInt16BE(5), head.readUInt16BE(7)];
      return isTurned ? { width: height, height: width } : { width, height };
    }
    if (length < 2) return null;
    if (marker === 0xe1) {
      isTurned ||= turnsPicture(
        Buffer.from(await source.read(at + 4, Math.min(length - 2, MAX_EXIF_BYTES))),
      );
    }
    at += 2 + length;
  }
  return null;
}

/** Whether Exif data swap width and height. */
function turnsPicture(exif: Buffer): boolean {
  if (exif.toString('latin1', 0, 6) !== 'Exif\0\0' || exif.length < 20) return false;
  const tiff = exif.subarray(6);
  const order = tiff.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return false;
  const number = (at: number, bytes: 2 | 4): number =>
    at + bytes > tiff.length
      ? 0
      : order === 'II'
        ? tiff.readUIntLE(at, bytes)
        : tiff.readUIntBE(at, bytes);
  const start = number(4, 4);
  for (let entry = 0; entry < number(start, 2); entry++) {
    const at = start + 2 + 12 * entry;
    if (at + 12 > tiff.length) return false;
    if (number(at, 2) === ORIENTATION) return number(at + 8, 2) >= 5;
  }
  return false;
}

function svgSize(head: Buffer): PictureSize | null {
  const [tag = ''] = /<svg\s[^>]*>/.exec(head.toString('utf8')) ?? [];
  const pixels = (name: string): number =>
    Number(new RegExp(`\\s${name}\\s*=\\s*["'](\\d+(?:\\.\\d+)?)(?:px)?["']`).exec(tag)?.[1]);
  const [width, height] = [Math.round(pixels('width')), Math.round(pixels('height'))];
  return width > 0 && height > 0 ? { width, height } : null;
}

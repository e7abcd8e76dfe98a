/**
 * Picture sizes from headers: PNG, GIF, WebP, JPEG with its orientation (Exif 2.32, 4.6.4), SVG in pixels, TIFF 6.0
 * with BigTIFF, HEIF (ISO/IEC 23008-12).
 *
 * A page reserves room for pictures; a wrong size would be worse than none, so doubtful ones have none.
 */
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { PictureSize } from '../../src/docroot/kind.ts';

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

const WIDTH = 0x0100;
const HEIGHT = 0x0101;
const SHORT = 3;
const LONG8 = 16;
/** Some programs write hundreds. */
const MAX_ENTRIES = 4096;
/** The `meta` box names each tile of a picture of hundreds. */
const MAX_META_BYTES = 1024 * 1024;

/** Of the first picture; null when it is no TIFF. */
export async function tiffSize(source: FileSource): Promise<PictureSize | null> {
  const head = await readBytes(source, 0, 16);
  const isLittle = head.toString('latin1', 0, 2) === 'II';
  if (head.length < 16 || (!isLittle && head.toString('latin1', 0, 2) !== 'MM')) return null;
  const number = (bytes: Buffer, at: number, length: number): number =>
    isLittle ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length);
  // Six bytes are more than any file has.
  const long = (bytes: Buffer, at: number): number => number(bytes, isLittle ? at : at + 2, 6);
  const version = number(head, 2, 2);
  if (version !== 42 && version !== 43) return null;
  const isBig = version === 43;
  const start = isBig ? long(head, 8) : number(head, 4, 4);
  const countBytes = isBig ? 8 : 2;
  const entryBytes = isBig ? 20 : 12;
  const counted = await readBytes(source, start, countBytes);
  if (counted.length < countBytes) return null;
  const count = Math.min(MAX_ENTRIES, isBig ? long(counted, 0) : number(counted, 0, 2));
  const entries = await readBytes(source, start + countBytes, count * entryBytes);
  const found = new Map<number, number>();
  for (let at = 0; at + entryBytes <= entries.length; at += entryBytes) {
    const type = number(entries, at + 2, 2);
    const valueAt = at + (isBig ? 12 : 8);
    const value =
      isBig && type === LONG8
        ? long(entries, valueAt)
        : number(entries, valueAt, type === SHORT ? 2 : 4);
    found.set(number(entries, at, 2), value);
  }
  const [width, height] = [found.get(WIDTH), found.get(HEIGHT)];
  return width === undefined || height === undefined ? null : { width, height };
}

interface Box {
  readonly type: string;
  readonly body: Buffer;
}

/** Of the primary picture, as displayed; null when it is no HEIF. */
export async function heifSize(source: FileSource): Promise<PictureSize | null> {
  const meta = await metaBox(source);
  if (meta === null) return null;
  // A version and flags before the boxes in it.
  const boxes = boxesIn(meta.subarray(4));
  const properties = boxesIn(boxNamed(boxes, 'iprp') ?? Buffer.alloc(0));
  const container = boxesIn(boxNamed(properties, 'ipco') ?? Buffer.alloc(0));
  const associations = boxNamed(properties, 'ipma');
  const primary = boxNamed(boxes, 'pitm');
  if (!associations || !primary || primary.length < 6) return null;
  const item = primary[0] === 0 ? primary.readUInt16BE(4) : primary.readUInt32BE(4);
  const own = propertiesOf(associations, item).map((index) => container[index - 1]);
  const size = own.find((box) => box?.type === 'ispe')?.body;
  if (!size || size.length < 12) return null;
  const [width, height] = [size.readUInt32BE(4), size.readUInt32BE(8)];
  const turns = (own.find((box) => box?.type === 'irot')?.body[0] ?? 0) & 3;
  return turns % 2 === 1 ? { width: height, height: width } : { width, height };
}

async function metaBox(source: FileSource): Promise<Buffer | null> {
  for (let at = 0, seen = 0; seen < 16; seen++) {
    const head = await readBytes(source, at, 16);
    if (head.length < 8 || (seen === 0 && head.toString('latin1', 4, 8) !== 'ftyp')) return null;
    const size = head.readUInt32BE(0);
    if (size < 8) return null;
    if (head.toString('latin1', 4, 8) === 'meta') {
      return size > MAX_META_BYTES ? null : readBytes(source, at + 8, size - 8);
    }
    at += size;
  }
  return null;
}

function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > bytes.length) break;
    boxes.push({
      type: bytes.toString('latin1', at + 4, at + 8),
      body: bytes.subarray(at + 8, at + size),
    });
    at += size;
  }
  return boxes;
}

function boxNamed(boxes: readonly Box[], type: string): Buffer | undefined {
  return boxes.find((box) => box.type === type)?.body;
}

/** Indexes from 1. */
function propertiesOf(associations: Buffer, item: number): number[] {
  if (associations.length < 8) return [];
  const idBytes = associations[0]! < 1 ? 2 : 4;
  const indexBytes = (associations[3]! & 1) === 1 ? 2 : 1;
  const count = associations.readUInt32BE(4);
  let at = 8;
  for (let entry = 0; entry < count && at + idBytes < associations.length; entry++) {
    const id = associations.readUIntBE(at, idBytes);
    const length = associations[at + idBytes]!;
    at += idBytes + 1;
    if (at + length * indexBytes > associations.length) return [];
    if (id === item) {
      return Array.from({ length }, (_, index) => {
        const value = associations.readUIntBE(at + index * indexBytes, indexBytes);
        // The highest bit says whether a reader must know the property.
        return value & (indexBytes === 1 ? 0x7f : 0x7fff);
      });
    }
    at += length * indexBytes;
  }
  return [];
}

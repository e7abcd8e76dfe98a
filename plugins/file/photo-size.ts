/** Sizes of pictures that browsers do not show: TIFF 6.0 with BigTIFF, and HEIF (ISO/IEC 23008-12) as phones write it. */
import { type FileSource, readBytes } from '../../src/base/files/file-source.ts';
import type { PictureSize } from '../../src/docroot/kind.ts';

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

/** How large pictures say they are, in every format; what is damaged, doubtful or no picture has no size. */
import { describe, expect, test } from 'bun:test';
import { readPictureSize } from '../../plugins/file/picture-size.ts';
import { sourceOf } from './byte-source.ts';

function bytes(...parts: readonly (string | readonly number[])[]): Buffer {
  return Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
  );
}

const sizeOf = async (file: Buffer): Promise<string | null> => {
  const size = await readPictureSize(sourceOf(file));
  return size === null ? null : `${size.width}x${size.height}`;
};

const png = bytes(
  '\x89PNG\r\n\x1a\n',
  [0, 0, 0, 13],
  'IHDR',
  [0, 0, 1, 0x40, 0, 0, 0, 0xf0],
  [8, 6],
);
const padding = new Array<number>(16).fill(0);
/** A frame of 0x0140 by 0x00f0 pixels behind other segments. */
const jpeg = (...segments: readonly Buffer[]): Buffer =>
  bytes(
    [0xff, 0xd8],
    ...segments.map((one) => [...one]),
    [0xff, 0xc2, 0, 17, 8, 0, 0xf0, 1, 0x40, 3],
    padding,
  );
const segment = (marker: number, content: Buffer): Buffer =>
  bytes([0xff, marker, 0, content.length + 2], [...content]);
const exif = (orientation: number): Buffer =>
  segment(
    0xe1,
    bytes(
      'Exif\0\0',
      'MM',
      [0, 42, 0, 0, 0, 8, 0, 2],
      [0x01, 0x0f, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0],
      [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0],
      [0, 0, 0, 0],
    ),
  );
const riff = (kind: string, rest: readonly number[]): Buffer =>
  bytes('RIFF', [0, 0, 0, 0], `WEBP${kind}`, [0, 0, 0, 0], rest, padding);

describe('the size of', () => {
  test.each([
    ['PNG', png],
    ['GIF', bytes('GIF89a', [0x40, 1, 0xf0, 0, 0])],
    ['JPEG', jpeg(segment(0xe0, bytes('JFIF\0')))],
    ['JPEG that is upright', jpeg(exif(1))],
    ['WebP', riff('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, 0x40, 1, 0xf0, 0])],
    ['WebP without loss', riff('VP8L', [0x2f, 0x3f, 0xc1, 0x3b, 0])],
    ['WebP with more in it', riff('VP8X', [0, 0, 0, 0, 0x3f, 1, 0, 0xef, 0, 0])],
    ['SVG', Buffer.from('<?xml version="1.0"?>\n<svg width="320" height=\'240px\' xmlns="x">')],
  ])('%s is read', async (_, file) => {
    expect(await sizeOf(file)).toBe('320x240');
  });

  test('JPEG that lies on its side is that of how it is shown', async () => {
    expect(await sizeOf(jpeg(exif(6)))).toBe('240x320');
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('width="3" height="4"')],
    ['a cut PNG', png.subarray(0, 20)],
    ['a PNG of no width', Buffer.concat([png.subarray(0, 16), Buffer.alloc(8)])],
    ['a PNG wider than any', Buffer.concat([png.subarray(0, 16), Buffer.alloc(8, 0xff)])],
    ['a cut JPEG', jpeg().subarray(0, 8)],
    ['a JPEG of empty segments', bytes([0xff, 0xd8, 0xff, 0xe0, 0, 0], padding)],
    ['a JPEG of many segments', jpeg(...new Array<Buffer>(200).fill(segment(0xe0, bytes('x'))))],
    ['a WebP that may be turned', riff('VP8X', [8, 0, 0, 0, 0x3f, 1, 0, 0xef, 0, 0])],
    ['an SVG in percent', Buffer.from('<svg width="100%" height="50%">')],
    ['an SVG with a view only', Buffer.from('<svg viewBox="0 0 3 4">')],
  ])('%s is not told', async (_, file) => {
    expect(await sizeOf(file)).toBeNull();
  });
});

const u16 = (value: number): number[] => [value >> 8, value & 0xff];
const u32 = (value: number): number[] => [...u16(value >>> 16), ...u16(value & 0xffff)];

test.each([
  [
    'little',
    'II',
    [42, 0, 8, 0, 0, 0],
    [2, 0, 0, 1, 3, 0, 1, 0, 0, 0, 0x40, 1, 0, 0, 1, 1, 4, 0, 1, 0, 0, 0, 0xf0, 0, 0, 0],
  ],
  [
    'big',
    'MM',
    [0, 42, 0, 0, 0, 8],
    [0, 2, 1, 0, 0, 3, 0, 0, 0, 1, 1, 0x40, 0, 0, 1, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0xf0],
  ],
] as const)('a TIFF in %s endian order says its first size', async (_, order, head, entries) => {
  const file = bytes(order, head, entries, [0, 0, 0, 0]);
  expect(await sizeOf(file)).toBe('320x240');
  for (let end = 0; end < file.length - 4; end++)
    expect(await sizeOf(file.subarray(0, end))).toBeNull();
});

describe('a HEIF picture', () => {
  const box = (type: string, ...content: readonly (string | readonly number[])[]): number[] => {
    const body = bytes(...content);
    return [...bytes(u32(body.length + 8), type), ...body];
  };
  const size = (width: number, height: number): number[] =>
    box('ispe', u32(0), u32(width), u32(height));
  /** A tile of another size stands before the picture, item 7. */
  const heif = (...turn: readonly number[]): Buffer =>
    bytes(
      box('ftyp', 'heic', u32(0), 'mif1heic'),
      box(
        'meta',
        u32(0),
        box('pitm', u32(0), u16(7)),
        box(
          'iprp',
          box('ipco', size(64, 64), size(320, 240), box('irot', turn.length > 0 ? turn : [0])),
          box('ipma', u32(0), u32(2), u16(1), [1, 1], u16(7), [2, 0x82, 3]),
        ),
      ),
    );

  test('says the size of its main picture, turned as it is shown', async () => {
    expect(await sizeOf(heif())).toBe('320x240');
    expect(await sizeOf(heif(1))).toBe('240x320');
    expect(await sizeOf(heif(2))).toBe('320x240');
  });

  test('has none where it is cut', async () => {
    const file = heif();
    for (let end = 0; end < file.length; end++)
      expect(await sizeOf(file.subarray(0, end))).toBeNull();
  });
});

/**
 * The smallest media files that say something about themselves, made here byte by byte.
 */

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** An MP3 of 20 silent frames (64 kbit/s, 44.1 kHz, mono), titled `<b>Tone</b>` by Ann, with a PNG as its cover. */
export function tone(): Buffer {
  return mp3([
    id3Frame('TIT2', Buffer.from('\x03<b>Tone</b>')),
    id3Frame('TPE1', Buffer.from('\x03Ann')),
    id3Frame('APIC', Buffer.concat([Buffer.from('\0image/png\0\x03\0', 'latin1'), PIXEL])),
  ]);
}

/** An MP3 of 20 silent frames with these frames of tags. */
export function mp3(frames: readonly Buffer[]): Buffer {
  const frame = Buffer.alloc(208);
  frame.writeUInt32BE(0xff_fb_52_c4);
  const tags = Buffer.concat(frames);
  const size = [21, 14, 7, 0].map((shift) => (tags.length >> shift) & 127);
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, ...size]);
  return Buffer.concat([head, tags, ...Array.from({ length: 20 }, () => frame)]);
}

/** A frame of tags: four letters, an encoding and a text, or what the letters ask for. */
export function id3Frame(id: string, body: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.write(id, 'latin1');
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** An MP4 without a picture in it whose track says that it is 32 by 16 pixels. */
export function clip(): Buffer {
  const trackHead = Buffer.alloc(84);
  trackHead.writeUInt32BE(7, 0);
  trackHead.writeUInt32BE(1, 12);
  trackHead.writeUInt32BE(32 << 16, 76);
  trackHead.writeUInt32BE(16 << 16, 80);
  const movieHead = Buffer.alloc(100);
  movieHead.writeUInt32BE(1000, 12);
  movieHead.writeUInt32BE(2000, 16);
  return Buffer.concat([
    mp4Box('ftyp', Buffer.from('isom\0\0\x02\0isom', 'latin1')),
    mp4Box(
      'moov',
      Buffer.concat([mp4Box('mvhd', movieHead), mp4Box('trak', mp4Box('tkhd', trackHead))]),
    ),
    mp4Box('mdat', Buffer.alloc(16)),
  ]);
}

/** A box of an MP4 file. */
export function mp4Box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

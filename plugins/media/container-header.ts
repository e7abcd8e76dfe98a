/** What music-metadata lacks of the headers of AVI and MP4 files. */
import { unreadable } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';

const HEADER_START = 32;
const HEADER_BYTES = 56;

/**
 * Duration and picture size from an AVI's main header (RIFF, Microsoft's AVIMAINHEADER;
 * little-endian). Throws `unreadable-file` when the file is no AVI.
 */
export async function readAviHeader(
  source: FileSource,
  rel: string,
): Promise<{ duration: number | null; width: number | null; height: number | null }> {
  const bytes = Buffer.from(await source.read(0, HEADER_START + HEADER_BYTES));
  const isAvi =
    bytes.length === HEADER_START + HEADER_BYTES &&
    bytes.toString('latin1', 0, 4) === 'RIFF' &&
    bytes.toString('latin1', 8, 16) === 'AVI LIST' &&
    bytes.toString('latin1', 20, 28) === 'hdrlavih';
  if (!isAvi) throw unreadable(`Cannot read '${rel}': not an AVI file`);
  const number = (index: number): number => bytes.readUInt32LE(HEADER_START + 4 * index);
  const [microseconds, frames, width, height] = [number(0), number(4), number(8), number(9)];
  const seconds = (microseconds * frames) / 1e6;
  return { duration: seconds || null, width: width || null, height: height || null };
}

/** Per level; files have a handful. */
const MAX_BOXES = 1000;

interface Box {
  readonly type: string;
  readonly from: number;
  readonly to: number;
}

/**
 * From the first track header that has one (ISO/IEC 14496-12, 8.3.2), in pixels; null for a file that is no MP4 or has
 * no picture. Reads box headers only.
 */
export async function readPictureSize(
  source: FileSource,
): Promise<{ readonly width: number; readonly height: number } | null> {
  const top = await boxesIn(source, 0, source.size);
  if (top[0]?.type !== 'ftyp') return null;
  const movie = top.find(({ type }) => type === 'moov');
  if (movie === undefined) return null;
  for (const track of await boxesIn(source, movie.from, movie.to)) {
    if (track.type !== 'trak') continue;
    const parts = await boxesIn(source, track.from, track.to);
    const head = parts.find(({ type }) => type === 'tkhd');
    if (head === undefined || head.to - head.from < 8) continue;
    // Both numbers are at the end of the box, as 16.16 fixed point.
    const bytes = Buffer.from(await source.read(head.to - 8, 8));
    if (bytes.length < 8) continue;
    const [width, height] = [bytes.readUInt32BE(0) / 65_536, bytes.readUInt32BE(4) / 65_536];
    if (width > 0 && height > 0) return { width: Math.round(width), height: Math.round(height) };
  }
  return null;
}

async function boxesIn(source: FileSource, start: number, end: number): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end && boxes.length < MAX_BOXES;) {
    const head = Buffer.from(await source.read(at, 16));
    if (head.length < 8) break;
    const short = head.readUInt32BE(0);
    if (short === 1 && head.length < 16) break;
    const size = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? end - at : short;
    const headBytes = short === 1 ? 16 : 8;
    if (size < headBytes || at + size > end) break;
    boxes.push({ type: head.toString('latin1', 4, 8), from: at + headBytes, to: at + size });
    at += size;
  }
  return boxes;
}

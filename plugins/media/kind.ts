import { AppError, unreadable } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { isVideo, mediaTypeOf } from '../../src/base/files/media-type.ts';
import { fileNameOf, stemOf } from '../../src/base/paths.ts';
import {
  type DocumentOrder,
  type Kind,
  type MediaMetadata,
  type SearchSection,
  NO_METADATA,
} from '../../src/docroot/kind.ts';
import type { ITokenizer } from 'strtok3';

/** Streamed as they are, with their metadata. */
export const media: Kind = {
  type: 'media',
  family: 'media',
  extensions: ['.mp4', '.avi', '.mkv', '.webm', '.mp3', '.ogg', '.wav'],
  sections: mediaSections,
  metadata: readMetadata,
};

/** Titled by the title tag, else the file's name. */
async function mediaSections(source: FileSource, { rel }: DocumentOrder): Promise<SearchSection[]> {
  const tags = await tagsOf(source, rel);
  const name = fileNameOf(rel);
  const words = stemOf(name).split(/[\W_]+/u);
  const { title, artist, album, genre } = tags ?? {};
  const text = [...words, title, artist, album, genre, isVideo(rel) ? 'video' : 'audio'];
  return [{ title: title || name, anchor: null, text: text.filter(Boolean).join(' ') }];
}

/** Null when the tags cannot be read: it is found by its name then. */
async function tagsOf(source: FileSource, rel: string): Promise<MediaMetadata | null> {
  try {
    return await readMetadata(source, rel);
  } catch (error) {
    if (error instanceof AppError && error.code === 'unreadable-file') return null;
    throw error;
  }
}

/** Longer files are not read to the end just for their duration. */
const MAX_COUNTED_BYTES = 16 * 1024 * 1024;
/** Larger covers are left out: a response holds them as data URL. */
const MAX_COVER_BYTES = 1024 * 1024;
/** What browsers show as an image, and nothing that could be a document. */
const COVER_TYPES = /^image\/(?:png|jpeg|gif|webp|avif)$/;
/** A longer tag is no title. */
const MAX_TAG_CHARACTERS = 1000;

/** Throws `unreadable-file` for damaged files. Reads a small part, unless the file is short. */
async function readMetadata(source: FileSource, rel: string): Promise<MediaMetadata> {
  if (mediaTypeOf(rel) === 'video/x-msvideo')
    return { ...NO_METADATA, ...(await readAviHeader(source, rel)) };
  const { parseFromTokenizer, selectCover } = await import('music-metadata');
  const tokenizer = await createTokenizer(source, mediaTypeOf(rel));
  let parsed: Awaited<ReturnType<typeof parseFromTokenizer>>;
  try {
    parsed = await parseFromTokenizer(tokenizer, {
      duration: source.size <= MAX_COUNTED_BYTES,
      includeChapters: false,
    });
  } catch (error) {
    // The library has an error class per format and throws others for damage; all mean the same
    // here.
    throw unreadable(`Cannot read '${rel}': not a media file of its kind`, error);
  }
  const { format, common } = parsed;
  const video = format.trackInfo.find(({ video: track }) => track !== undefined)?.video;
  const size =
    video?.pixelWidth !== undefined
      ? { width: video.pixelWidth, height: video.pixelHeight }
      : await readPictureSize(source);
  return {
    duration: known(format.duration),
    bitrate: known(format.bitrate, Math.round),
    sample_rate: known(format.sampleRate),
    channels: known(format.numberOfChannels),
    width: known(size?.width),
    height: known(size?.height),
    title: tag(common.title),
    artist: tag(common.artist),
    album: tag(common.album),
    genre: tag(common.genre?.join(', ')),
    thumbnail: coverUrl(selectCover(common.picture)),
  };
}

function known(
  value: number | undefined,
  shaped: (value: number) => number = (x) => x,
): number | null {
  return value === undefined || !Number.isFinite(value) || value <= 0 ? null : shaped(value);
}

function tag(text: string | undefined): string | null {
  const trimmed = (text ?? '')
    .replaceAll('\0', '')
    .trim()
    .slice(0, MAX_TAG_CHARACTERS)
    .toWellFormed();
  return trimmed === '' ? null : trimmed;
}

function coverUrl(
  cover: { readonly format: string; readonly data: Uint8Array } | null,
): string | null {
  if (cover === null || cover.data.length === 0 || cover.data.length > MAX_COVER_BYTES) return null;
  const type = cover.format.toLowerCase().replace('image/jpg', 'image/jpeg');
  if (!COVER_TYPES.test(type)) return null;
  return `data:${type};base64,${Buffer.from(cover.data).toString('base64')}`;
}

/** Random access through the descriptor already open; closing it leaves the file open. */
async function createTokenizer(source: FileSource, mimeType: string): Promise<ITokenizer> {
  const { AbstractTokenizer, EndOfStreamError } = await import('strtok3');

  class FileTokenizer extends AbstractTokenizer {
    override readonly fileInfo = { size: source.size, mimeType };

    constructor() {
      super();
    }

    override supportsRandomAccess(): boolean {
      return true;
    }

    setPosition(position: number): void {
      this.position = position;
    }

    override async readBuffer(...given: Parameters<ITokenizer['readBuffer']>): Promise<number> {
      const { position, length } = await this.peek(...given);
      this.position = position + length;
      return length;
    }

    override async peekBuffer(...given: Parameters<ITokenizer['peekBuffer']>): Promise<number> {
      return (await this.peek(...given)).length;
    }

    private async peek(
      ...[into, options]: Parameters<ITokenizer['readBuffer']>
    ): Promise<{ position: number; length: number }> {
      const wanted = this.normalizeOptions(into, options);
      const bytes = await source.read(wanted.position, wanted.length);
      if (bytes.length < wanted.length && !wanted.mayBeLess) throw new EndOfStreamError();
      into.set(bytes);
      return { position: wanted.position, length: bytes.length };
    }
  }

  return new FileTokenizer();
}

const HEADER_START = 32;
const HEADER_BYTES = 56;

/** From the main header (RIFF, AVIMAINHEADER; little-endian). Throws `unreadable-file` when the file is no AVI. */
async function readAviHeader(
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
 * From the first track header that has one (ISO/IEC 14496-12, 8.3.2); null for a file that is no MP4 or has no
 * picture.
 */
async function readPictureSize(
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

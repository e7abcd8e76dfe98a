/**
 * Metadata of media files: tags and formats through music-metadata, and the picture size from the
 * container where that library lacks it.
 */
import { unreadable } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { mediaTypeOf } from '../../src/base/files/media-type.ts';
import { type MediaMetadata, NO_METADATA } from '../../src/docroot/kind.ts';
import { readAviHeader, readPictureSize } from './container-header.ts';
import { createTokenizer } from './file-tokenizer.ts';

/** Longer files are not read to the end just for their duration. */
const MAX_COUNTED_BYTES = 16 * 1024 * 1024;
/** Larger covers are left out: a response holds them as data URL. */
const MAX_COVER_BYTES = 1024 * 1024;
/** What browsers show as an image, and nothing that could be a document. */
const COVER_TYPES = /^image\/(?:png|jpeg|gif|webp|avif)$/;
/** A longer tag is no title. */
const MAX_TAG_CHARACTERS = 1000;

/** Throws `unreadable-file` for damaged files. Reads a small part, unless the file is short. */
export async function readMetadata(source: FileSource, rel: string): Promise<MediaMetadata> {
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

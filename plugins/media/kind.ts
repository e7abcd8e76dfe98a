import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import { isVideo } from '../../src/base/files/media-type.ts';
import { fileNameOf, stemOf } from '../../src/base/paths.ts';
import type { DocumentOrder, Kind, MediaMetadata, SearchSection } from '../../src/docroot/kind.ts';
import { readMetadata } from './metadata.ts';

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

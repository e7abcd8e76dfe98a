import type { FileSource } from '../../src/base/files/file-source.ts';
import { mediaTypeOf } from '../../src/base/files/media-type.ts';
import { fileNameOf, stemOf } from '../../src/base/paths.ts';
import { xmlText } from '../../src/base/text/markup-text.ts';
import { looksLikeText, readText } from '../../src/base/text/text-bytes.ts';
import type { DocumentOrder, Kind, SearchSection } from '../../src/docroot/kind.ts';
import { readPictureSize } from './picture-size.ts';

/** Text, images, PDF and configured types: downloads with the right media type. */
export const file: Kind = {
  type: 'file',
  family: 'content',
  extensions: [
    '.txt',
    '.pdf',
    '.xml',
    '.svg',
    '.png',
    '.jpg',
    '.jpeg',
    '.gif',
    '.webp',
    '.heic',
    '.heif',
    '.tif',
    '.tiff',
  ],
  sections: fileSections,
  pictureSize: readPictureSize,
};

const OPAQUE = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/pdf$)/;
const XML = /[/+]xml$/;

/** What search indexes: the content of text files only. One section titled by the file's name; none for other formats. */
async function fileSections(
  source: FileSource,
  { rel, maxBytes }: DocumentOrder,
): Promise<SearchSection[]> {
  const type = mediaTypeOf(rel);
  if (OPAQUE.test(type) || !(await looksLikeText(source))) return [];
  const text = await readText(source, maxBytes);
  const title = fileNameOf(stemOf(rel));
  return [{ title, anchor: null, text: XML.test(type) ? await xmlText(text) : text }];
}

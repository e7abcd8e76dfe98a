import type { Kind } from '../../src/docroot/kind.ts';
import { readPictureSize } from './picture-size.ts';
import { fileSections } from './sections.ts';

/** Text, images, PDF and configured types: downloads with the right media type. */
export const file: Kind = {
  type: 'file',
  family: 'content',
  extensions: ['.txt', '.pdf', '.json', '.xml', '.svg', '.png', '.jpg', '.jpeg', '.gif', '.webp'],
  sections: fileSections,
  pictureSize: readPictureSize,
};

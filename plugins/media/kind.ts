import type { Kind } from '../../src/docroot/kind.ts';
import { readMetadata } from './metadata.ts';
import { mediaSections } from './sections.ts';

/** Streamed as they are, with their metadata. */
export const media: Kind = {
  type: 'media',
  family: 'media',
  extensions: ['.mp4', '.avi', '.mkv', '.webm', '.mp3', '.ogg', '.wav'],
  sections: mediaSections,
  metadata: readMetadata,
};

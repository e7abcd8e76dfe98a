/** Sound and film: streamed as they are, with what they say about themselves (DS-160 to DS-162). */
import type { Kind } from '../../src/docroot/kind.ts';
import { readMetadata } from './metadata.ts';
import { mediaSections } from './sections.ts';

/** Films and sounds. */
export const media: Kind = {
  type: 'media',
  family: 'media',
  extensions: ['.mp4', '.avi', '.mkv', '.webm', '.mp3', '.ogg', '.wav'],
  sections: mediaSections,
  metadata: readMetadata,
};

/**
 * Kinds without content, for tests about files and names.
 */
import type { Kind } from '../../src/docroot/kind.ts';

export const testKinds: readonly Kind[] = [
  { type: 'csv', family: 'dataset', extensions: ['.csv'] },
  { type: 'handler', family: 'dataset', extensions: ['.ts'] },
  { type: 'html', family: 'content', extensions: ['.html'] },
  { type: 'markdown', family: 'content', extensions: ['.md'] },
  { type: 'file', family: 'content', extensions: ['.txt', '.png'] },
  { type: 'media', family: 'media', extensions: ['.mp4'] },
];

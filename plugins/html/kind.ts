import type { Kind } from '../../src/docroot/kind.ts';
import { htmlSections } from './sections.ts';

/** HTML pages, served unchanged under a content policy of their own. */
export const html: Kind = {
  type: 'html',
  family: 'content',
  extensions: ['.html'],
  sections: htmlSections,
};

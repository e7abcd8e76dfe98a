/** HTML pages, served as they are under a policy of their own (DS-158). */
import type { Kind } from '../../src/docroot/kind.ts';
import { htmlSections } from './sections.ts';

/** Pages somebody wrote in HTML; nothing in them is changed. */
export const html: Kind = {
  type: 'html',
  family: 'content',
  extensions: ['.html'],
  sections: htmlSections,
};

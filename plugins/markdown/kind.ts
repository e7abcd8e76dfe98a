import type { Kind } from '../../src/docroot/kind.ts';
import { renderMarkdown } from './render.ts';
import { markdownSections } from './sections.ts';

export const markdown: Kind = {
  type: 'markdown',
  family: 'content',
  extensions: ['.md'],
  sections: markdownSections,
  render: renderMarkdown,
};

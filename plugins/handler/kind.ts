import type { Kind } from '../../src/docroot/kind.ts';
import { exportsRouter } from './router-export.ts';

/** Python files, and modules that export a router. They run in src/handlers. */
export const handler: Kind = {
  type: 'handler',
  family: 'dataset',
  extensions: ['.ts', '.js', '.mjs', '.py'],
  detection: {
    needsContent: (rel) => !rel.toLowerCase().endsWith('.py'),
    isPublished: exportsRouter,
  },
};

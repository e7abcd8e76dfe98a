/** The handler kind: code whose routes are served under its name (DS-163); the host of the code is src/handlers. */
import type { Kind } from '../../src/docroot/kind.ts';
import { exportsRouter } from './router-export.ts';

/** Python files, and the modules that export a router. */
export const handler: Kind = {
  type: 'handler',
  family: 'dataset',
  extensions: ['.ts', '.js', '.mjs', '.py'],
  detection: {
    needsContent: (rel) => !rel.toLowerCase().endsWith('.py'),
    isPublished: exportsRouter,
  },
};

import { unreadable } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/files/file-source.ts';
import type { Kind } from '../../src/docroot/kind.ts';

/** Parsing a longer module would take more than a second. */
const MAX_BYTES = 8 * 1024 * 1024;

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

/**
 * Its module, parsed but not run, exports the name `router`; most scripts are libraries, and code for browsers.
 *
 * False past 8 MiB. Throws `unreadable-file` for a text that mentions `export` and `router` but does not parse: most
 * likely a handler with a mistake.
 */
async function exportsRouter(source: FileSource, rel: string): Promise<boolean> {
  if (source.size > MAX_BYTES) return false;
  const code = new TextDecoder().decode(await source.read(0, source.size));
  if (!code.includes('export') || !code.includes('router')) return false;
  const loader = rel.toLowerCase().endsWith('.ts') ? 'ts' : 'jsx';
  try {
    return new Bun.Transpiler({ loader }).scan(code).exports.includes('router');
  } catch (error) {
    throw unreadable(mistakeIn(rel, error), error);
  }
}

function mistakeIn(rel: string, error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { message = 'it does not parse', position } = first as Partial<BuildMessage>;
  return position ? `${rel}:${position.line}:${position.column}: ${message}` : `${rel}: ${message}`;
}

/**
 * Whether a script is a handler: its module, parsed and not run, exports the name `router` (DS-163).
 *
 * Most scripts of a document root are none: libraries, and code for browsers.
 */
import { AppError } from '../../src/base/errors.ts';
import type { FileSource } from '../../src/base/file-source.ts';

/** Nobody writes a longer module by hand; parsing it would take more than a second. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * True for a module that exports `router`. False past 8 MiB. Throws `unreadable-file` for a text that mentions `export` and
 * `router` but is no module: that is most likely a handler with a mistake in it.
 */
export async function exportsRouter(source: FileSource, rel: string): Promise<boolean> {
  if (source.size > MAX_BYTES) return false;
  const code = new TextDecoder().decode(await source.read(0, source.size));
  if (!code.includes('export') || !code.includes('router')) return false;
  const loader = rel.toLowerCase().endsWith('.ts') ? 'ts' : 'jsx';
  try {
    return new Bun.Transpiler({ loader }).scan(code).exports.includes('router');
  } catch (error) {
    throw new AppError('unreadable-file', mistakeIn(rel, error), { cause: error });
  }
}

/** `h.ts:3:9: Unexpected ;` */
function mistakeIn(rel: string, error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { message = 'it does not parse', position } = first as Partial<BuildMessage>;
  return position ? `${rel}:${position.line}:${position.column}: ${message}` : `${rel}: ${message}`;
}

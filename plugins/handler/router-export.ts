/**
 * Whether a script is a handler: its module, parsed and not run, exports the name `router` (DS-163).
 *
 * Most scripts of a document root are none: libraries, and code for browsers.
 */
import type { FileSource } from '../../src/base/file-source.ts';

/** Nobody writes a longer module by hand; parsing it would take more than a second. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * True for a module that exports `router`, and for a text that mentions `export` and `router` but is no module: that is
 * most likely a handler with a mistake in it. False past 8 MiB.
 */
export async function exportsRouter(source: FileSource, rel: string): Promise<boolean> {
  if (source.size > MAX_BYTES) return false;
  const code = new TextDecoder().decode(await source.read(0, source.size));
  if (!code.includes('export') || !code.includes('router')) return false;
  const loader = rel.toLowerCase().endsWith('.ts') ? 'ts' : 'js';
  try {
    return new Bun.Transpiler({ loader }).scan(code).exports.includes('router');
  } catch {
    // What is wrong with it is told by the host that loads it.
    return true;
  }
}

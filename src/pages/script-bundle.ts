/**
 * Bundles a page's script for the browser. A macro: it runs while the executable is bundled (or a module is loaded from
 * source), so the result is a text inside the executable.
 */
import { resolve } from 'node:path';

/**
 * The minified script of `src/browser/<name>.ts` with everything it imports. Spawned, because a bundler cannot be called inside
 * of the bundler.
 */
export function bundledScript(name: string): string {
  const entry = resolve(import.meta.dir, '../browser', `${name}.ts`);
  const options = ['--minify', '--target=browser', '--format=iife'];
  const built = Bun.spawnSync([process.execPath, 'build', entry, ...options]);
  if (built.exitCode !== 0) throw new Error(built.stderr.toString());
  return built.stdout.toString();
}

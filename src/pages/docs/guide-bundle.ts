/**
 * The chapters of the guide as a text inside the executable. Macros: they run while the executable is bundled (or a module is
 * loaded from source), so that nothing is rendered by a server.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../../..');

/** The chapters as JSON, the index first. Spawned, because macros cannot load the packages that render. */
export function bundledGuide(): string {
  const built = Bun.spawnSync([process.execPath, resolve(ROOT, 'build/guide.ts')], { cwd: ROOT });
  if (built.exitCode !== 0) throw new Error(built.stderr.toString());
  return built.stdout.toString();
}

/** The names of the chapters, with blanks between them, in the order of the index. */
export function bundledChapterNames(): string {
  const index = readFileSync(resolve(ROOT, 'docs/README.md'), 'utf8');
  const links = index.matchAll(/^\s*(?:\d+\.|-) \[[^\]]+\]\(([a-z-]+)\.md\)/gm);
  return [...links].map(([, name]) => name).join(' ');
}

/** Macros: they run while the executable is bundled (or a module is loaded from source), so a server renders nothing. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../../..');

/** The chapters as JSON, the index first. Spawned, because macros cannot load the packages that render. */
export function bundledGuide(): string {
  const built = Bun.spawnSync([process.execPath, resolve(ROOT, 'build/guide.ts')], { cwd: ROOT });
  if (built.exitCode !== 0) throw new Error(built.stderr.toString());
  return built.stdout.toString();
}

/** Separated by blanks, in the order of the index. */
export function bundledChapterNames(): string {
  const index = readFileSync(resolve(ROOT, 'docs/README.md'), 'utf8');
  const links = index.matchAll(/^\s*(?:\d+\.|-) \[[^\]]+\]\(([a-z-]+)\.md\)/gm);
  return [...links].map(([, name]) => name).join(' ');
}

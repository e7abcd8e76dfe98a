/**
 * The commands of package.json begin in a clone where nothing is installed, and a process does not find packages that were
 * installed after it began: up to the command that installs them, all that is imported, now or later, must be files of the
 * project alone.
 */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import manifest from '../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dir, '..');

/** Every package that a script and what it imports ask for, with the file that does. */
function packagesOf(script: string): string[] {
  const waiting = [resolve(ROOT, script)];
  const seen = new Set(waiting);
  const packages: string[] = [];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (!/\.tsx?$/.test(file)) continue;
    const imports = new Bun.Transpiler({ loader: 'ts' }).scanImports(readFileSync(file, 'utf8'));
    for (const { path } of imports) {
      if (/^(?:node|bun):/.test(path)) continue;
      if (!path.startsWith('.')) {
        packages.push(`${relative(ROOT, file)} imports ${path}`);
        continue;
      }
      const target = resolve(dirname(file), path);
      if (!seen.has(target)) waiting.push(target);
      seen.add(target);
    }
  }
  return packages;
}

test.each(Object.entries(manifest.scripts))(
  '`bun run %s` works in a fresh clone',
  (_, commands) => {
    const [first = ''] = commands.split(' && ');
    if (first === 'bun install --frozen-lockfile') return;
    const [script = ''] = first.replace(/^bun /, '').split(' ');
    expect(packagesOf(script)).toEqual([]);
    expect(readFileSync(resolve(ROOT, script), 'utf8')).toContain(
      "[bun, 'install', '--frozen-lockfile']",
    );
  },
);

test('a package behind a file that is imported later is noticed', () => {
  expect(packagesOf('build/third-party/third-party.ts')).toContain(
    'build/third-party/third-party.ts imports packageurl-js',
  );
});

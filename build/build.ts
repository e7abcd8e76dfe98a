/**
 * The executable: `build/out/svc`, everything in one file, the same bytes for the same source.
 *
 * It ignores bunfig.toml and .env of the folder it is started in: an upload of either must not run code.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { bun, root, step } from './step.ts';

const OUT = join(root, 'build', 'out');

/** Builds the executable and resolves with its path. Throws when the build fails; an earlier one then stays. */
export async function build(): Promise<string> {
  // The maps are inside the executable; those beside it must not be shipped, so they never reach OUT.
  const scratch = join(OUT, '.scratch');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  try {
    const code = await step([
      bun,
      'build',
      '--compile',
      '--minify',
      '--bytecode',
      '--format=esm',
      '--splitting',
      '--sourcemap',
      '--no-compile-autoload-dotenv',
      '--no-compile-autoload-bunfig',
      // Packages beside a handler are found by their package.json.
      '--compile-autoload-package-json',
      `--define=BUILD_VERSION=${JSON.stringify(buildVersion())}`,
      'src/main.ts',
      `--outfile=${join(scratch, 'svc')}`,
    ]);
    if (code !== 0) throw new Error(`the build ended with exit code ${code}`);
    const executable = join(OUT, 'svc');
    renameSync(join(scratch, 'svc'), executable);
    return executable;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The version of package.json and, inside a repository, the commit. */
function buildVersion(): string {
  if (Bun.which('git') === null) return manifest.version;
  const commit = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], { cwd: root });
  return commit.success
    ? `${manifest.version}+${commit.stdout.toString().trim()}`
    : manifest.version;
}

if (import.meta.main) {
  const executable = await build();
  const megabytes = (Bun.file(executable).size / 1e6).toFixed(1);
  console.log(`\nbuild/out/svc ${buildVersion()}, ${megabytes} MB`);
}

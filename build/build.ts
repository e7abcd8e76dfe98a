/**
 * The executable: `build/out/svc`, everything in one file, the same bytes for the same source.
 *
 * It ignores bunfig.toml and .env of the folder it is started in: an upload of either must not run code. The licences of what
 * it holds are inside (build/third-party/).
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { bun, root, step } from './step.ts';

const OUT = join(root, 'build', 'out');

/** Where {@link build} puts the executable for this system. */
export const executable = join(OUT, 'svc');

/** How one executable is made. */
interface Compilation {
  /** What `bun build --target` calls the system it is for; null for this one. */
  readonly target: string | null;
  /** File with what others wrote, which is put inside under its own name. */
  readonly thirdPartyFile: string;
  /** Where the executable goes; an earlier one stays when the build fails. */
  readonly to: string;
}

/** Builds the {@link executable}. Throws when the build fails; an earlier one then stays. */
export async function build(): Promise<void> {
  await withScratch('build', async (scratch) => {
    const thirdPartyFile = await writeThirdParty(scratch);
    await compile({ target: null, thirdPartyFile, to: executable });
  });
}

/** Runs `work` with an empty folder below build/out, which is removed afterwards. */
export async function withScratch<T>(
  name: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(OUT, `.${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes what others wrote, with its licences, into `folder`. Throws for what may not be in the executable. */
export async function writeThirdParty(folder: string): Promise<string> {
  const { THIRD_PARTY_FILE } = await import('../src/cli/third-party.ts');
  const file = join(folder, THIRD_PARTY_FILE);
  // Needs packages: a process that began before they were installed, as in a fresh clone, does not find them any more.
  const code = await step([bun, 'build/third-party/third-party.ts', file]);
  if (code !== 0) throw new Error(`the list of what others wrote ended with exit code ${code}`);
  return file;
}

/** Builds one executable. Throws when that fails. */
export async function compile({ target, thirdPartyFile, to }: Compilation): Promise<void> {
  // The maps are inside the executable; those beside it must not be shipped, so they never leave this folder.
  await withScratch('scratch', async (scratch) => {
    const code = await step([
      bun,
      'build',
      '--compile',
      ...(target === null ? [] : [`--target=${target}`]),
      '--minify',
      '--bytecode',
      '--format=esm',
      '--splitting',
      '--sourcemap',
      '--no-compile-autoload-dotenv',
      '--no-compile-autoload-bunfig',
      // Packages beside a handler are found by their package.json.
      '--compile-autoload-package-json',
      `--asset=${thirdPartyFile}`,
      `--define=BUILD_VERSION=${JSON.stringify(buildVersion())}`,
      'src/main.ts',
      // The name is among the bytes, so it is the same for every system.
      `--outfile=${join(scratch, 'svc')}`,
    ]);
    if (code !== 0) throw new Error(`the build ended with exit code ${code}`);
    const made = join(scratch, 'svc');
    renameSync(existsSync(made) ? made : `${made}.exe`, to);
  });
}

/** The version of package.json and, inside a repository, the commit. */
export function buildVersion(): string {
  if (Bun.which('git') === null) return manifest.version;
  const commit = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], { cwd: root });
  return commit.success
    ? `${manifest.version}+${commit.stdout.toString().trim()}`
    : manifest.version;
}

if (import.meta.main) {
  await build();
  const megabytes = (Bun.file(executable).size / 1e6).toFixed(1);
  console.log(`\nbuild/out/svc ${buildVersion()}, ${megabytes} MB`);
}

/**
 * Which packages are inside the executable: those of whose files the bundler took at least a byte, for the program itself
 * and for the scripts of its pages, which are bundled on their own (src/pages/script-bundle.ts).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { bun, root } from '../step.ts';

/** A package folder and the files of it that were bundled. */
export interface BundledPackage {
  /** Relative to the project, `node_modules/a/node_modules/b` for one that has a version of its own. */
  readonly folder: string;
  /** Paths within the folder. */
  readonly files: readonly string[];
}

/** What `bun build --metafile` writes, as far as it is read here. */
interface Metafile {
  readonly outputs: Readonly<
    Record<
      string,
      { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }
    >
  >;
}

const CLIENT = 'src/browser';
const PACKAGE_FILE = /^(?<folder>.*node_modules\/(?:@[^/]+\/)?[^/]+)\/(?<file>.+)$/;

/** The bundled packages in the order of their folders. Takes some seconds. */
export async function bundledPackages(): Promise<BundledPackage[]> {
  const files = new Map<string, Set<string>>();
  for (const path of await bundledFiles()) {
    const { folder, file } = PACKAGE_FILE.exec(path)?.groups ?? {};
    if (folder === undefined) continue;
    const found = files.get(folder) ?? new Set();
    files.set(folder, found.add(file!));
  }
  return [...files]
    .map(([folder, found]) => ({ folder, files: [...found].sort() }))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

async function bundledFiles(): Promise<string[]> {
  const program = await inputsOf(['src/main.ts', '--target=bun', '--splitting']);
  const scripts = await Promise.all(
    scriptNames().map((name) => inputsOf([`${CLIENT}/${name}.ts`, '--target=browser'])),
  );
  return [program, ...scripts].flat();
}

/** Every name that is given to the macro which bundles a page's script. */
function scriptNames(): string[] {
  const assets = readFileSync(join(root, 'src/pages/assets.ts'), 'utf8');
  const names = [...assets.matchAll(/\bbundledScript\('([\w-]+)'\)/g)].map((match) => match[1]!);
  if (names.length === 0) throw new Error('no script of a page was found in src/pages/assets.ts');
  return names;
}

async function inputsOf(args: readonly string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bundle-'));
  try {
    const metafile = join(folder, 'meta.json');
    const out = [`--outdir=${join(folder, 'out')}`, `--metafile=${metafile}`];
    const child = Bun.spawn([bun, 'build', '--minify', ...args, ...out], {
      cwd: root,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    });
    const [code, problems] = await Promise.all([child.exited, child.stderr.text()]);
    if (code !== 0) throw new Error(`${args[0]} cannot be bundled:\n${problems}`);
    const { outputs } = (await Bun.file(metafile).json()) as Metafile;
    return Object.values(outputs)
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => relative(root, resolve(root, path)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * References as executables, compiled the way the product is.
 */
import { join } from 'node:path';
import { bun, output, projectFolder } from './processes.ts';

/** Compiles a script of bench/peers into the folder and resolves with the path of the executable. */
export async function compiled(script: string, folder: string): Promise<string> {
  const path = join(folder, script.replace(/\.ts$/, ''));
  await output([
    bun,
    'build',
    '--compile',
    '--minify',
    '--bytecode',
    '--format=esm',
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    join(projectFolder, 'bench', 'peers', script),
    `--outfile=${path}`,
  ]);
  return path;
}

/**
 * Running the project's own tools one after the other, from whatever folder the script was called in.
 *
 * Imports nothing that has to be installed first: on a fresh machine these scripts are what installs it.
 */
import { resolve } from 'node:path';

/** The folder of package.json. */
export const root = resolve(import.meta.dir, '..');

/** This very Bun; `bun` need not be on the PATH. */
export const bun = process.execPath;

/** Longest any single step may take; a hanging one must not hang the whole run. */
const STEP_TIMEOUT_MS = 30 * 60_000;
/** Variables that make `bun test` hide the passing lines. */
const QUIETING = ['AGENT', 'CLAUDECODE', 'REPL_ID'];

/** Runs a command in the project folder with its output shown; resolves with its exit code, 1 when it was killed. */
export async function step(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  console.log(`\n$ ${command.map((word) => (word === bun ? 'bun' : word)).join(' ')}`);
  const child = Bun.spawn([...command], {
    cwd: root,
    env: { ...environment(), ...env },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    timeout: STEP_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  await child.exited;
  return child.exitCode ?? 1;
}

function environment(): Record<string, string> {
  const given = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !QUIETING.includes(name),
  );
  return Object.fromEntries(given) as Record<string, string>;
}

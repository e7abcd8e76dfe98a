/**
 * The program under test as a process: from source, or the executable that TEST_BINARY names.
 *
 * Only the environment a test gives reaches it, so a developer's own SVC_ variables change nothing.
 */
import { resolve } from 'node:path';

const binary = process.env['TEST_BINARY'];

/** The command line that starts `svc`. */
export const program: readonly string[] = binary
  ? [resolve(binary)]
  : [process.execPath, resolve(import.meta.dir, '../../src/main.ts')];

/** How one run ended and what it printed. */
export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; empty unless given. */
  readonly input?: string;
}

/** Runs `svc` to its end. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = Bun.spawn([...program, ...args], {
    cwd: options.cwd ?? process.cwd(),
    env: environment(options.env),
    stdin: new Blob([options.input ?? '']),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [code, out, err] = await Promise.all([
    child.exited,
    child.stdout.text(),
    child.stderr.text(),
  ]);
  return { code, out, err };
}

/** A clean environment with additions. */
export function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...more };
}

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
/** How long output may come after the end of its command. */
const LATE_OUTPUT_MS = 10_000;
/** Variables that make `bun test` hide the passing lines. */
const QUIETING = ['AGENT', 'CLAUDECODE', 'REPL_ID'];

/** How a command ended and all that it printed. */
export interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a command in the project folder with its output shown; resolves with its exit code, 1 when it was killed. */
export async function step(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = start(command, env, 'inherit');
  await child.exited;
  return child.exitCode ?? 1;
}

/** As {@link step}, and remembers what was printed. */
export async function heardStep(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = start(command, env, 'pipe');
  const heard: string[] = [];
  const pass = async (from: ReadableStream<Uint8Array>, to: NodeJS.WriteStream): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of from) {
      heard.push(decoder.decode(chunk, { stream: true }));
      to.write(chunk);
    }
  };
  const passing = [pass(child.stdout, process.stdout), pass(child.stderr, process.stderr)];
  await child.exited;
  // What the command left running may hold its output open for ever.
  await Promise.race([Promise.all(passing), Bun.sleep(LATE_OUTPUT_MS)]);
  if (child.signalCode !== null) heard.push(`\nended by ${child.signalCode}\n`);
  return { code: child.exitCode ?? 1, output: Bun.stripANSI(heard.join('')) };
}

function start<Output extends 'inherit' | 'pipe'>(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  output: Output,
) {
  console.log(`\n$ ${command.map((word) => (word === bun ? 'bun' : word)).join(' ')}`);
  return Bun.spawn([...command], {
    cwd: root,
    env: { ...environment(), ...env },
    stdin: 'ignore',
    stdout: output,
    stderr: output,
    timeout: STEP_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
}

function environment(): Record<string, string> {
  const given = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !QUIETING.includes(name),
  );
  return Object.fromEntries(given) as Record<string, string>;
}

/**
 * Runs a test program under strace, which lets chosen system calls fail, wait, or kill the program.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TemporaryFolder } from '../support/temporary-folder.ts';
import { patienceFor } from '../support/patience.ts';

/** What a run reported, and what it left. */
interface Run {
  readonly lines: string[];
  /** The last version reported as written; 0 when none was. */
  readonly acked: number;
  readonly failures: string[];
}

const PROGRAM = join(import.meta.dir, 'atomic-writer.ts');

/** The command line of the writer program. */
export function writerCommand(writer: string, path: string, first: number, last: number): string[] {
  return [process.execPath, PROGRAM, writer, path, String(first), String(last)];
}

/**
 * `command` under strace with the given `inject` expressions; the trace goes to `trace` in the folder. `when=n` counts
 * the calls of each thread, of which the runtime has several. With `paths`, only calls about one of them count.
 */
export function straced(
  folder: TemporaryFolder,
  injections: readonly string[],
  command: readonly string[],
  paths: readonly string[] = [],
): string[] {
  const expressions = injections.flatMap((injection) => ['-e', `inject=${injection}`]);
  const calls = injections.map((injection) => injection.split(':')[0]).join(',');
  const trace = ['-o', folder.at('trace'), '-e', `trace=${calls}`];
  const about = paths.flatMap((path) => ['-P', path]);
  return ['strace', '-f', '-qq', ...about, ...trace, ...expressions, ...command];
}

/** Runs a command to its end, however it ends. */
export async function run(command: string[]): Promise<Run> {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  const found = readRun(output);
  if (!found.lines.includes('ready')) throw new Error(`the writer did not start: ${errors}`);
  return found;
}

/** What the reported lines say. */
export function readRun(output: string): Run {
  const lines = output.split('\n').filter((line) => line !== '');
  const acked = lines
    .filter((line) => line.startsWith('acked '))
    .map((line) => Number(line.slice(6)));
  return {
    lines,
    acked: Math.max(0, ...acked),
    failures: lines.filter((line) => line.startsWith('failed ')),
  };
}

/** Resolves when the traced program has entered a call; its name appears in the trace before the call is made. */
export async function enteredCall(folder: TemporaryFolder, call: string): Promise<void> {
  const trace = folder.at('trace');
  const deadline = performance.now() + patienceFor(10_000);
  while (!existsSync(trace) || !readFileSync(trace, 'utf8').includes(`${call}(`)) {
    if (performance.now() > deadline) throw new Error(`${call} was never called`);
    await Bun.sleep(2);
  }
}

/**
 * The process: hands argv and the standard streams to the command line and leaves with its exit code.
 *
 * The only place that ends the process, and only after what was printed has reached the other side.
 */
import { main } from './cli/cli.ts';
import { printer } from './cli/printer.ts';
import { terminalInput } from './cli/terminal-input.ts';

/** A log reader that hangs must not fill the memory of a server; characters. */
const MAX_WAITING_DIAGNOSTICS = 16_777_216;

const out = printer(process.stdout);
const err = printer(process.stderr, MAX_WAITING_DIAGNOSTICS);
const exitCode = await main(process.argv.slice(2), {
  out: out.print,
  err: err.print,
  input: terminalInput(process.stdin, err.print),
  streams: { input: process.stdin, output: process.stdout, diagnostics: process.stderr },
  env: process.env,
  cwd: process.cwd(),
});
await out.drained();
if (out.lost !== null) err.print(`The output could not be written (${out.lost})\n`);
await err.drained();
process.exit(out.lost !== null && exitCode === 0 ? 1 : exitCode);

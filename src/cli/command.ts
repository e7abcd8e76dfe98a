/**
 * The contract of a command: one file under `commands/` exports one, `commands/index.ts` lists it.
 *
 * `describe` runs for every start of the program, so it and the module's imports stay light; `run` imports what it
 * needs when it is called. A command reports failure by throwing AppError; `cli.ts` prints it and picks the exit code.
 */
import type { Command as Parser } from 'commander';
import type { Readable, Writable } from 'node:stream';
import type { PasswordInput } from './password-prompt.ts';

/** What a command has to do with the outside: the process in `main.ts`. */
export interface Outside {
  /** Results (standard output). */
  out(text: string): void;
  /** Diagnostics (standard error). */
  err(text: string): void;
  readonly input: PasswordInput;
  /** The standard streams as they are: for archives, and to know which is a terminal. */
  readonly streams: {
    readonly input: Readable & { readonly isTTY?: boolean };
    readonly output: Writable & { readonly isTTY?: boolean };
    readonly diagnostics: { readonly isTTY?: boolean };
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** One parsed command line. */
export interface Invocation {
  /** Positional arguments in order; absent optional ones are left out. */
  readonly positionals: readonly string[];
  /** Flags by camel-case name: `--password-stdin` is `passwordStdin`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly outside: Outside;
  /** Has `work` done when the command has ended, however it did. */
  atEnd(work: () => void): void;
}

/** One command. */
export interface Command {
  readonly name: string;
  /** One line for `svc --help`. */
  readonly summary: string;
  /** Left out of the help: for the program's own use. */
  readonly hidden?: boolean;
  /** Commands below this one, which then only stands for them and is never run itself. */
  readonly commands?: readonly Command[];
  /** Declares arguments and flags. */
  describe(parser: Parser): void;
  /** Resolves with the exit code: 0 success, 1 failure. */
  run(invocation: Invocation): Promise<number>;
}

/**
 * A command: one file under `commands/` exports one, `commands/index.ts` lists it.
 *
 * `describe` runs on every start, so it and the module's imports stay light; `run` imports what it
 * needs. Commands fail by throwing AppError; `cli.ts` prints it and picks the exit code.
 */
import type { Command as Parser } from 'commander';
import type { Readable, Writable } from 'node:stream';
import type { PasswordInput } from './password-prompt.ts';

export interface Outside {
  /** Results: standard output. */
  out(text: string): void;
  /** Diagnostics: standard error. */
  err(text: string): void;
  readonly input: PasswordInput;
  /** The raw streams, for archives and terminal detection. */
  readonly streams: {
    readonly input: Readable & { readonly isTTY?: boolean };
    readonly output: Writable & { readonly isTTY?: boolean };
    readonly diagnostics: { readonly isTTY?: boolean };
  };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export interface Invocation {
  /** Absent optional arguments are left out. */
  readonly positionals: readonly string[];
  /** Flags by camel-case name: `--password-stdin` is `passwordStdin`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly outside: Outside;
  /** Runs `work` after the command, even if it fails. */
  atEnd(work: () => void): void;
}

export interface Command {
  readonly name: string;
  /** One line for `svc --help`. */
  readonly summary: string;
  /** Internal: not in the help. */
  readonly hidden?: boolean;
  /** Subcommands; a command that has them is never run itself. */
  readonly commands?: readonly Command[];
  describe(parser: Parser): void;
  /** Resolves with the exit code, 0 or 1. */
  run(invocation: Invocation): Promise<number>;
}

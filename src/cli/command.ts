/**
 * A command: `commands/index.ts` lists it with its flags, a module beside it does the work.
 *
 * The list is read on every start, so what it imports stays light; the module is loaded when the
 * command runs. Commands fail by throwing AppError; `cli.ts` prints it and picks the exit code.
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
  usage(): string;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Internal: not in the help. */
  readonly hidden?: boolean;
  /** Subcommands; a command that has them is never run itself. */
  readonly commands?: readonly Command[];
  describe(parser: Parser): void;
  /** Resolves with the exit code, 0 or 1. */
  run(invocation: Invocation): Promise<number>;
}

/** A `text` that ends in `(required).` makes it so; a name in brackets is an argument. */
export type Flag = readonly [flag: string, text: string, standard?: string];

export const JSON_FLAG: Flag = ['--json', 'Print JSON.'];
export const ROOT_FLAG: Flag = ['--root <path>', 'The same as [root].'];

/** Resolves with the exit code, 0 or 1, or with a text that is printed before an exit with 0. */
export type Work = (invocation: Invocation) => Promise<number | string>;

/** A command without subcommands; `load` imports its work. */
export function command(
  name: string,
  summary: string,
  load: () => Promise<Work>,
  ...flags: readonly (Flag | ((parser: Parser) => void))[]
): Command {
  return {
    name,
    summary,
    describe: (parser) => {
      for (const one of flags) {
        if (typeof one === 'function') one(parser);
        else describeFlag(parser, one);
      }
    },
    run: async (invocation) => {
      const work = await load();
      const result = await work(invocation);
      if (typeof result === 'number') return result;
      invocation.outside.out(result);
      return 0;
    },
  };
}

function describeFlag(parser: Parser, [flag, text, standard]: Flag): void {
  if (/^[[<]/.test(flag)) parser.argument(flag, text);
  else if (text.endsWith('(required).')) parser.requiredOption(flag, text);
  else parser.option(flag, text, standard);
}

/**
 * Shared by the `svc admin` commands. They run the server's operations as the operator, whether a
 * server runs or not.
 */
import type { Command as Parser } from 'commander';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AccountsApp } from '../app.ts';
import { AppError } from '../base/errors.ts';
import type { Config } from '../config/schema.ts';
import type { Administrator } from '../operations/administration.ts';
import type { Command, Invocation } from './command.ts';
import { commandLog, describeConfiguration, loadInvocation } from './configuration.ts';

/** A `text` that ends in `(required).` makes it so. */
export type Flag = readonly [flag: string, text: string, standard?: string];

export const ROOT_FLAG: Flag = ['--root <path>', 'The same as [root].'];
export const JSON_FLAG: Flag = ['--json', 'Print JSON.'];

/** What a command is called with; what it resolves with is printed. */
export interface AdminCall {
  readonly config: Config;
  readonly accounts: AccountsApp;
  readonly operator: Administrator;
  readonly invocation: Invocation;
  /** Value of a required flag. */
  text(name: string): string;
}

export type AdminWork = (call: AdminCall) => Promise<string>;

/** Prints what `load` leads to; it imports what the command needs, which no other one should wait for. */
export function adminCommand(
  name: string,
  summary: string,
  load: () => Promise<(invocation: Invocation) => Promise<string>>,
  flags: readonly Flag[],
): Command {
  return {
    name,
    summary,
    describe: (parser) => {
      describeConfiguration(parser);
      describeFlags(parser, flags);
    },
    run: async (invocation) => {
      const work = await load();
      invocation.outside.out(await work(invocation));
      return 0;
    },
  };
}

export function describeFlags(parser: Parser, flags: readonly Flag[]): void {
  for (const [flag, text, standard] of flags) {
    if (flag.startsWith('[')) parser.argument(flag, text);
    else if (text.endsWith('(required).')) parser.requiredOption(flag, text);
    else parser.option(flag, text, standard);
  }
}

/** Throws `usage` when `[root]` and `--root` differ. */
export async function loadAdmin(invocation: Invocation): Promise<Config> {
  const { positionals, options } = invocation;
  const root = options['root'];
  if (typeof root !== 'string') return (await loadInvocation(invocation)).config;
  if (positionals[0] !== undefined && positionals[0] !== root) {
    throw new AppError('usage', '--root: the root is given twice, and differently');
  }
  return (await loadInvocation({ ...invocation, positionals: [root] })).config;
}

/** The first argument is the root only if it names an existing directory. */
export function rootAndNames({ positionals, outside }: Invocation): {
  root: readonly string[];
  names: readonly string[];
} {
  const [first] = positionals;
  const isRoot = first !== undefined && existsSync(`${resolve(outside.cwd, first)}/.`);
  return { root: positionals.slice(0, isRoot ? 1 : 0), names: positionals.slice(isRoot ? 1 : 0) };
}

export async function withAccounts(invocation: Invocation, work: AdminWork): Promise<string> {
  const config = await loadAdmin(invocation);
  const { openAccounts } = await import('../app.ts');
  const { OPERATOR } = await import('../operations/administration.ts');
  const accounts = await openAccounts(config, commandLog(config, invocation.outside));
  try {
    const text = (name: string): string => String(invocation.options[name]);
    return await work({ config, accounts, operator: OPERATOR, invocation, text });
  } finally {
    await accounts.close();
  }
}

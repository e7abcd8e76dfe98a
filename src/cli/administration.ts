/**
 * Shared by the `svc admin` commands. They run the server's operations as the operator, whether a
 * server runs or not.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type AccountsApp, openAccounts } from '../app.ts';
import { AppError } from '../base/errors.ts';
import type { Config } from '../config/settings.ts';
import { type Administrator, OPERATOR } from '../operations/administration.ts';
import type { Invocation, Work } from './command.ts';
import { commandLog, loadInvocation } from './configuration.ts';

/** What the work resolves with is printed. */
export interface AdminCall {
  readonly config: Config;
  readonly accounts: AccountsApp;
  readonly operator: Administrator;
  readonly invocation: Invocation;
  text(name: string): string;
}

export type AdminWork = (call: AdminCall) => Promise<string>;

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
  const accounts = await openAccounts(config, commandLog(config, invocation.outside));
  try {
    const text = (name: string): string => String(invocation.options[name]);
    return await work({ config, accounts, operator: OPERATOR, invocation, text });
  } finally {
    await accounts.close();
  }
}

export function onAccounts<Name extends string>(
  works: Readonly<Record<Name, AdminWork>>,
): Readonly<Record<Name, Work>> {
  const names = Object.keys(works) as Name[];
  const ready = names.map((name): [Name, Work] => [
    name,
    (invocation) => withAccounts(invocation, works[name]),
  ]);
  return Object.fromEntries(ready) as Record<Name, Work>;
}

/**
 * Commands by name; names from outside are looked up in a map without inheritance.
 *
 * Made when first asked for: the list and the commands that hold queries of their own import each other.
 */
import type { Command } from './command.ts';
import { commands } from './commands/index.ts';

let byName: ReadonlyMap<string, Command> | null = null;

function table(): ReadonlyMap<string, Command> {
  byName ??= new Map(commands.map((command) => [command.name, command]));
  return byName;
}

/** The command of that exact name. */
export function findCommand(name: string): Command | undefined {
  return table().get(name);
}

/** All names. */
export function commandNames(): readonly string[] {
  return [...table().keys()];
}

/** Commands by exact name, built on first use because the list and the commands that hold queries import each other. */
import type { Command } from './command.ts';
import { commands } from './commands/index.ts';

let byName: ReadonlyMap<string, Command> | null = null;

function table(): ReadonlyMap<string, Command> {
  byName ??= new Map(commands.map((command) => [command.name, command]));
  return byName;
}

export function findCommand(name: string): Command | undefined {
  return table().get(name);
}

export function commandNames(): readonly string[] {
  return [...table().keys()];
}

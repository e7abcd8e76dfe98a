import type { Command } from './command.ts';
import { commands } from './commands/index.ts';

const byName: ReadonlyMap<string, Command> = new Map(
  commands.map((command) => [command.name, command]),
);

export const commandNames: readonly string[] = [...byName.keys()];

export function findCommand(name: string): Command | undefined {
  return byName.get(name);
}

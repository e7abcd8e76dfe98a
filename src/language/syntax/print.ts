import type { Query, Stage } from './ast.ts';
import { findCommand } from '../command-table.ts';
import { printFlagArguments } from './flag-arguments.ts';

export function printQuery(query: Query): string {
  return query.stages.map(printStage).join(' | ');
}

function printStage(stage: Stage): string {
  if (stage.arguments.form === 'flag') {
    const args = printFlagArguments(stage.arguments);
    return args === '' ? stage.command : `${stage.command} ${args}`;
  }
  // An implicit search gets its name, because its text alone might begin like a command.
  const args = findCommand(stage.command)!.print(stage.arguments.args, { printNested: printQuery });
  return args === '' ? stage.command : `${stage.command} ${args}`;
}

/** The language reference and command help, generated from the files of commands/. */
import { flagAggregateNames, terseAggregates } from './expressions/aggregates.ts';
import type { Command } from './command.ts';
import { commands } from './commands/index.ts';
import { LOOKUPS } from './expressions/condition.ts';
import { functions, SPECIAL_FUNCTIONS } from './expressions/functions.ts';
import { BUILT_IN_PLACEHOLDERS } from './syntax/placeholder.ts';

export function reference(sources: readonly string[]) {
  return {
    version: 1,
    commands: commands.map((command) => ({
      name: command.name,
      forms: command.forms,
      summary: command.summary,
      syntax: syntaxOf(command),
      flags: command.flags.map((flag) => ({
        name: flag.name,
        type: flag.type,
        required: flag.isRequired ?? false,
        repeatable: flag.isRepeatable ?? false,
        default: flag.default ?? null,
        help: flag.help,
      })),
      row_wise: command.isRowWise,
      examples: command.examples,
    })),
    functions: [
      ...(['terse', 'flag'] as const).flatMap((form) =>
        [...functions[form]].map(([name, { args, summary }]) => ({
          name,
          forms: [form],
          args,
          summary,
        })),
      ),
      ...SPECIAL_FUNCTIONS.map((one) => ({ ...one, forms: ['flag'] })),
    ],
    aggregates: [
      ...[...terseAggregates].map(([name, { summary }]) => ({ name, forms: ['terse'], summary })),
      { name: 'perc<N>', forms: ['terse'], summary: 'percentile, interpolated; also p<N>' },
      ...flagAggregateNames.map((name) => ({
        name,
        forms: ['flag'],
        summary:
          name === 'StdDev' || name === 'Variance'
            ? 'of all values'
            : `as ${name.toLowerCase()} of the terse form`,
      })),
    ],
    lookups: LOOKUPS,
    placeholders: BUILT_IN_PLACEHOLDERS,
    sources,
  };
}

function syntaxOf({ syntax }: Command): string {
  return [syntax.flag, syntax.terse].filter((line) => line !== undefined).join('\n');
}

export function commandHelp(command: Command): string[] {
  const lines = [
    command.summary,
    '',
    ...syntaxOf(command)
      .split('\n')
      .map((line) => `  ${line}`),
  ];
  if (command.flags.length > 0) {
    lines.push('', 'Options');
    for (const flag of command.flags) {
      const notes = [
        flag.isRequired ? 'required' : null,
        flag.isRepeatable ? 'repeatable' : null,
        flag.default === undefined ? null : `default ${flag.default}`,
        flag.choices ? flag.choices.join(', ') : null,
      ].filter((note) => note !== null);
      lines.push(
        `  --${flag.name.padEnd(14)}${flag.help}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`,
      );
    }
  }
  lines.push('', 'Examples', ...command.examples.map((example) => `  ${example}`));
  return lines;
}

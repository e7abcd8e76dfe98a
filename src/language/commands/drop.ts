import { defineCommand } from '../command.ts';
import { allKept, projected } from '../run/shape.ts';

export const drop = defineCommand({
  name: 'drop',
  forms: ['flag'],
  summary: 'Removes columns; unknown names are ignored.',
  syntax: { flag: 'drop --fields=<list>' },
  flags: [{ name: 'fields', type: 'list', isRequired: true, help: 'columns' }],
  isRowWise: true,
  examples: [
    `search | drop --fields='["data","extracted_fields","created","updated"]' | head --n=1`,
  ],
  bindFlags: (flags, input) => {
    const names = new Set(flags.names('fields'));
    return projected(
      input!,
      allKept(input!).filter(({ name, isHidden }) => isHidden || !names.has(name)),
    );
  },
});

import { defineCommand } from '../command.ts';
import {
  bindFrequent,
  parseFrequent,
  printFrequent,
  type FrequentArguments,
} from '../run/frequent.ts';

export const rare = defineCommand<FrequentArguments>({
  name: 'rare',
  forms: ['terse'],
  summary: 'Counts combinations of values and shows the least frequent, with their share.',
  syntax: { terse: 'rare [<n>] [limit=<n>] [showperc=false] <field>, … [BY <field>, …]' },
  isRowWise: false,
  examples: ['* | rare limit=2 host', '* | rare 1 host BY index'],
  parse: parseFrequent,
  print: printFrequent,
  bind: (args, input, context) => bindFrequent(args, input!, 1, context),
});

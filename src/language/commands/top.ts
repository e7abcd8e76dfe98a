import { defineCommand } from '../command.ts';
import {
  bindFrequent,
  parseFrequent,
  printFrequent,
  type FrequentArguments,
} from '../run/frequent.ts';

export const top = defineCommand<FrequentArguments>({
  name: 'top',
  forms: ['terse'],
  summary: 'Counts combinations of values and shows the most frequent, with their share.',
  syntax: { terse: 'top [<n>] [limit=<n>] [showperc=false] <field>, … [BY <field>, …]' },
  isRowWise: false,
  examples: ['* | top limit=2 host', '* | top 1 host BY index'],
  parse: parseFrequent,
  print: printFrequent,
  bind: (args, input, context) => bindFrequent(args, input!, -1, context),
});

import { defineCommand } from '../command.ts';
import { tail as tailRows } from '../run/operator.ts';
import { parseCount, readCount, type Count } from '../syntax/count.ts';

export const tail = defineCommand<Count>({
  name: 'tail',
  forms: ['flag', 'terse'],
  summary: 'Keeps the last n rows, in their order.',
  syntax: { flag: 'tail [--n=<n>]', terse: 'tail <n>' },
  flags: [{ name: 'n', type: 'int', default: 10, help: 'number of rows' }],
  isRowWise: false,
  examples: ['search | tail --n=2 | fields id', '* | tail 2 | table id'],
  parse: parseCount,
  print: String,
  bindFlags: (flags, input) => tailRows(input!, flags.count('n') ?? 10),
  bind: (count, input, context) => tailRows(input!, readCount('tail', count, context.parameters)),
});

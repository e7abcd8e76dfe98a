import { defineCommand } from '../command.ts';
import { head as headRows } from '../run/operator.ts';
import { parseCount, readCount, type Count } from '../syntax/count.ts';

export const head = defineCommand<Count>({
  name: 'head',
  forms: ['flag', 'terse'],
  summary: 'Keeps the first n rows.',
  syntax: { flag: 'head [--n=<n>]', terse: 'head <n>' },
  flags: [{ name: 'n', type: 'int', default: 10, help: 'number of rows' }],
  isRowWise: false,
  examples: ['search | head --n=2 | fields id', '* | head 2 | table id'],
  parse: parseCount,
  print: String,
  bindFlags: (flags, input) => headRows(input!, flags.count('n') ?? 10),
  bind: (count, input, context) => headRows(input!, readCount('head', count, context.parameters)),
});

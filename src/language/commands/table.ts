import { defineCommand } from '../command.ts';
import { bindFields, parseFields, printFields, type FieldArguments } from '../syntax/field-list.ts';

export const table = defineCommand<FieldArguments>({
  name: 'table',
  forms: ['terse'],
  summary: 'Shows exactly these columns, in order.',
  syntax: { terse: 'table <field>, …   (* stands for any run of characters)' },
  isRowWise: true,
  examples: ['* | table id, host, code'],
  parse: parseFields,
  print: printFields,
  bind: (args, input) => bindFields(args, input!),
});

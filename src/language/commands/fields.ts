import { defineCommand } from '../command.ts';
import { bindFields, parseFields, printFields, type FieldArguments } from '../syntax/field-list.ts';

export const fields = defineCommand<FieldArguments>({
  name: 'fields',
  forms: ['terse'],
  summary: 'Shows exactly these columns, in order; with - leaves them out.',
  syntax: { terse: 'fields [+|-] <field>, …   (* stands for any run of characters)' },
  isRowWise: true,
  examples: [
    '* | fields id, host',
    '* | fields - data, extracted_fields, created, updated | head 1',
  ],
  parse: parseFields,
  print: printFields,
  bind: (args, input) => bindFields(args, input!),
});

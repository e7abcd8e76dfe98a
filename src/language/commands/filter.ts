import { defineCommand } from '../command.ts';
import { conditionTest, readCondition, splitCondition } from '../expressions/condition.ts';
import { noteIndexes } from '../plan/index-notices.ts';
import { filtered } from '../run/operator.ts';
import { Problem } from '../syntax/problem.ts';

export const filter = defineCommand({
  name: 'filter',
  forms: ['flag'],
  summary: 'Keeps the rows for which path__lookup=value holds.',
  syntax: { flag: 'filter --condition=<condition>' },
  flags: [{ name: 'condition', type: 'condition', isRequired: true, help: 'path__lookup=value' }],
  isRowWise: true,
  examples: [`search | filter --condition='extracted_fields__code__gte=400' | fields id`],
  bindFlags: (flags, input, context) => {
    const { text, place } = flags.word('condition')!;
    const cut = splitCondition(text);
    if (cut === null) {
      const message = `Invalid filter condition: ${text}: expected field__lookup=value`;
      throw new Problem('bad_condition', message, { place });
    }
    const condition = readCondition(cut.path, cut.value, {
      schema: input!,
      parameters: context.parameters,
      place,
      unknownText: (column) => `Invalid filter condition: ${text}: unknown column '${column}'`,
    });
    noteIndexes(condition, input!, context);
    return filtered(input!, conditionTest(condition));
  },
});

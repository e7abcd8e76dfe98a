import type { Expression, Word } from '../syntax/ast.ts';
import { chained } from '../run/chain.ts';
import { defineCommand, expressionContext } from '../command.ts';
import { compileExpression, typeOfExpression } from '../expressions/evaluate.ts';
import { parseExpression, printExpression, printName } from '../expressions/expression.ts';
import type { Compiled } from '../run/operator.ts';
import { setting } from './annotate.ts';

interface Setting {
  readonly field: Word;
  readonly expression: Expression;
}

export const evaluate = defineCommand<readonly Setting[]>({
  name: 'eval',
  forms: ['terse'],
  summary: 'Sets columns from expressions; later ones see earlier ones.',
  syntax: { terse: 'eval <field>=<expression>, …' },
  isRowWise: true,
  examples: ['* | eval level=case(code>=500,"err",code>=400,"warn",true,"ok") | table id, level'],
  parse: (reader) => {
    const settings: Setting[] = [];
    do {
      const field = reader.name();
      if (!reader.take('=')) throw reader.expected("'='");
      settings.push({ field, expression: parseExpression(reader) });
    } while (reader.take(','));
    return settings;
  },
  print: (settings) =>
    settings
      .map(({ field, expression }) => `${printName(field.text)}=${printExpression(expression)}`)
      .join(', '),
  bind: (settings, input, context) => {
    const steps: Compiled[] = [];
    let schema = input!;
    for (const { field, expression } of settings) {
      const value = compileExpression(expression, expressionContext(schema, 'terse', context));
      const step = setting(
        schema,
        field.text,
        typeOfExpression(expression, schema, 'terse'),
        value,
      );
      steps.push(step);
      schema = step.schema;
    }
    return chained(input!, steps);
  },
});

import type { Evaluate } from '../expressions/value.ts';
import { defineCommand, expressionContext, type StageContext } from '../command.ts';
import { compileExpression, typeOfExpression } from '../expressions/evaluate.ts';
import { parseFlagExpression } from '../syntax/flag-expression.ts';
import { mapped, unchanged, type Compiled } from '../run/operator.ts';
import { chained } from '../run/chain.ts';
import type { ColumnType, Schema } from '../run/schema.ts';
import { withColumns } from '../run/shape.ts';

/** No budget is smaller. */
const COUNTED_CHARACTERS = 4_096;

export function setting(
  input: Schema,
  name: string,
  type: ColumnType,
  evaluate: Evaluate,
): Compiled {
  const { schema, positions } = withColumns(input, [{ name, type }]);
  const [position] = positions;
  return mapped(schema, (row, meter) => {
    const next = row.slice();
    while (next.length < position!) next.push(null);
    const value = evaluate(row);
    if (typeof value === 'string' && value.length > COUNTED_CHARACTERS) {
      // The text counts while it passes.
      meter.hold(value.length * 2);
      meter.hold(value.length * -2);
    }
    next[position!] = value;
    return next;
  });
}

export const annotate = defineCommand({
  name: 'annotate',
  forms: ['flag'],
  summary: 'Adds or overwrites columns computed from each row; later ones see earlier ones.',
  syntax: { flag: 'annotate --set=<name>=<expression> …' },
  flags: [{ name: 'set', type: 'expression', isRepeatable: true, help: 'name=expression' }],
  isRowWise: true,
  examples: [`search --select='["id"]' --limit=2 | annotate --set='double=id*2' --set='half=id/2'`],
  bindFlags: (flags, input, context: StageContext) => {
    const steps: Compiled[] = [];
    let schema = input!;
    for (const { text, place } of flags.words('set')) {
      if (!text.includes('=')) continue;
      const name = text.slice(0, text.indexOf('=')).trim();
      const { expression } = parseFlagExpression(text.slice(text.indexOf('=') + 1), place);
      const evaluate = compileExpression(expression, expressionContext(schema, 'flag', context));
      const step = setting(schema, name, typeOfExpression(expression, schema, 'flag'), evaluate);
      steps.push(step);
      schema = step.schema;
    }
    return steps.length === 0 ? unchanged(input!) : chained(input!, steps);
  },
});

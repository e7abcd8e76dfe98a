import { defineCommand, expressionContext, type StageContext } from '../command.ts';
import { compileColumn, compileExpression } from '../expressions/evaluate.ts';
import { parseExpression, printExpression, printName } from '../expressions/expression.ts';
import { chained, mapped, type Rows, filtered } from '../run/operator.ts';
import type { CellType, Schema } from '../run/schema.ts';
import { withColumns } from '../run/shape.ts';
import type { Expression, Form } from '../syntax/ast.ts';
import { parseFlagExpression } from '../syntax/flag-expression.ts';
import type { Evaluate } from '../expressions/value.ts';

/** No budget is smaller. */
const COUNTED_CHARACTERS = 4_096;

export function setting(
  input: Schema,
  name: string,
  { get, ...type }: CellType & { readonly get: Evaluate },
): Rows {
  const { schema, positions } = withColumns(input, [{ name, ...type }]);
  const position = positions[0]!;
  return mapped(schema, (row, meter) => {
    const value = get(row);
    if (typeof value === 'string' && value.length > COUNTED_CHARACTERS) {
      // The text counts while it passes.
      meter.hold(value.length * 2);
      meter.hold(value.length * -2);
    }
    // `set` with a list of one took 15 % more of a query with five columns.
    const next = row.slice();
    while (next.length < position) next.push(null);
    next[position] = value;
    return next;
  });
}

interface Setting {
  readonly name: string;
  readonly expression: Expression;
}

function settings(
  input: Schema,
  form: Form,
  given: Iterable<Setting>,
  context: StageContext,
): Rows {
  const steps: Rows[] = [];
  for (const { name, expression } of given) {
    const schema = steps.at(-1)?.schema ?? input;
    const column = compileColumn(expression, expressionContext(schema, form, context));
    steps.push(setting(schema, name, column));
  }
  return chained(input, steps);
}

export const evaluate = defineCommand<readonly Setting[]>({
  name: 'eval',
  summary: 'Sets columns from expressions; later ones see earlier ones.',
  syntax: { terse: 'eval <field>=<expression>, …' },
  isRowWise: true,
  examples: ['* | eval level=case(code>=500,"err",code>=400,"warn",true,"ok") | table id, level'],
  parse: (reader) =>
    reader.list(() => {
      const name = reader.name().text;
      if (!reader.take('=')) throw reader.expected("'='");
      return { name, expression: parseExpression(reader) };
    }),
  print: (given) =>
    given
      .map(({ name, expression }) => `${printName(name)}=${printExpression(expression)}`)
      .join(', '),
  bind: (given, input, context) => settings(input, 'terse', given, context),
});

export const annotate = defineCommand({
  name: 'annotate',
  summary: 'Adds or overwrites columns computed from each row; later ones see earlier ones.',
  syntax: { flag: 'annotate --set=<name>=<expression> …' },
  flags: [{ name: 'set', type: 'expression', isRepeatable: true, help: 'name=expression' }],
  isRowWise: true,
  examples: [`search --select='["id"]' --limit=2 | annotate --set='double=id*2' --set='half=id/2'`],
  bindFlags: (flags, input, context) => {
    const words = flags
      .words('set')
      .values()
      .filter(({ text }) => text.includes('='));
    // One by one: an error in one comes before those of the next.
    const given = words.map(({ text, place }) => {
      const [name = ''] = text.split('=', 1);
      const { expression } = parseFlagExpression(text.slice(name.length + 1), place);
      return { name: name.trim(), expression };
    });
    return settings(input, 'flag', given, context);
  },
});

export const where = defineCommand<Expression>({
  name: 'where',
  summary: 'Keeps the rows for which an expression is true.',
  syntax: { terse: 'where <expression>' },
  isRowWise: true,
  examples: ['* | where code>=404 AND host!="beta" | table id'],
  parse: parseExpression,
  print: printExpression,
  bind: (expression, input, context) => {
    const test = compileExpression(expression, expressionContext(input, 'terse', context));
    return filtered(input, (row) => test(row) === true);
  },
});

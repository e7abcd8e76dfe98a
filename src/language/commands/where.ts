import { defineCommand, expressionContext } from '../command.ts';
import { compileExpression } from '../expressions/evaluate.ts';
import { parseExpression, printExpression } from '../expressions/expression.ts';
import { filtered } from '../run/operator.ts';
import type { Expression } from '../syntax/ast.ts';

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

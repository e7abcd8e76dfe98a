import type { Expression } from '../ast.ts';
import { defineCommand, expressionContext } from '../command.ts';
import { compileExpression } from '../evaluate.ts';
import { parseExpression, printExpression } from '../expression.ts';
import { filtered } from '../operator.ts';

export const where = defineCommand<Expression>({
  name: 'where',
  forms: ['terse'],
  summary: 'Keeps the rows for which an expression is true.',
  syntax: { terse: 'where <expression>' },
  isRowWise: true,
  examples: ['* | where code>=404 AND host!="beta" | table id'],
  parse: parseExpression,
  print: printExpression,
  bind: (expression, input, context) => {
    const test = compileExpression(expression, expressionContext(input!, 'terse', context));
    return filtered(input!, (row) => test(row) === true);
  },
});

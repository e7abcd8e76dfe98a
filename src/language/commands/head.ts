import { defineCommand } from '../command.ts';
import { head as first, type Rows, tail as last } from '../run/operator.ts';
import type { Schema } from '../run/schema.ts';
import { parseCount, readCount, type Count } from '../syntax/count.ts';

function cutting(
  name: 'head' | 'tail',
  summary: string,
  cut: (schema: Schema, count: number) => Rows,
) {
  return defineCommand<Count>({
    name,
    summary,
    syntax: { flag: `${name} [--n=<n>]`, terse: `${name} <n>` },
    flags: [{ name: 'n', type: 'int', default: 10, help: 'number of rows' }],
    examples: [`search | ${name} --n=2 | fields id`, `* | ${name} 2 | table id`],
    parse: parseCount,
    print: String,
    bindFlags: (flags, input) => cut(input, flags.count('n') ?? 10),
    bind: (count, input, context) => cut(input, readCount(name, count, context.parameters)),
  });
}

export const head = cutting('head', 'Keeps the first n rows.', first);
export const tail = cutting('tail', 'Keeps the last n rows, in their order.', last);

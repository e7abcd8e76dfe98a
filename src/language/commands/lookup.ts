import { defineCommand } from '../command.ts';
import { printName } from '../expressions/expression.ts';
import type { Row } from '../expressions/value.ts';
import { joinKey } from '../run/joining.ts';
import { streamed } from '../run/operator.ts';
import { kept, withColumns } from '../run/shape.ts';
import type { Word } from '../syntax/ast.ts';
import { Problem } from '../syntax/problem.ts';
import { parseSourceName, printSourceName, sourceNamed } from '../syntax/source-name.ts';
import type { TerseReader } from '../syntax/terse-reader.ts';

interface Pair {
  readonly theirs: Word;
  /** Null for the same name. */
  readonly as: Word | null;
}

interface Args {
  readonly name: Word;
  readonly keys: readonly Pair[];
  /** Null for all columns that are no key. */
  readonly output: readonly Pair[] | null;
}

export const lookup = defineCommand<Args>({
  name: 'lookup',
  summary: 'Sets columns from the first row of a dataset whose keys are equal.',
  syntax: { terse: 'lookup <dataset> <key> [AS <field>], … [OUTPUT <column> [AS <name>], …]' },
  examples: ['index=web | lookup assets host OUTPUT owner AS team | table id, team'],
  parse: (reader) => {
    const name = parseSourceName(reader);
    const keys = parsePairs(reader);
    const next = reader.next();
    if (next && reader.isKeyword('OUTPUTNEW'))
      throw new Problem('syntax', "Expected OUTPUT, found 'OUTPUTNEW'", { place: next.place });
    return { name, keys, output: reader.takeKeyword('OUTPUT') ? parsePairs(reader) : null };
  },
  print: ({ name, keys, output }) =>
    `${printSourceName(name)} ${printPairs(keys)}${output === null ? '' : ` OUTPUT ${printPairs(output)}`}`,
  bind: ({ name, keys, output }, input, context) => {
    const source = context.source(sourceNamed(name, context.parameters), name.place);
    const theirs = source.schema.requireAll(keys.map((key) => key.theirs)).map(({ get }) => get);
    const ours = input
      .requireAll(keys.map(({ theirs: key, as }) => as ?? key))
      .map(({ get }) => get);
    const wanted =
      output === null
        ? source.schema.shown
            .filter(({ column }) => !keys.some((key) => key.theirs.text === column.name))
            .map(({ index }) => kept(source.schema, index))
        : source.schema
            .requireAll(output.map((column) => column.theirs))
            .map((column, at) => ({ ...column, name: output[at]!.as?.text ?? column.name }));
    const { schema, set } = withColumns(input, wanted);
    const table = context.prepareSource(source);
    const missing = wanted.map(() => null);
    return streamed(schema, () => {
      let index: Map<string, Row> | null = null;
      return (rows) => {
        if (rows.length === 0) return rows;
        if (index === null) {
          index = new Map();
          for (const row of table.read(context.joinMaxRows).rows) {
            const key = joinKey(row, theirs);
            if (key !== null && !index.has(key)) index.set(key, row);
          }
        }
        const known = index;
        return rows.map((row) => {
          const key = joinKey(row, ours);
          const found = key === null ? undefined : known.get(key);
          return set(row, found ? wanted.map(({ get }) => get(found)) : missing);
        });
      };
    });
  },
});

function parsePairs(reader: TerseReader): Pair[] {
  return reader.list(() => {
    const theirs = reader.name({ inList: true });
    return { theirs, as: reader.takeKeyword('AS') ? reader.name({ inList: true }) : null };
  });
}

function printPairs(pairs: readonly Pair[]): string {
  return pairs
    .map(({ theirs, as }) =>
      as === null || theirs.text === as.text
        ? printName(theirs.text)
        : `${printName(theirs.text)} AS ${printName(as.text)}`,
    )
    .join(', ');
}

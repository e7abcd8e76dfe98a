import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { printName } from '../expressions/expression.ts';
import { Problem } from '../syntax/problem.ts';
import { Schema, type ColumnType } from '../run/schema.ts';
import { withColumns } from '../run/shape.ts';
import { parseSourceName, printSourceName, sourceNamed } from '../syntax/source-name.ts';
import type { TerseReader } from '../syntax/terse-reader.ts';
import { textOf, type Row, type Value } from '../expressions/value.ts';

interface Pair {
  readonly theirs: Word;
  readonly ours: Word;
}

interface Args {
  readonly name: Word;
  readonly keys: readonly Pair[];
  /** Null for all columns that are no key. */
  readonly output: readonly Pair[] | null;
}

export const lookup = defineCommand<Args>({
  name: 'lookup',
  forms: ['terse'],
  summary: 'Sets columns from the first row of a dataset whose keys are equal.',
  syntax: { terse: 'lookup <dataset> <key> [AS <field>], … [OUTPUT <column> [AS <name>], …]' },
  isRowWise: false,
  examples: ['index=web | lookup assets host OUTPUT owner AS team | table id, team'],
  parse: (reader) => {
    const name = parseSourceName(reader);
    const keys = parsePairs(reader);
    const next = reader.next();
    if (next && reader.isKeyword('OUTPUTNEW'))
      throw new Problem('syntax', "Expected OUTPUT, found 'OUTPUTNEW'", { place: next.place });
    const output = reader.takeKeyword('OUTPUT') ? parsePairs(reader) : null;
    return { name, keys, output };
  },
  print: ({ name, keys, output }) =>
    `${printSourceName(name)} ${printPairs(keys)}${output === null ? '' : ` OUTPUT ${printPairs(output)}`}`,
  bind: ({ name, keys, output }, input, context) => {
    const source = context.source(sourceNamed(name, context.parameters), name.place);
    const theirs = keys.map(
      ({ theirs: key }) => source.schema.require(key.text, 'terse', key.place).get,
    );
    const ours = keys.map(
      ({ ours: field }) => input!.require(field.text, 'terse', field.place).get,
    );
    const wanted =
      output?.map(({ theirs: column, ours: as }) => ({
        name: as.text,
        ...source.schema.require(column.text, 'terse', column.place),
      })) ?? restOf(source.schema, keys);
    const { schema, positions } = withColumns(
      input!,
      wanted.map(({ name: column, type }) => ({ name: column, type })),
    );
    const table = context.prepareSource(source);
    return {
      kind: 'rows',
      schema,
      start: (meter) => {
        let index: Map<string, Row> | null = null;
        return {
          push: (rows) => {
            if (rows.length === 0) return rows;
            index ??= firstRows(table.read(meter, context.joinMaxRows).rows, theirs);
            return rows.map((row) => {
              const next = row.slice();
              while (next.length < schema.columns.length) next.push(null);
              const key = keyText(row, ours);
              const found = key === null ? undefined : index!.get(key);
              positions.forEach((position, at) => {
                next[position] = found ? wanted[at]!.get(found) : null;
              });
              return next;
            });
          },
          finish: () => [],
        };
      },
    };
  },
});

function restOf(
  schema: Schema,
  keys: readonly Pair[],
): { name: string; type: ColumnType; get: (row: Row) => Value }[] {
  return schema.shown
    .filter(({ column }) => !keys.some(({ theirs }) => theirs.text === column.name))
    .map(({ column, index }) => ({
      name: column.name,
      type: column.type,
      get: (row) => row[index] ?? null,
    }));
}

function parsePairs(reader: TerseReader): Pair[] {
  const pairs: Pair[] = [];
  do {
    const theirs = reader.name({ inList: true });
    pairs.push({ theirs, ours: reader.takeKeyword('AS') ? reader.name({ inList: true }) : theirs });
  } while (reader.take(','));
  return pairs;
}

function printPairs(pairs: readonly Pair[]): string {
  return pairs
    .map(({ theirs, ours }) =>
      theirs.text === ours.text
        ? printName(theirs.text)
        : `${printName(theirs.text)} AS ${printName(ours.text)}`,
    )
    .join(', ');
}

function firstRows(rows: readonly Row[], keys: readonly ((row: Row) => Value)[]): Map<string, Row> {
  const index = new Map<string, Row>();
  for (const row of rows) {
    const key = keyText(row, keys);
    if (key !== null && !index.has(key)) index.set(key, row);
  }
  return index;
}

/** Null matches nothing. */
function keyText(row: Row, keys: readonly ((row: Row) => Value)[]): string | null {
  let text = '';
  for (const key of keys) {
    const part = textOf(key(row));
    if (part === null) return null;
    text += `${part.length}:${part}`;
  }
  return text;
}

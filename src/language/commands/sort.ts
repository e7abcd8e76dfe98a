import type { Word } from '../syntax/ast.ts';
import { requireWhole } from '../syntax/count.ts';
import { defineCommand } from '../command.ts';
import { printName } from '../expressions/expression.ts';
import { sorted, type Rows } from '../run/operator.ts';
import { Problem, type Place } from '../syntax/problem.ts';
import { isSpelledFreely, type Schema, unknownColumn } from '../run/schema.ts';
import type { Evaluate } from '../expressions/value.ts';

export interface SortArguments {
  readonly limit: number | null;
  readonly keys: readonly { readonly field: Word; readonly isDescending: boolean }[];
}

export const sort = defineCommand<SortArguments>({
  name: 'sort',
  summary: 'Sorts rows; null first, last downwards. A number keeps the first n; 0 keeps all.',
  syntax: { flag: 'sort --fields=<list>', terse: 'sort [<n>] [+|-]<field>, …' },
  flags: [
    {
      name: 'fields',
      type: 'list',
      isRequired: true,
      help: 'columns; a leading - sorts downwards',
    },
  ],
  examples: [
    `search | sort --fields='["host","-id"]' | fields id`,
    '* | sort 3 -host, +id | table id',
  ],
  parse: (reader) => {
    const number = reader.takeNumber();
    const place = reader.next()?.place;
    if (reader.takeKeyword('BY') && !reader.isAtEnd() && place)
      throw new Problem(
        'syntax',
        "Expected a field name, found 'by'; sort takes its fields alone",
        {
          place,
        },
      );
    const keys: { field: Word; isDescending: boolean }[] = [];
    do {
      const isDescending = reader.take('-');
      if (!isDescending) reader.take('+');
      keys.push({ field: reader.name({ inList: true }), isDescending });
      reader.take(',');
    } while (!reader.isAtEnd());
    // 0 is all, as elsewhere.
    return { limit: (number && requireWhole('sort', number)) || null, keys };
  },
  print: ({ limit, keys }) => {
    const names = keys.map(
      ({ field, isDescending }) => (isDescending ? '-' : '') + printName(field.text),
    );
    return `${limit === null ? '' : `${limit} `}${names.join(', ')}`;
  },
  bindFlags: (flags, input) => sortedBy(flags.names('fields')!, input, flags.placeOf('fields')!),
  bind: ({ limit, keys }, input, { notice }) => {
    const made = keys.map(({ field, isDescending }) => ({
      get: keyOf(field, input, notice),
      isDescending,
    }));
    return sorted(input, made, limit);
  },
});

/** Words that mean a direction in SPL. */
const DIRECTIONS = ['desc', 'asc', 'd', 'a', 'descending', 'ascending'];

function keyOf({ text, place }: Word, input: Schema, notice: (text: string) => void): Evaluate {
  const isDirection = DIRECTIONS.includes(text.toLowerCase());
  const hint = 'put - before a field to sort it downwards';
  const found = input.find(text, 'terse');
  if (found === null && isDirection)
    throw unknownColumn(text, input, place, `Unknown column '${text}': ${hint}`);
  // A member of events may have any name.
  if (found?.path && isDirection) notice(`'${text}' was read as a field; ${hint}`);
  const reference = found ?? input.require(text, 'terse', place);
  if (isSpelledFreely(reference))
    notice(
      `'${text}' is sorted as text, not by time; bin span=1s ${printName(text)} AS t makes times to sort by`,
    );
  return reference.get;
}

/** A name with a leading minus that is itself a column is that column; else the minus means descending. */
export function sortColumns(names: readonly string[], schema: Schema) {
  return names.map((name) => {
    const isDescending = !schema.has(name) && name.startsWith('-');
    return { column: isDescending ? name.slice(1) : name, isDescending };
  });
}

export function sortedBy(names: readonly string[], input: Schema, place: Place): Rows {
  const keys = sortColumns(names, input).map(({ column, isDescending }) => ({
    get: input.require(column, 'flag', place).get,
    isDescending,
  }));
  return sorted(input, keys, null);
}

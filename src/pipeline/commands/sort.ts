/**
 * `sort`: rows in order (SL-11).
 */
import type { Word } from '../ast.ts';
import { requireWhole } from '../count.ts';
import { defineCommand } from '../command.ts';
import { printName } from '../expression.ts';
import { sortKeys } from '../model.ts';
import { sorted } from '../operator.ts';

/** What the terse form says. */
export interface SortArguments {
  readonly limit: number | null;
  readonly keys: readonly { readonly field: Word; readonly isDescending: boolean }[];
}

/** The command. */
export const sort = defineCommand<SortArguments>({
  name: 'sort',
  forms: ['flag', 'terse'],
  summary: 'Sorts rows; null comes first, and last when sorting downwards.',
  syntax: { flag: 'sort --fields=<list>', terse: 'sort [<n>] [+|-]<field>, …' },
  flags: [
    {
      name: 'fields',
      type: 'list',
      isRequired: true,
      help: 'columns; a leading - sorts downwards',
    },
  ],
  isRowWise: false,
  examples: [
    `search | sort --fields='["host","-id"]' | fields id`,
    '* | sort 3 -host, +id | table id',
  ],
  parse: (reader) => {
    const number = reader.takeNumber();
    const keys: { field: Word; isDescending: boolean }[] = [];
    do {
      const isDescending = reader.take('-');
      if (!isDescending) reader.take('+');
      keys.push({ field: reader.name({ inList: true }), isDescending });
      reader.take(',');
    } while (!reader.isAtEnd());
    return { limit: number === null ? null : requireWhole('sort', number), keys };
  },
  print: ({ limit, keys }) => {
    const names = keys.map(
      ({ field, isDescending }) => (isDescending ? '-' : '') + printName(field.text),
    );
    return `${limit === null ? '' : `${limit} `}${names.join(', ')}`;
  },
  bindFlags: (flags, input) =>
    sorted(input!, sortKeys(flags.names('fields')!, input!, flags.placeOf('fields')!), null),
  bind: ({ limit, keys }, input) =>
    sorted(
      input!,
      keys.map(({ field, isDescending }) => ({
        get: input!.require(field.text, 'terse', field.place).get,
        isDescending,
      })),
      limit,
    ),
});

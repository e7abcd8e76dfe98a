import { defineCommand } from '../command.ts';
import { printName } from '../expressions/expression.ts';
import { wildcardTest } from '../expressions/patterns.ts';
import { type Rows, unchanged } from '../run/operator.ts';
import type { Schema } from '../run/schema.ts';
import { allKept, kept, projected, type MadeColumn } from '../run/shape.ts';
import type { Word } from '../syntax/ast.ts';
import { unmarkPlaceholders } from '../syntax/placeholder.ts';
import type { TerseReader } from '../syntax/terse-reader.ts';

interface FieldPattern extends Word {
  readonly hasWildcard: boolean;
}

interface Args {
  readonly isRemoval: boolean;
  readonly fields: readonly FieldPattern[];
}

const terse = {
  isRowWise: true,
  parse: (reader: TerseReader): Args => {
    const isRemoval = reader.take('-');
    if (!isRemoval) reader.take('+');
    const fields: FieldPattern[] = [];
    do {
      fields.push(parseField(reader));
      reader.take(',');
    } while (!reader.isAtEnd());
    return { isRemoval, fields };
  },
  print: ({ isRemoval, fields }: Args): string => {
    const names = fields.map(({ text, hasWildcard }) =>
      hasWildcard ? unmarkPlaceholders(text) : printName(text),
    );
    return (isRemoval ? '- ' : '') + names.join(', ');
  },
  /** Names that are no columns are ignored in a removal, else they throw `unknown_column`. */
  bind: ({ isRemoval, fields }: Args, input: Schema): Rows => {
    const tests = fields.map(({ text, hasWildcard }) =>
      hasWildcard ? wildcardTest(text) : (name: string) => name === text,
    );
    if (isRemoval) return without(input, (name) => tests.some((test) => test(name)));
    const columns = fields.flatMap(({ text, place, hasWildcard }, at): MadeColumn[] => {
      if (hasWildcard) {
        const meant = input.shown.filter(({ column }) => tests[at]!(column.name));
        return meant.map(({ index }) => kept(input, index));
      }
      return [{ ...input.require(text, 'terse', place), name: text }];
    });
    const first = columns.filter(
      ({ name }, index) => columns.findIndex((one) => one.name === name) === index,
    );
    return projected(input, first);
  },
};

function parseField(reader: TerseReader): FieldPattern {
  if (reader.peek() === "'" || reader.peek() === '"') {
    return { ...reader.name({ inList: true }), hasWildcard: false };
  }
  const word = reader.takeWord();
  if (word === null || !/^[A-Za-z_@*\uFDD0]/.test(word.text)) {
    if (word) reader.at = word.place.at;
    throw reader.expected('a field name');
  }
  return { ...word, hasWildcard: word.text.includes('*') };
}

function without(input: Schema, isGone: (name: string) => boolean): Rows {
  const left = allKept(input).filter(({ name, isHidden }) => isHidden || !isGone(name));
  return projected(input, left);
}

export const fields = defineCommand<Args>({
  ...terse,
  name: 'fields',
  summary: 'Shows exactly these columns, in order; with - leaves them out.',
  syntax: { terse: 'fields [+|-] <field>, …   (* stands for any run of characters)' },
  examples: [
    '* | fields id, host',
    '* | fields - data, extracted_fields, created, updated | head 1',
  ],
});

export const table = defineCommand<Args>({
  ...terse,
  name: 'table',
  summary: 'Shows exactly these columns, in order.',
  syntax: { terse: 'table <field>, …   (* stands for any run of characters)' },
  examples: ['* | table id, host, code'],
});

export const drop = defineCommand({
  name: 'drop',
  summary: 'Removes columns; unknown names are ignored.',
  syntax: { flag: 'drop --fields=<list>' },
  flags: [{ name: 'fields', type: 'list', isRequired: true, help: 'columns' }],
  isRowWise: true,
  examples: [
    `search | drop --fields='["data","extracted_fields","created","updated"]' | head --n=1`,
  ],
  bindFlags: (flags, input) => {
    const names = new Set(flags.names('fields'));
    return without(input, (name) => names.has(name));
  },
});

/** Kept so that stored queries run. */
export const toDataframe = defineCommand({
  name: 'to_dataframe',
  summary: 'Has no effect.',
  syntax: { flag: 'to_dataframe' },
  isRowWise: true,
  examples: ['search --limit=1 | to_dataframe | fields id'],
  bindFlags: (_flags, input) => unchanged(input),
});

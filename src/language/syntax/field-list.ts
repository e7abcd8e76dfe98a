import type { Word } from './ast.ts';
import { printName } from '../expressions/expression.ts';
import type { Compiled } from '../run/operator.ts';
import { wildcardTest } from '../expressions/patterns.ts';
import { unmarkPlaceholders } from './placeholder.ts';
import type { Schema } from '../run/schema.ts';
import { allKept, kept, projected, type MadeColumn } from '../run/shape.ts';
import type { TerseReader } from './terse-reader.ts';

interface FieldPattern extends Word {
  readonly hasWildcard: boolean;
}

export interface FieldArguments {
  readonly isRemoval: boolean;
  readonly fields: readonly FieldPattern[];
}

export function parseFields(reader: TerseReader): FieldArguments {
  const isRemoval = reader.take('-');
  if (!isRemoval) reader.take('+');
  const fields: FieldPattern[] = [];
  do {
    fields.push(parseField(reader));
    reader.take(',');
  } while (!reader.isAtEnd());
  return { isRemoval, fields };
}

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

export function printFields({ isRemoval, fields }: FieldArguments): string {
  const names = fields.map(({ text, hasWildcard }) =>
    hasWildcard ? unmarkPlaceholders(text) : printName(text),
  );
  return (isRemoval ? '- ' : '') + names.join(', ');
}

/** Names that are no columns are ignored in a removal, else they throw `unknown_column`. */
export function bindFields({ isRemoval, fields }: FieldArguments, input: Schema): Compiled {
  if (isRemoval) {
    const tests = fields.map(({ text, hasWildcard }) =>
      hasWildcard ? wildcardTest(text) : (name: string) => name === text,
    );
    return projected(
      input,
      allKept(input).filter(({ name, isHidden }) => isHidden || !tests.some((test) => test(name))),
    );
  }
  const columns: MadeColumn[] = [];
  for (const { text, place, hasWildcard } of fields) {
    if (hasWildcard) {
      const test = wildcardTest(text);
      for (const { column, index } of input.shown)
        if (test(column.name)) columns.push(kept(input, index));
    } else {
      const { type, get } = input.require(text, 'terse', place);
      columns.push({ name: text, type, get });
    }
  }
  const first = columns.filter(
    ({ name }, index) => columns.findIndex((one) => one.name === name) === index,
  );
  return projected(input, first);
}

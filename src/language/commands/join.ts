import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { bindJoin, JOIN_TYPES } from '../run/joining.ts';
import { Problem, unknownName } from '../syntax/problem.ts';
import { parseRightSide, printRightSide, rightSide, type RightSide } from '../run/right-side.ts';
import { parseNames, printNames } from '../syntax/terse-aggregate.ts';
import { MODEL_FLAGS, modelSource, searchStages } from './search.ts';

interface Args {
  readonly type: Word | undefined;
  readonly keys: readonly Word[];
  readonly right: RightSide;
}

export const join = defineCommand<Args>({
  name: 'join',
  summary: 'Adds the columns of other rows with equal keys.',
  syntax: {
    flag: 'join --on=<list> [--how=left|right|inner|outer] [--model=<source>] [--filter=…] [--exclude=…] [--select=<list>] [--limit=<n>]',
    terse: 'join [type=inner|left|right|outer] <field>, … FROM <dataset> | [ <query> ]',
  },
  flags: [
    { name: 'on', type: 'list', isRequired: true, help: 'key columns' },
    { name: 'how', type: 'text', choices: JOIN_TYPES, default: 'left', help: 'which rows to keep' },
    ...MODEL_FLAGS,
  ],
  examples: [
    `search --select='["id","host"]' | join --on='["host"]' --model=dataset.assets`,
    'index!=web | join type=left host FROM assets | table id, owner',
  ],
  parse: (reader, context) => {
    const { type } = reader.options(['type']);
    const keys = parseNames(reader, ['FROM']);
    return { type, keys, right: parseRightSide(reader, context) };
  },
  print: ({ type, keys, right }, context) =>
    `${type ? `type=${type.text} ` : ''}${printNames(keys)} ${printRightSide(right, context)}`,
  bindFlags: (flags, input, context) => {
    const how = flags.choice('how', JOIN_TYPES) ?? 'left';
    flags.choice('using', ['default']);
    const place = flags.placeOf('on')!;
    const keys = flags.names('on')!.map((text) => ({ text, place }));
    const source = context.source(modelSource(flags), flags.placeOf('model') ?? place);
    const right = context.prepareSource(source, searchStages(flags, source.schema, context));
    return bindJoin(
      { how, keys, form: 'flag', nullsMeet: true, maxRows: context.joinMaxRows },
      input,
      right,
    );
  },
  bind: ({ type, keys, right }, input, context) => {
    const written = type === undefined ? 'inner' : type.text.toLowerCase();
    const how = JOIN_TYPES.find((one) => one === written);
    if (how === undefined) {
      throw new Problem('bad_value', `Unknown join type '${type!.text}'`, {
        place: type!.place,
        suggestion: unknownName(written, JOIN_TYPES).suggestion,
        allowed: JOIN_TYPES,
      });
    }
    const options = { how, keys, form: 'terse', nullsMeet: false } as const;
    return bindJoin({ ...options, maxRows: context.joinMaxRows }, input, rightSide(right, context));
  },
});

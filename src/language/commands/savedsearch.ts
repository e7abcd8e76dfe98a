import type { Word } from '../syntax/ast.ts';
import { defineCommand } from '../command.ts';
import { fillText, fillValue, unmarkPlaceholders } from '../syntax/placeholder.ts';
import { parseSourceName, printSourceName } from '../syntax/source-name.ts';
import { quoted } from '../syntax/terse-reader.ts';
import { numberOf, type Value } from '../expressions/value.ts';

interface Args {
  readonly name: Word;
  readonly parameters: readonly { readonly name: string; readonly value: Word }[];
}

export const savedsearch = defineCommand<Args>({
  name: 'savedsearch',
  forms: ['terse'],
  summary: 'Runs the stages of a saved search on the present rows, or from its own source.',
  syntax: { terse: 'savedsearch <name> [<parameter>=<value> …]' },
  isRowWise: false,
  isSource: true,
  examples: ['savedsearch "by host" idx=web'],
  parse: (reader) => {
    const name = parseSourceName(reader);
    const parameters: { name: string; value: Word }[] = [];
    for (let next = reader.takeOption(); next; next = reader.takeOption()) parameters.push(next);
    return { name, parameters };
  },
  print: ({ name, parameters }) => {
    const options = parameters.map(
      ({ name: key, value }) => ` ${key}=${quoted(unmarkPlaceholders(value.text))}`,
    );
    return printSourceName(name) + options.join('');
  },
  bind: ({ name, parameters }, _input, context) => {
    const values = new Map<string, Value>();
    for (const { name: key, value } of parameters) {
      const given = fillValue(value.text, context.parameters, value.place);
      values.set(
        key,
        typeof given === 'string' && String(numberOf(given)) === given ? numberOf(given) : given,
      );
    }
    const text = fillText(name.text, context.parameters, name.place);
    const found = context.savedSearch(text, name.place, values);
    return { kind: 'nested', name: text, place: name.place, ...found };
  },
});

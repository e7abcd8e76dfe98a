import { defineCommand } from '../command.ts';
import { numberOf, type Value } from '../expressions/value.ts';
import type { Word } from '../syntax/ast.ts';
import { fillValue, unmarkPlaceholders } from '../syntax/placeholder.ts';
import { parseSourceName, printSourceName } from '../syntax/source-name.ts';
import { quoted } from '../syntax/terse-reader.ts';

interface Args {
  readonly name: Word;
  readonly parameters: readonly { readonly name: string; readonly value: Word }[];
}

const summary = 'Runs the stages of a saved search on the present rows, or from its own source.';

export const savedsearch = defineCommand<Args>({
  name: 'savedsearch',
  summary,
  syntax: { terse: 'savedsearch <name> [<parameter>=<value> …]' },
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
      const number = numberOf(given);
      values.set(key, String(number) === given ? number : given);
    }
    return context.savedSearch(name, values);
  },
});

export const runSavedSearch = defineCommand({
  name: 'run_saved_search',
  summary,
  syntax: { flag: 'run_saved_search <name>' },
  flags: [
    { name: 'events', type: 'text', help: 'ignored' },
    { name: 'request', type: 'text', help: 'ignored' },
  ],
  word: 'name',
  isSource: true,
  examples: ['run_saved_search S1'],
  bindFlags: (flags, _input, context) => context.savedSearch(flags.argument!, new Map()),
});

import { defineCommand } from '../command.ts';
import { fillText } from '../syntax/placeholder.ts';

export const runSavedSearch = defineCommand({
  name: 'run_saved_search',
  forms: ['flag'],
  summary: 'Runs the stages of a saved search on the present rows, or from its own source.',
  syntax: { flag: 'run_saved_search <name>' },
  flags: [
    { name: 'events', type: 'text', help: 'ignored' },
    { name: 'request', type: 'text', help: 'ignored' },
  ],
  word: 'name',
  isRowWise: false,
  isSource: true,
  examples: ['run_saved_search S1'],
  bindFlags: (flags, _input, context) => {
    const { text, place } = flags.argument!;
    const name = fillText(text, context.parameters, place);
    return { kind: 'nested', name, place, ...context.savedSearch(name, place, new Map()) };
  },
});

/** `to_dataframe` does nothing: it is kept so that stored queries run. */
import { defineCommand } from '../command.ts';
import { unchanged } from '../run/operator.ts';

export const toDataframe = defineCommand({
  name: 'to_dataframe',
  summary: 'Has no effect.',
  syntax: { flag: 'to_dataframe' },
  isRowWise: true,
  examples: ['search --limit=1 | to_dataframe | fields id'],
  bindFlags: (_flags, input) => unchanged(input),
});

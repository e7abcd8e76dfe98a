/** The commands of `svc events`, in the order of its help. */
import type { Command } from '../../command.ts';
import { importEvents } from './import.ts';
import { prune } from './prune.ts';
import { stats } from './stats.ts';

export const events: Command = {
  name: 'events',
  summary: 'Look after stored events.',
  describe: (parser) => {
    parser.addHelpText('after', '\nEvery command works while a server runs.');
  },
  commands: [prune, importEvents, stats],
  run: async () => 2,
};

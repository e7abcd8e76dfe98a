/** `svc events stats`: the event indexes with their sizes; works while a server runs (EV-108). */
import type { Command } from '../../command.ts';
import { describeConfiguration, loadInvocation } from '../../configuration.ts';
import { textTable } from '../../text-table.ts';

/** Prints a line for each index, or with `--json` what `GET /admin/events/indexes` answers. */
export const stats: Command = {
  name: 'stats',
  summary: 'Show the event indexes and their sizes.',
  describe: (parser) => {
    describeConfiguration(parser);
    parser.option('--json', 'Print JSON.');
  },
  run: async (invocation) => {
    const { outside, options } = invocation;
    const { config } = await loadInvocation(invocation);
    const { readIndexTotals } = await import('../../../events/index-totals.ts');
    const { indexViews } = await import('../../../operations/event-indexes.ts');
    const views = indexViews(readIndexTotals(config.state_dir), config);
    if (options['json'] === true) outside.out(`${JSON.stringify(views)}\n`);
    else if (views.length === 0) outside.out('No events.\n');
    else {
      const rows = views.map(({ index, events, bytes, oldest, newest }) => [
        index,
        String(events),
        String(bytes),
        oldest ?? '',
        newest ?? '',
      ]);
      outside.out(textTable(['index', 'events', 'bytes', 'oldest', 'newest'], rows));
    }
    return 0;
  },
};

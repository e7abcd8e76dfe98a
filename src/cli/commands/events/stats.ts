/**
 * `svc events stats`: index sizes; `--json` prints the body of `GET /admin/events/indexes`. Works
 * while a server runs.
 */
import type { IndexView } from '../../../operations/event-indexes.ts';
import type { Command } from '../../command.ts';
import { describeConfiguration, loadInvocation } from '../../configuration.ts';
import { textTable } from '../../text-table.ts';
import { describeJson, printAnswer } from '../../json-output.ts';

export const stats: Command = {
  name: 'stats',
  summary: 'Show the event indexes and their sizes.',
  describe: (parser) => {
    describeConfiguration(parser);
    describeJson(parser);
  },
  run: async (invocation) => {
    const { config } = await loadInvocation(invocation);
    const { readIndexTotals } = await import('../../../events/read/index-totals.ts');
    const { indexViews } = await import('../../../operations/event-indexes.ts');
    const views = indexViews(readIndexTotals(config.state_dir), config);
    printAnswer(invocation, views, asText);
    return 0;
  },
};

function asText(views: readonly IndexView[]): string {
  if (views.length === 0) return 'No events.\n';
  const rows = views.map(({ index, events, bytes, oldest, newest }) => [
    index,
    String(events),
    String(bytes),
    oldest ?? '',
    newest ?? '',
  ]);
  return textTable(['index', 'events', 'bytes', 'oldest', 'newest'], rows);
}

/**
 * `svc events stats`: index sizes; `--json` prints the body of `GET /admin/events/indexes`. Works
 * while a server runs.
 */
import { readIndexTotals } from '../../../events/read/index-totals.ts';
import { indexViews } from '../../../operations/events/indexes.ts';
import type { IndexView } from '../../../operations/events/indexes.ts';
import type { Invocation } from '../../command.ts';
import { loadInvocation } from '../../configuration.ts';
import { answerText, textTable } from '../../printer.ts';

export async function stats(invocation: Invocation): Promise<string> {
  const { config } = await loadInvocation(invocation);
  const views = indexViews(readIndexTotals(config.state_dir), config);
  return answerText(invocation, views, asText);
}

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

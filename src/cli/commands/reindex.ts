/**
 * `svc reindex`: updates the search index, or rebuilds it with `--force`.
 *
 * Beside a running server the server does it, since the index has one writer; the command asks and
 * waits.
 */
import { rebuildIndex } from '../rebuild-index.ts';
import type { Invocation } from '../command.ts';
import { commandLog, loadInvocation } from '../configuration.ts';
import { progressLine } from '../progress-line.ts';

export async function reindex(invocation: Invocation): Promise<string> {
  const { outside, options } = invocation;
  const { config } = await loadInvocation(invocation);
  const line = progressLine(outside);
  const { path, counts } = await rebuildIndex(config, commandLog(config, line.outside), {
    isForced: options['force'] === true,
    onProgress: (done, total) => line.show(`${done} of ${total} resource(s)`),
  }).finally(() => line.clear());
  const { indexed, documents, skipped, pruned } = counts;
  return (
    `Document root: ${config.docroot}\nSearch index: ${path}\n` +
    `Indexed ${indexed} resource(s) (${documents} document(s)), skipped ${skipped}, pruned ${pruned}\n`
  );
}

/**
 * `svc reindex`: updates the search index, or rebuilds it with `--force`.
 *
 * Beside a running server the server does it, since the index has one writer; the command asks and
 * waits.
 */
import type { Command } from '../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../configuration.ts';
import { progressLine } from '../progress-line.ts';

export const reindex: Command = {
  name: 'reindex',
  summary: 'Bring the search index up to date.',
  describe: (parser) => {
    describeConfiguration(parser);
    parser.option('--force', 'Read everything again, changed or not.');
  },
  run: async (invocation) => {
    const { outside, options } = invocation;
    const { config } = await loadInvocation(invocation);
    const { rebuildIndex } = await import('../rebuild-index.ts');
    const line = progressLine(outside);
    const { path, counts } = await rebuildIndex(config, commandLog(config, line.outside), {
      isForced: options['force'] === true,
      onProgress: (done, total) => line.show(`${done} of ${total} resource(s)`),
    }).finally(() => line.clear());
    const { indexed, documents, skipped, pruned } = counts;
    outside.out(`Document root: ${config.docroot}\nSearch index: ${path}\n`);
    outside.out(
      `Indexed ${indexed} resource(s) (${documents} document(s)), skipped ${skipped}, pruned ${pruned}\n`,
    );
    return 0;
  },
};

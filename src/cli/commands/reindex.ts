/**
 * `svc reindex`: brings the search index up to date, or with `--force` builds all of it again (DS-200).
 *
 * Beside a running server the server does it, since the index has one writer; this only asks and waits.
 */
import type { Command, Invocation } from '../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../configuration.ts';

/** Prints the root, the index file and the counts. */
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
    const { path, counts } = await rebuildIndex(config, commandLog(config, outside), {
      isForced: options['force'] === true,
      onProgress: progressOf(invocation),
    });
    const { indexed, documents, skipped, pruned } = counts;
    outside.out(`Document root: ${config.docroot}\nSearch index: ${path}\n`);
    outside.out(
      `Indexed ${indexed} resource(s) (${documents} document(s)), skipped ${skipped}, pruned ${pruned}\n`,
    );
    return 0;
  },
};

/** Rewrites one line of a terminal; elsewhere nothing is shown until the end. */
function progressOf({ outside }: Invocation): (done: number, total: number) => void {
  if (!outside.input.isTerminal) return () => {};
  return (done, total) => {
    outside.err(`\r${done} of ${total} resource(s)${done === total ? '\n' : ''}`);
  };
}

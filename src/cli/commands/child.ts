/** `svc child <role> <socket>`: how a server starts its own worker processes; nothing a person calls. */
import type { Command } from '../command.ts';

/** Runs one worker until its server ends it. */
export const child: Command = {
  name: 'child',
  summary: 'Worker process of a running server.',
  hidden: true,
  describe: (parser) => {
    parser.argument('<role>', 'What the worker does.');
    parser.argument('<socket>', 'Unix socket to answer on.');
  },
  run: async ({ positionals }) => {
    const [role = '', socketPath = ''] = positionals;
    const { runWorker } = await import('../../workers.ts');
    await runWorker(role, socketPath);
    return 0;
  },
};

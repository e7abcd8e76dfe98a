/** `svc child <role> <socket>`: started by the server as its worker process. */
import type { Command } from '../command.ts';

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

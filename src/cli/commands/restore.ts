/** `svc restore`: puts a backup in place; refuses while a server runs there, and an archive of a newer version. */
import { resolve } from 'node:path';
import type { Command } from '../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../configuration.ts';

/** Restores `<file>`; nothing is changed unless all of it is sound. */
export const restore: Command = {
  name: 'restore',
  summary: 'Put a backup in place; no server may run there.',
  describe: (parser) => {
    parser.argument('<file>', 'Archive that svc backup wrote.');
    describeConfiguration(parser);
    parser.option('--force', 'Move aside what is there already.');
  },
  run: async (invocation) => {
    const { outside, options, positionals } = invocation;
    const [file = '', ...rest] = positionals;
    const { config } = await loadInvocation({ ...invocation, positionals: rest });
    const { openAccounts } = await import('../../app.ts');
    const operations = await import('../../operations/backups.ts');
    const { manifest, files, movedAside } = await operations.restore(
      { config, log: commandLog(config, outside), openAccounts },
      { source: resolve(outside.cwd, file), replaces: options['force'] === true },
    );
    outside.out(`Restored ${files} file(s) of ${manifest.created_at}\n`);
    for (const folder of movedAside) {
      outside.out(`What was there before is in ${folder}\n`);
    }
    return 0;
  },
};

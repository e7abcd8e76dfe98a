/** `svc backup`: one archive of the state, and with a flag of the document root; works while a server runs. */
import { resolve } from 'node:path';
import type { Command } from '../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../configuration.ts';

/** Writes `<file>`; it appears when it is complete. */
export const backup: Command = {
  name: 'backup',
  summary: 'Write accounts, rights, audit and events into one archive.',
  describe: (parser) => {
    parser.argument('<file>', 'Archive to write, such as svc-backup.tar.gz.');
    describeConfiguration(parser);
    parser.option('--with-docroot', 'Include every file of the document root.');
  },
  run: async (invocation) => {
    const { outside, options, positionals } = invocation;
    const [file = '', ...rest] = positionals;
    const { config } = await loadInvocation({ ...invocation, positionals: rest });
    const { openAccounts } = await import('../../app.ts');
    const { backUp } = await import('../../operations/backups.ts');
    const accounts = await openAccounts(config, commandLog(config, outside));
    try {
      const { files, bytes } = await backUp(
        { config, audit: accounts.audit },
        { target: resolve(outside.cwd, file), withDocroot: options['withDocroot'] === true },
      );
      outside.out(`Wrote ${file}: ${files} file(s), ${bytes} bytes before compression\n`);
      return 0;
    } finally {
      await accounts.close();
    }
  },
};

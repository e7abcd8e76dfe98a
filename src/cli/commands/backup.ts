/**
 * `svc backup`: an archive of the state and, with a flag, of the document root. Works while a
 * server runs.
 */
import { resolve } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Command } from '../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../configuration.ts';

/** The file appears when complete; `-` is standard output. */
export const backup: Command = {
  name: 'backup',
  summary: 'Write accounts, rights, audit and events into one archive.',
  describe: (parser) => {
    parser.argument(
      '<file>',
      'Archive to write, such as svc-backup.tar.gz; - for standard output.',
    );
    describeConfiguration(parser);
    parser.option('--with-docroot', 'Include every file of the document root.');
  },
  run: async (invocation) => {
    const { outside, options, positionals } = invocation;
    const [file = '', ...rest] = positionals;
    const { output } = outside.streams;
    const isStream = file === '-';
    if (isStream && output.isTTY === true)
      throw new AppError(
        'usage',
        'An archive is nothing to show; redirect the output, or name a file',
      );
    const { config } = await loadInvocation({ ...invocation, positionals: rest });
    const { openAccounts } = await import('../../app.ts');
    const { backUp } = await import('../../operations/backups.ts');
    const accounts = await openAccounts(config, commandLog(config, outside));
    try {
      const { files, bytes } = await backUp(
        { config, audit: accounts.audit },
        {
          target: isStream ? output : resolve(outside.cwd, file),
          withDocroot: options['withDocroot'] === true,
        },
      );
      const told = `${files} file(s), ${bytes} bytes before compression\n`;
      if (isStream) outside.err(`Wrote ${told}`);
      else outside.out(`Wrote ${file}: ${told}`);
      return 0;
    } finally {
      await accounts.close();
    }
  },
};

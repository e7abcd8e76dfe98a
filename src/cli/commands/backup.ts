/** Works while a server runs. */
import { resolve } from 'node:path';
import { openAccounts } from '../../app.ts';
import { backUp } from '../../operations/backups.ts';
import { AppError } from '../../base/errors.ts';
import type { Invocation } from '../command.ts';
import { commandLog, loadInvocation } from '../configuration.ts';

export async function backup(invocation: Invocation): Promise<string> {
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
    if (!isStream) return `Wrote ${file}: ${told}`;
    outside.err(`Wrote ${told}`);
    return '';
  } finally {
    await accounts.close();
  }
}

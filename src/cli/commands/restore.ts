/** `svc restore`: puts a backup in place; refuses while a server runs there, and an archive of a newer version. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '../../base/errors.ts';
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
    const source = resolve(outside.cwd, file);
    if (!existsSync(source)) throw new AppError('not-found', `${file}: no such file`);
    using _ = folderFor(rest[0] === undefined ? null : resolve(outside.cwd, rest[0]));
    const { config } = await loadInvocation({ ...invocation, positionals: rest });
    const { openAccounts } = await import('../../app.ts');
    const operations = await import('../../operations/backups.ts');
    const { manifest, files, movedAside } = await operations.restore(
      { config, log: commandLog(config, outside), openAccounts },
      { source, replaces: options['force'] === true },
    );
    outside.out(`Restored ${files} file(s) of ${manifest.created_at}\n`);
    for (const folder of new Set(movedAside)) {
      outside.out(`What was there before is in ${folder}\n`);
    }
    return 0;
  },
};

/** On a new machine the folder is not there yet. Made for a restore that fails, and so empty, it goes again. */
function folderFor(root: string | null): Disposable {
  const made = root === null || existsSync(root) ? undefined : mkdirSync(root, { recursive: true });
  return {
    [Symbol.dispose]: () => {
      if (made === undefined || root === null) return;
      // What a failed restore leaves is the state's lock; anything else was restored.
      const left = readdirSync(root, { recursive: true }).map(String);
      if (left.every((name) => name === '.svc' || name === join('.svc', 'lock'))) {
        rmSync(root, { recursive: true });
      }
    },
  };
}

/**
 * `svc restore`: changes nothing unless the whole archive is sound. Refuses while a server runs,
 * and archives of a newer version.
 */
import { createReadStream, existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { openAccounts } from '../../app.ts';
import * as operations from '../../operations/backups.ts';
import { AppError } from '../../base/errors.ts';
import type { Invocation, Outside } from '../command.ts';
import { commandLog, loadInvocation } from '../configuration.ts';

export async function restore(invocation: Invocation): Promise<string> {
  const { outside, options, positionals } = invocation;
  const [file = '', ...rest] = positionals;
  const source = archiveOf(file, outside);
  using _ = folderFor(rest[0] === undefined ? null : resolve(outside.cwd, rest[0]));
  const { config } = await loadInvocation({ ...invocation, positionals: rest });
  const { manifest, files, movedAside } = await operations.restore(
    { config, log: commandLog(config, outside), openAccounts },
    { source, replaces: options['force'] === true },
  );
  const folders = [...new Set(movedAside)].map((one) => `What was there before is in ${one}\n`);
  return `Restored ${files} file(s) of ${manifest.created_at}\n${folders.join('')}`;
}

/** Throws `not-found`, and `usage` when standard input is a terminal. */
function archiveOf(file: string, { cwd, streams }: Outside): () => Readable {
  if (file === '-') {
    if (streams.input.isTTY === true)
      throw new AppError(
        'usage',
        'An archive is nothing to type; name a file, or redirect the input',
      );
    return () => streams.input;
  }
  const path = resolve(cwd, file);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new AppError('not-found', `${file}: no such file`);
  if (found.isDirectory()) {
    throw new AppError(
      'bad-request',
      `${file} is a folder; name the archive that svc backup wrote`,
    );
  }
  return () => createReadStream(path);
}

/**
 * Creates the folder on a new machine; removed again if the restore fails and it is still empty.
 */
function folderFor(root: string | null): Disposable {
  const made = root === null || existsSync(root) ? undefined : mkdirSync(root, { recursive: true });
  return {
    [Symbol.dispose]: () => {
      if (made === undefined || root === null) return;
      if (readdirSync(root).length === 0) rmdirSync(root);
    },
  };
}

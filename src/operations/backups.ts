import type { App } from '../app.ts';
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { record } from './access.ts';
import { OPERATOR } from './administration.ts';
import type { Audit } from '../accounts/audit/audit.ts';
import type { Backup } from '../backup/archive-contents.ts';
import { makeBackup } from '../backup/make-backup.ts';
import { type Restored, restoreBackup } from '../backup/restore-backup.ts';
import type { Log } from '../base/log.ts';
import type { Config } from '../config/settings.ts';
import { DocumentRoot } from '../docroot/document-root.ts';
import { newestVersion } from '../store/migrate.ts';
import { migrations } from '../store/migrations/index.ts';
import { ensureDirectory } from '../store/state-files.ts';
import { LOCK_FILE, lockStateDirectory } from '../store/state-lock.ts';

type BackupServices = Pick<App, 'config' | 'audit'>;

/** `target` is a path or a stream; a server may run meanwhile. Throws `conflict` and the system's errors. */
export async function backUp(
  { config, audit }: BackupServices,
  request: { readonly target: string | Writable; readonly withDocroot: boolean },
): Promise<Backup> {
  const { target, withDocroot } = request;
  const root = new DocumentRoot(config.docroot, config.state_dir);
  const backup = await makeBackup({
    root,
    stateDir: config.state_dir,
    target,
    withDocroot,
    schema: newestVersion(migrations),
    now: Date.now(),
  });
  const details = withDocroot ? 'Backed up the state and the document root' : 'Backed up the state';
  await record({ audit }, OPERATOR, 'backup', 'state', details);
  return backup;
}

interface RestoreServices {
  readonly config: Config;
  readonly log: Log;
  openAccounts(config: Config, log: Log): Promise<{ audit: Audit; close(): Promise<void> }>;
}

/**
 * Throws `state-unusable` while a server runs there, `bad-request` for an archive that is no backup, damaged or of a
 * newer version, `conflict` when existing files are in the way.
 */
export async function restore(
  { config, log, openAccounts }: RestoreServices,
  request: { readonly source: () => Readable; readonly replaces: boolean },
): Promise<Restored> {
  using folder = stateFolderFor(config.state_dir);
  const lock = lockStateDirectory(config.state_dir);
  try {
    const restored = await restoreBackup({
      ...request,
      docroot: config.docroot,
      stateDir: config.state_dir,
      newestSchema: newestVersion(migrations),
    });
    const accounts = await openAccounts(config, log);
    try {
      const details = `Restored a backup of ${restored.manifest.created_at}`;
      await record(accounts, OPERATOR, 'restore', 'state', details);
    } finally {
      await accounts.close();
    }
    folder.isUsed = true;
    return restored;
  } finally {
    lock.release();
  }
}

/**
 * Creates the folder when absent. Disposal of an unused folder that was empty removes the lock file, and the folder
 * too if it was new.
 */
function stateFolderFor(dir: string): Disposable & { isUsed: boolean } {
  const isNew = !existsSync(dir);
  ensureDirectory(dir);
  const wasEmpty = readdirSync(dir).length === 0;
  return {
    isUsed: false,
    [Symbol.dispose]() {
      if (this.isUsed || !wasEmpty) return;
      rmSync(join(dir, LOCK_FILE), { force: true });
      if (isNew && readdirSync(dir).length === 0) rmdirSync(dir);
    },
  };
}

/**
 * Moves of files and folders that can be taken back, as long as all of them or none are to happen.
 */
import { lstatSync } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import { syncPath } from '../base/sync-path.ts';
import { createTemporary } from '../base/temporary-files.ts';

/** What was moved, to be moved back when the rest fails. */
export class Moves {
  readonly #done: { readonly from: string; readonly to: string }[] = [];

  /** Makes the folders above `to`. */
  async move(from: string, to: string): Promise<void> {
    await move(from, to);
    this.#done.push({ from, to });
  }

  /** Puts `staged` at `path`; what is there goes to `aside`. */
  async place(staged: string, path: string, aside: string): Promise<void> {
    if (isThere(path)) await this.move(path, aside);
    await this.move(staged, path);
  }

  /** As `place`, but the path is never empty in between. */
  async replace(staged: string, path: string, aside: string): Promise<void> {
    if (isThere(path)) {
      await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
      await copyFile(path, aside);
      this.#done.push({ from: path, to: aside });
    }
    await this.move(staged, path);
  }

  /** The last first. Stops at the first that fails: what is still aside must not be deleted. */
  async undo(): Promise<void> {
    for (const { from, to } of this.#done.toReversed()) await move(to, from);
  }
}

/** Whether something has that path. Links count, also those whose target is not there, or not there yet. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

async function move(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  try {
    await rename(from, to);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    await moveAcross(from, to);
  }
}

/** To or from a file system that is mounted in the document root: a copy that is on its disk before it gets its name. */
async function moveAcross(from: string, to: string): Promise<void> {
  const stats = await lstat(from);
  if (stats.isSymbolicLink()) await symlink(await readlink(from), to);
  else {
    const copy = await createTemporary(to);
    await copy.handle.close();
    try {
      await copyFile(from, copy.path);
      await chmod(copy.path, stats.mode & 0o777);
      await utimes(copy.path, stats.atime, stats.mtime);
      await syncPath(copy.path);
      await rename(copy.path, to);
    } catch (error) {
      await rm(copy.path, { force: true });
      throw error;
    }
  }
  await rm(from);
}

/**
 * Moves of files and folders that all happen or none, also when the process is killed: callers write the steps down
 * first, so that the made ones can be undone.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { chmod, copyFile, lstat, readlink, rename, rm, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../base/errors.ts';
import { isAbsence } from '../base/files/file-stamp.ts';
import { syncPath } from '../base/files/atomic-file.ts';
import { createTemporary, isTemporaryName } from '../base/files/temporary-files.ts';

/** What is at `path` moves to `aside` (null: nothing is there), then `staged` moves to `path` (null: nothing does). */
export interface Step {
  readonly path: string;
  readonly aside: string | null;
  readonly staged: string | null;
}

export async function take({ path, aside, staged }: Step): Promise<void> {
  if (aside !== null) await move(path, aside);
  if (staged !== null) await move(staged, path);
}

/** Undoes a step that was made wholly, half or not at all; may be repeated. Undo the last step first. */
export async function takeBack({ path, aside, staged }: Step): Promise<void> {
  if (aside !== null) {
    if (!isThere(aside)) return;
    clear(path, aside);
    await move(aside, path);
  } else if (staged !== null && isThere(path) && (!isThere(staged) || isCopy(staged, path))) {
    rmSync(path);
  }
}

/** Links count, also broken ones. */
export function isThere(path: string): boolean {
  return statsOf(path) !== null;
}

/** Null also below what is no folder. */
function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}

/** During a move between two file systems both exist for a moment. */
function isCopy(from: string, to: string): boolean {
  const [a, b] = [statsOf(from), statsOf(to)];
  return a?.size === b?.size && Math.trunc(a?.mtimeMs ?? 0) === Math.trunc(b?.mtimeMs ?? 0);
}

/** Removes what a rename does not replace: created parent folders, or a new file in place of a folder. */
function clear(path: string, aside: string): void {
  if (lstatSync(aside).isDirectory()) rmSync(path, { recursive: true, force: true });
  else if (statsOf(path)?.isDirectory() === true) removeEmptyFolders(path);
}

function removeEmptyFolders(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeEmptyFolders(path);
    // The partial result of a killed copy.
    else if (isTemporaryName(entry.name)) rmSync(path);
  }
  rmdirSync(folder);
}

async function move(from: string, to: string): Promise<void> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  try {
    renameSync(from, to);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    await moveAcross(from, to);
  }
}

/** Between file systems: a copy that is synced before it gets its name. */
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

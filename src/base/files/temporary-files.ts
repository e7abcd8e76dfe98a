/**
 * `.<name>.svc-<random>.tmp`: the dot hides them from the scan, and only names of this form are deleted as leftovers.
 */
import { openSync, rmSync } from 'node:fs';
import { open, lstat, rm, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isAbsence } from './file-stamp.ts';
import { shortId } from '../ids.ts';

const TEMPORARY_NAME = /^\..*\.svc-[0-9a-f]{16}\.tmp$/s;
/** Keeps the whole within the 255 bytes of a file name: 50 characters take at most 150. */
const KEPT_CHARACTERS = 50;

/** Readable by this user only. */
export async function createTemporary(path: string): Promise<{ path: string; handle: FileHandle }> {
  const name = basename(path).slice(0, KEPT_CHARACTERS).toWellFormed();
  const temporary = join(dirname(path), `.${name}.svc-${shortId()}.tmp`);
  return { path: temporary, handle: await open(temporary, 'wx', 0o600) };
}

/** Whether `createTemporary` makes such names. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

/**
 * Deletes temporary files of a killed process: those unchanged since `startedAtMs` (epoch ms). Returns their names. A
 * file that cannot be deleted stays.
 */
export async function removeStaleTemporaries(
  directory: string,
  names: Iterable<string>,
  startedAtMs: number,
): Promise<string[]> {
  const removed: string[] = [];
  for (const name of names) {
    if (!isTemporaryName(name)) continue;
    const path = join(directory, name);
    try {
      const stats = await lstat(path);
      if (!stats.isFile() || stats.ctimeMs >= startedAtMs) continue;
      await unlink(path);
      removed.push(name);
    } catch (error) {
      // Without the right to delete it is the owner's to clean up.
      if (!isAbsence(error)) continue;
    }
  }
  return removed;
}

/** Of a process killed in the moment in which such a file has a name. */
export const NAMELESS_LEFTOVER = /^nameless-[0-9a-f]{16}$/;

/** Its space is free again however the process ends. */
export function openNameless(folder: string): number {
  const path = namelessPath(folder);
  const file = openSync(path, 'wx+', 0o600);
  // Another process may have taken it for a leftover.
  rmSync(path, { force: true });
  return file;
}

export async function createNameless(folder: string): Promise<FileHandle> {
  const path = namelessPath(folder);
  const handle = await open(path, 'wx+', 0o600);
  await rm(path, { force: true });
  return handle;
}

export function namelessPath(folder: string): string {
  return join(folder, `nameless-${shortId()}`);
}

import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NAMELESS_LEFTOVER } from '../base/files/temporary-files.ts';
import { COMPANION_SUFFIX } from '../base/paths.ts';

const LEFTOVER = /^(?:backup-[0-9a-f]+|(?:tables|past)-\d+)$/;
/** Longer than any command works. Process ids prove nothing: they may be of another container. */
const UNUSED_MS = 2 * 24 * 60 * 60 * 1000;

/** Those without a new file in the two days before `now` (epoch milliseconds). What cannot be deleted stays. */
export async function removeLeftovers(stateDir: string, now: number): Promise<void> {
  const folder = join(stateDir, 'tmp');
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => NAMELESS_LEFTOVER.test(one)))
    await rm(join(folder, name), { force: true });
  for (const name of names.filter((one) => LEFTOVER.test(one))) {
    const path = join(folder, name);
    try {
      const { mtimeMs } = await lstat(path);
      if (now - mtimeMs > UNUSED_MS) removeDerived(path);
    } catch {
      // Another user's, or deleted meanwhile.
    }
  }
}

/**
 * Deletes the folder except for companions: in the default state folder these may be of a docroot folder of that
 * name.
 */
export function removeDerived(folder: string): void {
  for (const path of derivedIn(folder)) rmSync(path, { force: true });
  removeEmptyFolders(folder);
}

/**
 * Paths of all files and links in the folder, at any depth, that are no companions; the path itself when it is no
 * folder.
 */
export function derivedIn(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || COMPANION_SUFFIX.test(path)) return [];
  if (!stats.isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => derivedIn(join(path, name)));
}

function removeEmptyFolders(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const names = readdirSync(path);
  for (const name of names) removeEmptyFolders(join(path, name));
  if (readdirSync(path).length === 0) rmdirSync(path);
}

/**
 * What commands beside the server left in the state directory when they were killed: copies of whole databases and tables that
 * nobody else would ever delete.
 */
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Copies for a backup, and the typed copies of a command (by process id). */
const LEFTOVER = /^(?:backup-[0-9a-f]+|tables-\d+)$/;
/** Longer than any command works. Whether its process lives cannot be told: it may be one of another container. */
const UNUSED_MS = 2 * 24 * 60 * 60 * 1000;

/** Deletes those in which nothing was made for two days before `now` (epoch milliseconds). What cannot be deleted stays. */
export async function removeLeftovers(stateDir: string, now: number): Promise<void> {
  const folder = join(stateDir, 'tmp');
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => LEFTOVER.test(one))) {
    const path = join(folder, name);
    try {
      const { mtimeMs } = await lstat(path);
      if (now - mtimeMs > UNUSED_MS) await rm(path, { recursive: true, force: true });
    } catch {
      // Another user's, or gone by now: in nobody's way.
    }
  }
}

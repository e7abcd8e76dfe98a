/**
 * Proof that a typed copy on disk is the one this service left there.
 *
 * SQLite notices a broken page, but not another value in a sound one, and nobody compares a copy with its file row by
 * row. So the digest of a complete copy stands beside it (`-seal`), and a copy that does not fit its digest is built
 * again. The file of the copy changes only when its log is folded into it, and the log has checksums of its own: a
 * killed process leaves a copy that still fits, unless that had happened since the last seal.
 */
import { open, readFile, writeFile } from 'node:fs/promises';
import { sourceOf } from '../base/file-source.ts';
import { hashFile, isAbsence, statFile } from '../base/file-stamp.ts';

/** What stands beside the file of a copy, by the ends of their names; the first is the file itself. */
export const COPY_FILES = ['', '-wal', '-shm', '-seal', '-progress'] as const;

/** Seals a copy that nobody has open. Reads all of it, about 0.2 ms a MiB from memory. */
export async function sealCopy(path: string): Promise<void> {
  await writeFile(`${path}-seal`, await digestOf(path), { mode: 0o600 });
}

/** Whether the copy is as it was sealed; false for one that never was. Costs as much as sealing. */
export async function isSealed(path: string): Promise<boolean> {
  try {
    return (await readFile(`${path}-seal`, 'utf8')) === (await digestOf(path));
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** Another text after anybody wrote to the copy or to its log, moved or deleted them. Two calls of `stat`. */
export function traceOf(path: string): string {
  const [copy, log] = [statFile(path), statFile(`${path}-wal`)];
  // Not the ctime: SQLite sets the owner of the log, to what it is already, whenever root opens it.
  return [copy, log]
    .map((stamp) => stamp && `${stamp.inode}.${stamp.size}.${stamp.mtimeNs}`)
    .join();
}

async function digestOf(path: string): Promise<string> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return await hashFile(sourceOf(handle.fd, size));
  } finally {
    await handle.close();
  }
}

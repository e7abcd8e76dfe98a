/**
 * Proof that a typed copy on disk is the one this service left.
 *
 * SQLite notices a broken page but not a changed value in a sound one. So a digest of each copy is kept beside it
 * (`-seal`); one that does not match is rebuilt. The file changes only when its log is folded into it, and the log
 * has checksums of its own: the copy of a killed process still matches, unless a fold came after the last seal.
 */
import { open, readFile, writeFile } from 'node:fs/promises';
import { sourceOf } from '../../base/files/file-source.ts';
import { hashFile, isAbsence, statFile } from '../../base/files/file-stamp.ts';

/** Suffixes of the files of a copy; the first is the copy itself. */
export const COPY_FILES = ['', '-wal', '-shm', '-seal', '-progress'] as const;
/** Of the folder of its columns (`table-columns.ts`). */
export const COLUMNS_SUFFIX = '-columns';

/** Nobody may have the copy open. Reads all of it, about 0.2 ms a MiB from memory. */
export async function sealCopy(path: string): Promise<void> {
  await writeFile(`${path}-seal`, await digestOf(path), { mode: 0o600 });
}

/** False also for a copy never sealed. Costs as much as sealing. */
export async function isSealed(path: string): Promise<boolean> {
  try {
    return (await readFile(`${path}-seal`, 'utf8')) === (await digestOf(path));
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/** Differs after anybody wrote to, moved or deleted the copy or its log. Costs two `stat` calls. */
export function traceOf(path: string): string {
  const [copy, log] = [statFile(path), statFile(`${path}-wal`)];
  return [copy, log]
    .map((stamp) => stamp && `${stamp.inode}.${stamp.size}.${stamp.mtimeNs}`)
    .join();
}

export async function digestOf(path: string): Promise<string> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    return await hashFile(sourceOf(handle.fd, size));
  } finally {
    await handle.close();
  }
}

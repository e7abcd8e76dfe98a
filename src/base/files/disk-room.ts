/**
 * An edit replaces the file first and then updates the typed copy. If the disk filled up in between, nobody could
 * read the table until there is room again.
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../errors.ts';

/** Throws `no-space` unless the disk of `path` has `bytes` free for this user. Costs a few microseconds. */
export function requireRoom(path: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bavail * bsize < bytes) throw new AppError('no-space', 'Insufficient storage');
}

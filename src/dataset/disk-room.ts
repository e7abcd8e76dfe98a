/**
 * Room on the disk, asked before something is begun that could not be undone half-way.
 *
 * An edit puts the file in place first and lets the typed copy follow. On a full disk the copy could not, and nobody
 * could read the table until there is room again; so an edit that leaves too little is refused while it still can be.
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../base/errors.ts';

/** Throws `no-space` unless the disk of the file at `path` has `bytes` free for this user. Costs a few microseconds. */
export function requireRoom(path: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bavail * bsize < bytes) throw new AppError('no-space', 'Insufficient storage');
}

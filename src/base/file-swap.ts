/**
 * The instant in which a finished temporary file takes a name, and the way back.
 *
 * Where the system can exchange two names (Linux, most file systems) nothing is ever out of sight. Elsewhere a second
 * link keeps the replaced version; where links do not exist either (FAT), a plain rename must do and cannot be undone.
 */
import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { errnoOf } from './errors.ts';
import { isAbsence } from './file-stamp.ts';
import { exchangeFiles, renameToNew } from './libc.ts';

const NO_LINKS: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EMLINK',
]);

/** Gives `temporary` the name `path`. False, and nothing done, when that name is taken. */
export function placeNew(temporary: string, path: string): boolean {
  try {
    if (renameToNew(temporary, path)) return true;
    if (!link(temporary, path)) {
      if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
      renameSync(temporary, path);
      return true;
    }
    unlinkSync(temporary);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Gives `temporary` the name `path`, which exists; answers the path that now holds the replaced file (null: it could
 * not be kept). False, and nothing done, when `path` is gone.
 */
export function placeOver(temporary: string, path: string): { replaced: string | null } | false {
  try {
    if (exchangeFiles(temporary, path)) return { replaced: temporary };
    const kept = secondName(temporary);
    const linked = link(path, kept);
    renameSync(temporary, path);
    return { replaced: linked ? kept : null };
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

/**
 * Puts `replaced` back to `path`; answers the path that now holds what stood there (null: nothing did, or it could
 * not be kept).
 */
export function putBack(replaced: string, path: string): string | null {
  try {
    if (exchangeFiles(replaced, path)) return replaced;
    const kept = secondName(replaced);
    const linked = link(path, kept);
    renameSync(replaced, path);
    return linked ? kept : null;
  } catch (error) {
    if (!isAbsence(error)) throw error;
    renameSync(replaced, path);
    return null;
  }
}

/** Still a temporary name, so that a killed process's leftovers are found (`temporary-files.ts`). */
function secondName(temporary: string): string {
  return temporary.replace(/^(.*\/)\.(.*)$/s, '$1..$2');
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (NO_LINKS.has(errnoOf(error))) return false;
    throw error;
  }
}

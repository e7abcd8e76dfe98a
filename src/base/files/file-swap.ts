/**
 * Renames a finished temporary file over another, and back.
 *
 * Where the system can exchange two names the path always exists. Elsewhere a second link keeps the replaced version;
 * without links (FAT) a plain rename must do and cannot be undone.
 */
import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { isAbsence } from './file-stamp.ts';
import { exchangeFiles, renameToNew } from './libc.ts';

const NO_LINKS: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
  'EMLINK',
]);

/** False, and nothing done, when `path` is taken. */
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
 * Returns where the replaced file is now (null: it could not be kept). False, and nothing done, when `path` is gone.
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

/** Returns where the file that was at `path` is now; null as above. */
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

/** Still a temporary name, so that leftovers of a killed process are found (`temporary-files.ts`). */
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

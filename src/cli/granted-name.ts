/**
 * Doubts about the resource name of a grant: nothing has that name, or it is a folder.
 *
 * Looks at names on disk only. Permissions may name what does not exist yet, so nothing is refused.
 */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesEvents } from '../accounts/rights/resource-names.ts';
import { errnoOf } from '../base/errors.ts';

/** A sentence when the name opens nothing now; null when it does or cannot be judged. */
export function doubtAboutName(docroot: string, resource: string): string | null {
  if (resource === '' || resource === '*' || namesEvents(resource)) return null;
  try {
    return doubtAbout(docroot, resource);
  } catch (error) {
    // An unreadable folder: the permission is granted all the same.
    if (errnoOf(error) !== undefined) return null;
    throw error;
  }
}

function doubtAbout(docroot: string, resource: string): string | null {
  const isPattern = resource.endsWith('/*');
  const parts = (isPattern ? resource.slice(0, -2) : resource).split('/');
  let folder = docroot;
  for (const [at, part] of parts.entries()) {
    const found = entryNamed(folder, part);
    if (found === null) {
      return `nothing is called ${resource} now; svc admin list-resources shows the names`;
    }
    // Sheets of a workbook are not files.
    if (!isFolder(join(folder, found))) return null;
    if (at === parts.length - 1) {
      return isPattern ? null : `${resource} is a folder; ${resource}/* names what lies in it`;
    }
    folder = join(folder, found);
  }
  return null;
}

/** The entry of that name, else a file of that name without its extension. */
function entryNamed(folder: string, name: string): string | null {
  const entries = readdirSync(folder, { withFileTypes: true });
  const stemmed = entries.filter((entry) => !entry.isDirectory());
  const found =
    stemmed.find((entry) => stemOf(entry) === name) ?? entries.find((entry) => is(entry, name));
  return found?.name ?? null;
}

const is = (entry: Dirent, name: string): boolean => entry.name.normalize('NFC') === name;

function stemOf({ name }: Dirent): string {
  return name.normalize('NFC').replace(/(?<=.)\.[^.]*$/, '');
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * What an operator may have meant otherwise when a permission is granted: a name that nothing has, or a folder.
 *
 * Only looks at the names on the disk. Permissions may name what is not there yet (DS-131), so nothing is refused.
 */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { namesEvents } from '../auth/resource-names.ts';
import { errnoOf } from '../base/errors.ts';

/** A sentence about a resource text that opens nothing now, null when it opens something or cannot be judged. */
export function doubtAboutName(docroot: string, resource: string): string | null {
  if (resource === '' || resource === '*' || namesEvents(resource)) return null;
  try {
    return doubtAbout(docroot, resource);
  } catch (error) {
    // A folder the operator may not look into: the permission is granted all the same.
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
    // The sheets of a workbook are no entries of the disk.
    if (!isFolder(join(folder, found))) return null;
    if (at === parts.length - 1) {
      return isPattern ? null : `${resource} is a folder; ${resource}/* names what lies in it`;
    }
    folder = join(folder, found);
  }
  return null;
}

/** The entry with that name, else a file with that name before its extension. */
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

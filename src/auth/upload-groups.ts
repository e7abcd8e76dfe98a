/**
 * The group that owns an uploaded file (DS-156): its name follows from the file's, so no two files share one.
 *
 * It is made before the file gets its name, and says so until it has it: a server that is killed in between leaves a
 * promise, which the next start keeps when the file is there, and takes back when it is not.
 */
import type { Database } from '../store/database.ts';
import { createGroup, deleteGroup, findGroup, type Group, removeAllMembers } from './groups.ts';
import {
  assignPermission,
  createPermission,
  findPermission,
  listGroupPermissions,
  unassignPermission,
} from './permissions.ts';
import { VERBS } from './principal.ts';

/** A file that has just been created by an upload. */
export interface CreatedUpload {
  readonly filename: string;
  readonly userId: number;
  /** The permission text that opens the file and nothing else; null gives the group no rights. */
  readonly resource: string | null;
}

const PROMISED = 'Uploading ';
const nameOf = (filename: string): string => `upload_owner_${filename}`;

/** What `giveToUploader` does, for a file that is about to get its name. */
export function promiseToUploader(db: Database, upload: CreatedUpload): Promise<void> {
  return ownGroup(db, upload, `${PROMISED}${upload.filename}`);
}

/**
 * Makes the uploader the only member of the file's group, which holds `read` and `write` on the file and nothing else.
 * What a group left over from a deleted file held is taken away.
 */
export function giveToUploader(db: Database, upload: CreatedUpload): Promise<void> {
  return ownGroup(db, upload, `Uploaded ${upload.filename}`);
}

/** Deletes the group of a promise that was not kept; any other group stays. */
export async function withdrawPromise(db: Database, filename: string): Promise<void> {
  await db.run('DELETE FROM groups WHERE name = ? AND description = ?', [
    nameOf(filename),
    `${PROMISED}${filename}`,
  ]);
}

/** Settles what a killed server left; call when no upload is under way. */
export async function settlePromises(
  db: Database,
  isThere: (filename: string) => boolean,
): Promise<void> {
  const groups = await db.all<Group>(
    'SELECT id, name, description FROM groups WHERE substr(description, 1, ?) = ?',
    [PROMISED.length, PROMISED],
  );
  for (const { id, name, description } of groups) {
    const filename = description?.slice(PROMISED.length) ?? '';
    if (name !== nameOf(filename)) continue;
    if (!isThere(filename)) await deleteGroup(db, id);
    else await describe(db, id, `Uploaded ${filename}`);
  }
}

async function ownGroup(db: Database, upload: CreatedUpload, description: string): Promise<void> {
  const { filename, userId, resource } = upload;
  await db.transaction(async (tx) => {
    const id = await emptyGroup(tx, nameOf(filename), description);
    await tx.run('INSERT INTO group_members (group_id, user_id) VALUES (?, ?)', [id, userId]);
    if (resource === null) return;
    for (const action of VERBS) {
      const permission =
        (await findPermission(tx, resource, action)) ??
        (await createPermission(tx, { resource, action, description: null }));
      await assignPermission(tx, id, permission.id);
    }
  });
}

async function emptyGroup(tx: Database, name: string, description: string): Promise<number> {
  const found = await findGroup(tx, name);
  if (found === null) return (await createGroup(tx, { name, description })).id;
  await describe(tx, found.id, description);
  await removeAllMembers(tx, found.id);
  for (const permission of await listGroupPermissions(tx, found.id)) {
    await unassignPermission(tx, found.id, permission.id);
  }
  return found.id;
}

async function describe(db: Database, id: number, description: string): Promise<void> {
  await db.run('UPDATE groups SET description = ? WHERE id = ?', [description, id]);
}

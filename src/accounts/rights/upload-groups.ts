/**
 * The group that owns an uploaded file; its name is derived from the file's.
 *
 * It is created before the file gets its name and marked as a promise until then. After a kill in between, the next
 * start keeps the group when the file exists, and deletes it when not.
 */
import type { Database } from '../../store/database.ts';
import { createGroup, deleteGroup, findGroup, type Group, removeAllMembers } from './groups.ts';
import {
  assignPermission,
  createPermission,
  findPermission,
  listGroupPermissions,
  unassignPermission,
} from './permissions.ts';
import { VERBS } from './principal.ts';

export interface CreatedUpload {
  readonly filename: string;
  readonly userId: number;
  /** The permission text for this file only; null gives the group no rights. */
  readonly resource: string | null;
}

const PROMISED = 'Uploading ';
const nameOf = (filename: string): string => `upload_owner_${filename}`;

/** As `giveToUploader`, for a file that is about to get its name. */
export function promiseToUploader(db: Database, upload: CreatedUpload): Promise<void> {
  return ownGroup(db, upload, `${PROMISED}${upload.filename}`);
}

/**
 * Makes the uploader the only member, with `read` and `write` on this file only, and removes what a group left over
 * from a deleted file held.
 */
export function giveToUploader(db: Database, upload: CreatedUpload): Promise<void> {
  return ownGroup(db, upload, `Uploaded ${upload.filename}`);
}

/** Any other group stays. */
export async function withdrawPromise(db: Database, filename: string): Promise<void> {
  await db.run('DELETE FROM groups WHERE name = ? AND description = ?', [
    nameOf(filename),
    `${PROMISED}${filename}`,
  ]);
}

/** Call when no upload is under way. */
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

/**
 * A moved file stays its uploader's, under the new name alone. Of a folder, all below it. Another group of the new name
 * wins: then the old one is left as that of a deleted file.
 */
export async function moveOwnership(db: Database, from: string, to: string): Promise<void> {
  const groups = await db.all<Group>(
    'SELECT id, name, description FROM groups WHERE name = ? OR (name >= ? AND name < ?)',
    [nameOf(from), nameOf(`${from}/`), nameOf(`${from}0`)],
  );
  for (const { id, name } of groups) {
    const old = name.slice(nameOf('').length);
    const moved = to + old.slice(from.length);
    await db.transaction(async (tx) => {
      if ((await findGroup(tx, nameOf(moved))) !== null) return;
      await tx.run('UPDATE groups SET name = ?, description = ? WHERE id = ?', [
        nameOf(moved),
        `Uploaded ${moved}`,
        id,
      ]);
      for (const { id: permissionId, resource, action } of await listGroupPermissions(tx, id)) {
        if (resource !== old && resource !== `${old}/*`) continue;
        const own = { resource: moved + resource.slice(old.length), action, description: null };
        const permission =
          (await findPermission(tx, own.resource, action)) ?? (await createPermission(tx, own));
        await unassignPermission(tx, id, permissionId);
        await assignPermission(tx, id, permission.id);
      }
    });
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

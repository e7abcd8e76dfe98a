/**
 * The group that owns an uploaded file (DS-156): its name follows from the file's, so no two files share one.
 */
import type { Database } from '../store/database.ts';
import { createGroup, findGroup, removeAllMembers } from './groups.ts';
import {
  assignPermission,
  createPermission,
  findPermission,
  listGroupPermissions,
  unassignPermission,
} from './permissions.ts';

/** A file that has just been created by an upload. */
export interface CreatedUpload {
  readonly filename: string;
  readonly userId: number;
  /** The permission text that opens the file and nothing else; null gives the group no rights. */
  readonly resource: string | null;
}

/**
 * Makes the uploader the only member of the file's group, which holds `read` and `write` on the file and nothing else.
 * What a group left over from a deleted file held is taken away.
 */
export async function giveToUploader(db: Database, upload: CreatedUpload): Promise<void> {
  const { filename, userId, resource } = upload;
  await db.transaction(async (tx) => {
    const id = await emptyGroup(tx, filename);
    await tx.run('INSERT INTO group_members (group_id, user_id) VALUES (?, ?)', [id, userId]);
    if (resource === null) return;
    for (const action of ['read', 'write'] as const) {
      const permission =
        (await findPermission(tx, resource, action)) ??
        (await createPermission(tx, { resource, action, description: null }));
      await assignPermission(tx, id, permission.id);
    }
  });
}

async function emptyGroup(tx: Database, filename: string): Promise<number> {
  const name = `upload_owner_${filename}`;
  const found = await findGroup(tx, name);
  if (found === null) {
    return (await createGroup(tx, { name, description: `Uploaded ${filename}` })).id;
  }
  await removeAllMembers(tx, found.id);
  for (const permission of await listGroupPermissions(tx, found.id)) {
    await unassignPermission(tx, found.id, permission.id);
  }
  return found.id;
}

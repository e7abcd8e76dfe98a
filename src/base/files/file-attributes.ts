/**
 * What a replaced file hands on besides its bytes: owner, group, mode and extended attributes, where the process may
 * set them. Times are not handed on.
 */
import { fstatSync, type BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { errnoOf } from '../errors.ts';
import { copyExtendedAttributes } from './libc.ts';

/** `old` is the `stat` of the open file `source`. */
export async function carryAttributes(
  source: FileHandle,
  old: BigIntStats,
  target: FileHandle,
): Promise<void> {
  const isOwned = await carryOwner(old, target);
  copyExtendedAttributes(source.fd, target.fd);
  // Last: changing the owner clears the set-id bits, and an access list changes those of the group.
  await target.chmod(Number(old.mode) & (isOwned ? 0o7777 : 0o777));
}

/** True when the target now has the old owner and group. */
async function carryOwner(old: BigIntStats, target: FileHandle): Promise<boolean> {
  const own = fstatSync(target.fd, { bigint: true });
  if (own.uid === old.uid && own.gid === old.gid) return true;
  for (const uid of new Set([old.uid, own.uid])) {
    try {
      await target.chown(Number(uid), Number(old.gid));
      return uid === old.uid;
    } catch (error) {
      // Only root may give files away; a group one is not in is refused too.
      if (errnoOf(error) !== 'EPERM') throw error;
    }
  }
  return false;
}

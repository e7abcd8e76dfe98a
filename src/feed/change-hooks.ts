/** Webhooks on changes: of what, to where, and how far each was told. */
import { timestamp } from '../base/clock.ts';
import type { DeliveryTarget } from '../deliveries/target.ts';
import type { Database } from '../store/database.ts';

export interface ChangeHook {
  readonly id: number;
  readonly ownerId: number;
  /** Of a file or a folder; `''`: everything the owner may read. */
  readonly name: string;
  readonly target: DeliveryTarget;
  /** The number of the last change of the feed it has seen. */
  readonly place: number;
  readonly createdAt: string;
}

type StoredHook = Omit<ChangeHook, 'target'> & { readonly target: string };

export const MAX_HOOKS_OF_USER = 50;
const COLUMNS = 'id, owner_id AS "ownerId", name, target, place, created_at AS "createdAt"';

export async function listHooks(db: Database, ownerId?: number): Promise<ChangeHook[]> {
  const rows = await db.all<StoredHook>(
    `SELECT ${COLUMNS} FROM change_hooks WHERE owner_id = coalesce(?, owner_id) ORDER BY id`,
    [ownerId ?? null],
  );
  return rows.map((row) => ({ ...row, target: JSON.parse(row.target) as DeliveryTarget }));
}

/** Told of what happens from now on. */
export async function addHook(
  db: Database,
  { ownerId, name, target, place }: Omit<ChangeHook, 'id' | 'createdAt'>,
  now: number,
): Promise<number> {
  const { lastId } = await db.run(
    'INSERT INTO change_hooks (owner_id, name, target, place, created_at) VALUES (?, ?, ?, ?, ?)',
    [ownerId, name, JSON.stringify(target), place, timestamp(now)],
  );
  return lastId;
}

/** False when the user has no such one. */
export async function removeHook(db: Database, ownerId: number, id: number): Promise<boolean> {
  const { changes } = await db.run('DELETE FROM change_hooks WHERE id = ? AND owner_id = ?', [
    id,
    ownerId,
  ]);
  return changes > 0;
}

export async function moveHook(tx: Database, id: number, place: number): Promise<void> {
  await tx.run('UPDATE change_hooks SET place = ? WHERE id = ?', [place, id]);
}

/** Of whom the configuration asks more than a password. */
import type { MaybePromise } from '../../base/scheduling/maybe-promise.ts';
import type { Database } from '../../store/database.ts';
import { rememberedFor } from '../../store/remembered.ts';
import type { User } from '../identity/users.ts';
import { hasFactor } from './factors.ts';

export interface FactorRules {
  /** Names of groups; `*`: every local account. */
  readonly groups: readonly string[];
  readonly superusers: boolean;
}

type Subject = Pick<User, 'id' | 'isSuperuser'>;

const groupsByUser = rememberedFor<readonly string[]>(1_000);

export function requiresFactor(
  db: Database,
  { id, isSuperuser }: Subject,
  { groups, superusers }: FactorRules,
): MaybePromise<boolean> {
  if (groups.includes('*') || (superusers && isSuperuser)) return true;
  if (groups.length === 0) return false;
  const names = groupsByUser(db).get(db, String(id), async () => {
    const rows = await db.all<{ name: string }>(
      'SELECT name FROM group_members JOIN groups ON groups.id = group_id WHERE user_id = ?',
      [id],
    );
    return rows.map(({ name }) => name);
  });
  const isOne = (found: readonly string[]): boolean => found.some((name) => groups.includes(name));
  return names instanceof Promise ? names.then(isOne) : isOne(names);
}

/** Whether a password alone is not enough. */
export async function needsFactor(
  db: Database,
  user: Subject,
  rules: FactorRules,
): Promise<boolean> {
  return (await requiresFactor(db, user, rules)) || (await hasFactor(db, user.id));
}

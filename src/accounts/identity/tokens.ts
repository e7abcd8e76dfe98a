/**
 * The one token of a user for event clients: 40 hex digits, unchanged until revoked.
 *
 * Unlike an API key it can be shown again: its value is kept, sealed with AES-256-GCM under a key derived from the
 * server secret, and looked up by its SHA-256. After a change of the secret the tokens still authenticate by their
 * hash, and the next issue makes a new one.
 */
import { randomBytes } from 'node:crypto';
import { timestamp } from '../../base/clock.ts';
import { sha256Hex } from '../../base/ids.ts';
import type { Database } from '../../store/database.ts';
import type { ListSource } from '../../store/list-source.ts';
import { rememberedFor } from '../../store/remembered.ts';
import { opened, sealed } from './sealing.ts';
import type { User, UserRow } from './users.ts';
import { userColumns, userOf } from './users.ts';

const TOKEN_BYTES = 20;
const PURPOSE = 'svc tokens';

export function isTokenText(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

/** Creates the token at the first call (`isNew`). */
export async function issueToken(
  db: Database,
  serverSecret: Uint8Array,
  userId: number,
  now: number,
): Promise<{ value: string; isNew: boolean }> {
  return db.transaction(async (tx) => {
    const row = await tx.get<{ sealed: Uint8Array }>(
      'SELECT sealed FROM tokens WHERE user_id = ?',
      [userId],
    );
    const known = row === null ? null : opened(row.sealed, serverSecret, PURPOSE);
    if (known !== null) return { value: known, isNew: false };
    const value = randomBytes(TOKEN_BYTES).toString('hex');
    await tx.run(
      `INSERT INTO tokens (user_id, token_hash, sealed, created_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE SET token_hash = excluded.token_hash, sealed = excluded.sealed,
         created_at = excluded.created_at, last_used_at = NULL`,
      [userId, sha256Hex(value), sealed(value, serverSecret, PURPOSE), timestamp(now)],
    );
    return { value, isNew: true };
  });
}

/** Callers must test `user.isActive`. */
interface FoundToken {
  readonly user: User;
  readonly lastUsedAt: string | null;
}

const rowsByHash = rememberedFor<(UserRow & { last_used_at: string | null }) | null>(1_000);

export async function findToken(db: Database, value: string): Promise<FoundToken | null> {
  const hash = sha256Hex(value);
  const row = await rowsByHash(db).get(db, hash, () =>
    db.get<UserRow & { last_used_at: string | null }>(
      `SELECT last_used_at, ${userColumns} FROM tokens JOIN users ON users.id = tokens.user_id WHERE token_hash = ?`,
      [hash],
    ),
  );
  return row === null ? null : { user: userOf(row), lastUsedAt: row.last_used_at };
}

export async function noteTokenUse(db: Database, userId: number, now: number): Promise<void> {
  await db.relaxed.run('UPDATE tokens SET last_used_at = ? WHERE user_id = ?', [
    timestamp(now),
    userId,
  ]);
}

export async function revokeToken(db: Database, userId: number): Promise<boolean> {
  const { changes } = await db.run('DELETE FROM tokens WHERE user_id = ?', [userId]);
  return changes > 0;
}

export const tokenList: ListSource = {
  name: 'tokens',
  from: 'tokens JOIN users ON users.id = tokens.user_id',
  id: 'tokens.user_id',
  columns: [
    { name: 'user_id', type: 'integer', sql: 'tokens.user_id' },
    { name: 'username', type: 'string', sql: 'users.username' },
    { name: 'created_at', type: 'date-time', sql: 'tokens.created_at' },
    { name: 'last_used_at', type: 'date-time', sql: 'tokens.last_used_at' },
  ],
  sortable: ['user_id', 'created_at', 'last_used_at'],
  order: 'asc',
};

export async function hasToken(db: Database, userId: number): Promise<boolean> {
  return (await db.get('SELECT 1 FROM tokens WHERE user_id = ?', [userId])) !== null;
}

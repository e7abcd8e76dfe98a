/**
 * API keys: `ak_` and 32 random bytes, stored as SHA-256 only: the value cannot be guessed, so a fast hash is enough
 * and the lookup's timing reveals nothing.
 */
import { timestamp } from '../../base/clock.ts';
import { AppError, invalidRequest } from '../../base/errors.ts';
import { randomToken, sha256Hex } from '../../base/ids.ts';
import { type MaybePromise, whenResolved } from '../../base/scheduling/maybe-promise.ts';
import type { Database } from '../../store/database.ts';
import type { ListSource } from '../../store/list-source.ts';
import { rememberedFor } from '../../store/remembered.ts';
import type { Scope } from '../rights/principal.ts';
import { formatScopes, parseScopes } from '../rights/scopes.ts';
import type { User, UserRow } from './users.ts';
import { userColumns, withUser } from './users.ts';

const API_KEY_PREFIX = 'ak_';
export const MAX_KEY_DAYS = 365;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface ApiKey {
  readonly id: number;
  readonly keyHash: string;
  readonly userId: number;
  readonly description: string | null;
  readonly createdAt: string;
  /** Null: never. */
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly isActive: boolean;
  /** Null: all rights of the owner. */
  readonly scopes: readonly Scope[] | null;
}

/** A key by its prefix, or an alias by its form. */
export function isApiKeyText(text: string): boolean {
  return text.startsWith(API_KEY_PREFIX) || isAlias(text);
}

/** A whole key; a password may begin like one. */
export function looksLikeOwnKey(text: string): boolean {
  return text.length === API_KEY_PREFIX.length + 43 && text.startsWith(API_KEY_PREFIX);
}

function isAlias(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

type ApiKeyRow = Omit<ApiKey, 'isActive' | 'scopes'> & {
  readonly keyIsActive: number;
  readonly keyScopes: string | null;
};

const keyColumns = `api_keys.id AS id, key_hash AS "keyHash", api_keys.user_id AS "userId",
  api_keys.description AS description, api_keys.created_at AS "createdAt", expires_at AS "expiresAt",
  last_used_at AS "lastUsedAt", api_keys.is_active AS "keyIsActive", scopes AS "keyScopes"`;

function keyOf({ keyIsActive, keyScopes, ...row }: ApiKeyRow): ApiKey {
  const scopes = keyScopes === null ? null : parseScopes(JSON.parse(keyScopes));
  return { ...row, isActive: keyIsActive === 1, scopes };
}

/** Null: never expires. Throws `invalid-request`. */
export function parseExpiresInDays(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const loc = ['body', 'expires_in_days'];
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw invalidRequest({ type: 'int_type', loc, msg: 'Days are a whole number' });
  }
  if (value < 1) {
    const msg = 'A key lives at least 1 day';
    throw invalidRequest({ type: 'greater_than_equal', loc, msg, input: value, ctx: { ge: 1 } });
  }
  if (value > MAX_KEY_DAYS) {
    throw new AppError('bad-request', 'Expiration cannot exceed 1 year (365 days)');
  }
  return value;
}

interface NewApiKey {
  readonly userId: number;
  readonly description: string | null;
  readonly expiresInDays: number | null;
  readonly scopes: readonly Scope[] | null;
  readonly now: number;
}

/** `value` cannot be read again. */
export async function createApiKey(
  db: Database,
  key: NewApiKey,
): Promise<{ key: ApiKey; value: string }> {
  const value = API_KEY_PREFIX + randomToken();
  const keyHash = sha256Hex(value);
  const createdAt = timestamp(key.now);
  const expiresAt =
    key.expiresInDays === null ? null : timestamp(key.now + key.expiresInDays * DAY_MS);
  const { userId, description, scopes } = key;
  const { lastId } = await db.run(
    `INSERT INTO api_keys (key_hash, user_id, description, created_at, expires_at, scopes)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [
      keyHash,
      userId,
      description,
      createdAt,
      expiresAt,
      scopes === null ? null : JSON.stringify(formatScopes(scopes)),
    ],
  );
  const stored = { keyHash, userId, description, createdAt, expiresAt, scopes };
  return { key: { id: lastId, lastUsedAt: null, isActive: true, ...stored }, value };
}

/** By id, including revoked ones. */
export async function listApiKeys(
  db: Database,
  only: { readonly userId?: number; readonly isActive?: boolean } = {},
): Promise<ApiKey[]> {
  const { userId = null, isActive = null } = only;
  const rows = await db.all<ApiKeyRow>(
    `SELECT ${keyColumns} FROM api_keys
     WHERE api_keys.user_id = coalesce(?, api_keys.user_id) AND is_active = coalesce(?, is_active)
     ORDER BY id`,
    [userId, isActive === null ? null : Number(isActive)],
  );
  return rows.map(keyOf);
}

export async function getApiKey(db: Database, id: number): Promise<ApiKey | null> {
  const row = await db.get<ApiKeyRow>(`SELECT ${keyColumns} FROM api_keys WHERE id = ?`, [id]);
  return row === null ? null : keyOf(row);
}

/** False when there is no such key, or not of that user. */
export async function revokeApiKey(
  db: Database,
  id: number,
  only: { readonly userId?: number } = {},
): Promise<boolean> {
  const { changes } = await db.run(
    'UPDATE api_keys SET is_active = 0 WHERE id = ? AND user_id = coalesce(?, user_id)',
    [id, only.userId ?? null],
  );
  return changes > 0;
}

/** Usable or not: test `isUsable`. */
export interface FoundApiKey {
  readonly key: ApiKey;
  readonly user: User;
  /** Neither revoked nor expired; says nothing about the user. */
  readonly isUsable: boolean;
}

const keysByHash = rememberedFor<Omit<FoundApiKey, 'isUsable'> | null>(1_000);

/** By value or alias. One indexed read after a state change, else from memory. */
export function findApiKey(
  db: Database,
  value: string,
  now: number,
): MaybePromise<FoundApiKey | null> {
  const isByAlias = isAlias(value);
  if (!isByAlias && !/^ak_[\w-]{43}$/.test(value)) return null;
  const hash = sha256Hex(isByAlias ? value.toLowerCase() : value);
  const where = isByAlias
    ? 'api_keys.id = (SELECT api_key_id FROM ingest_settings WHERE alias_hash = ?)'
    : 'key_hash = ?';
  const found = keysByHash(db).get(db, hash, async () => {
    const row = await db.get<ApiKeyRow & UserRow>(
      `SELECT ${keyColumns}, ${userColumns} FROM api_keys JOIN users ON users.id = api_keys.user_id
       WHERE ${where}`,
      [hash],
    );
    if (row === null) return null;
    const { user, rest } = withUser(row);
    return { key: keyOf(rest), user };
  });
  return whenResolved(found, (one) => one && { ...one, isUsable: isUsableAt(one.key, now) });
}

function isUsableAt({ isActive, expiresAt }: ApiKey, now: number): boolean {
  return isActive && (expiresAt === null || expiresAt > timestamp(now));
}

export async function noteApiKeyUse(db: Database, key: ApiKey, now: number): Promise<void> {
  await db.relaxed.run(
    'UPDATE api_keys SET last_used_at = ? WHERE id = ? AND last_used_at IS NOT DISTINCT FROM ?',
    [timestamp(now), key.id, key.lastUsedAt],
  );
}

export const apiKeyList: ListSource = {
  name: 'api-keys',
  from: 'api_keys',
  id: 'id',
  columns: [
    { name: 'id', type: 'integer', sql: 'id' },
    { name: 'key_hash', type: 'string', sql: 'key_hash' },
    { name: 'user_id', type: 'integer', sql: 'user_id' },
    { name: 'description', type: 'string', sql: 'description' },
    { name: 'created_at', type: 'date-time', sql: 'created_at' },
    { name: 'expires_at', type: 'date-time', sql: 'expires_at' },
    { name: 'last_used_at', type: 'date-time', sql: 'last_used_at' },
    { name: 'is_active', type: 'boolean', sql: 'is_active' },
    { name: 'scopes', type: 'nested', sql: 'scopes', isOptional: true },
  ],
  sortable: ['created_at', 'expires_at', 'last_used_at', 'is_active', 'description'],
  order: 'asc',
};

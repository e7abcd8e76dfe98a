import { describe, expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import {
  createApiKey,
  findApiKey,
  getApiKey,
  listApiKeys,
  noteApiKeyUse,
  parseExpiresInDays,
  revokeApiKey,
} from '../../src/accounts/identity/api-keys.ts';
import { isUseDue } from '../../src/accounts/identity/last-use.ts';
import { formatScopes, parseScopes } from '../../src/accounts/rights/scopes.ts';
import { createUser } from '../../src/accounts/identity/users.ts';
import type { Database } from '../../src/store/database.ts';
import { temporaryDatabase } from '../support/database.ts';

const now = Date.UTC(2026, 10, 20, 12);
const DAY = 86_400_000;

async function keyOf(db: Database, username: string, days: number | null = null) {
  const user = await createUser(db, { username, passwordHash: null, isSuperuser: false, now });
  const scopes = parseScopes(['read:a/*', 'write']);
  const made = await createApiKey(db, {
    userId: user.id,
    description: 'd',
    expiresInDays: days,
    scopes,
    now,
  });
  return { user, ...made };
}

describe('a key (DS-116)', () => {
  test('is found by its value, of which only the digest is stored', async () => {
    await using at = await temporaryDatabase();
    const { user, key, value } = await keyOf(at.db, 'ada', 30);
    expect(value).toMatch(/^ak_[\w-]{43}$/);
    expect(key).toMatchObject({ id: 1, userId: user.id, isActive: true, lastUsedAt: null });
    expect(key.expiresAt).toBe('2026-12-20T12:00:00.000Z');
    expect(await findApiKey(at.db, value, now)).toEqual({ key, user, isUsable: true });
    expect(await getApiKey(at.db, 1)).toEqual(key);
    expect(JSON.stringify(await at.db.all('SELECT * FROM api_keys'))).not.toContain(value.slice(3));
    for (const other of ['', 'ak_', value.slice(0, -1), `${value}x`, value.toUpperCase()]) {
      expect(await findApiKey(at.db, other, now)).toBeNull();
    }
  });

  test('works until it expires or is revoked, which may be said twice', async () => {
    await using at = await temporaryDatabase();
    const ada = await keyOf(at.db, 'ada', 1);
    const bob = await keyOf(at.db, 'bob');
    expect((await findApiKey(at.db, ada.value, now + DAY - 1))?.isUsable).toBe(true);
    expect((await findApiKey(at.db, ada.value, now + DAY))?.isUsable).toBe(false);
    expect(await revokeApiKey(at.db, bob.key.id, { userId: ada.user.id })).toBe(false);
    expect(await revokeApiKey(at.db, bob.key.id, { userId: bob.user.id })).toBe(true);
    expect(await revokeApiKey(at.db, bob.key.id)).toBe(true);
    expect(await revokeApiKey(at.db, 99)).toBe(false);
    expect((await findApiKey(at.db, bob.value, now))?.isUsable).toBe(false);
    const ids = async (only: Parameters<typeof listApiKeys>[1]) =>
      (await listApiKeys(at.db, only)).map(({ id }) => id);
    expect(await ids({})).toEqual([1, 2]);
    expect(await ids({ isActive: false })).toEqual([2]);
    expect(await ids({ userId: ada.user.id, isActive: true })).toEqual([1]);
  });

  test('has its use written at most once a minute (DS-97)', async () => {
    await using at = await temporaryDatabase();
    const { key, value } = await keyOf(at.db, 'ada');
    expect(isUseDue(key.lastUsedAt, now)).toBe(true);
    await Promise.all([noteApiKeyUse(at.db, key, now), noteApiKeyUse(at.db, key, now + 5)]);
    const used = (await findApiKey(at.db, value, now))!.key;
    expect(used.lastUsedAt).toBe('2026-11-20T12:00:00.000Z');
    expect(isUseDue(used.lastUsedAt, now + 59_999)).toBe(false);
    expect(isUseDue(used.lastUsedAt, now + 60_000)).toBe(true);
    expect(isUseDue(used.lastUsedAt, now - DAY)).toBe(true);
  });
});

test('the life of a key is 1 to 365 days or without end (DS-117)', () => {
  expect(parseExpiresInDays(undefined)).toBeNull();
  expect(parseExpiresInDays(null)).toBeNull();
  expect(parseExpiresInDays(365)).toBe(365);
  const refused: [unknown, object][] = [
    [0, { code: 'invalid-request', issues: [{ type: 'greater_than_equal', ctx: { ge: 1 } }] }],
    [1.5, { code: 'invalid-request', issues: [{ type: 'int_type' }] }],
    ['7', { code: 'invalid-request', issues: [{ type: 'int_type' }] }],
    [366, { code: 'bad-request', message: 'Expiration cannot exceed 1 year (365 days)' }],
  ];
  for (const [value, error] of refused) {
    try {
      parseExpiresInDays(value);
      expect.unreachable();
    } catch (thrown) {
      expect(thrown).toMatchObject(error);
    }
  }
});

describe('scopes (DS-118)', () => {
  test('are read and written back', () => {
    expect(parseScopes(undefined)).toBeNull();
    expect(parseScopes(null)).toBeNull();
    const texts = ['read', 'write', 'read:*', 'write:reports/*', 'read:a:b', 'write:@events/web'];
    expect(formatScopes(parseScopes(texts) ?? [])).toEqual(texts);
    expect(parseScopes(['read: a '])).toEqual([{ verb: 'read', pattern: 'a' }]);
    expect(parseScopes(Array(64).fill('read'))).toHaveLength(64);
  });

  test.each([
    ['read'],
    [[]],
    [Array(65).fill('read')],
    [['delete']],
    [['Read']],
    [['read:']],
    [['write:<root>']],
    [['read:/x']],
    [['read', 7]],
    [{}],
  ])('refuse %j', (value) => {
    expect(() => parseScopes(value)).toThrow(AppError);
  });

  test('name every one that is wrong', () => {
    try {
      parseScopes(['read', 7, 'x']);
      expect.unreachable();
    } catch (error) {
      expect((error as AppError).issues).toMatchObject([
        { type: 'string_type', loc: ['body', 'scopes', 1] },
        { type: 'value_error', loc: ['body', 'scopes', 2] },
      ]);
    }
  });
});

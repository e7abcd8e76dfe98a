import { describe, expect, test } from 'bun:test';
import { AppError } from '../../src/base/errors.ts';
import { createApiKey, findApiKey } from '../../src/accounts/identity/api-keys.ts';
import {
  addMember,
  checkGroupName,
  createGroup,
  deleteGroup,
  findGroup,
  getGroup,
  listGroups,
  listGroupsOf,
  listMembers,
  removeAllMembers,
  removeMember,
} from '../../src/accounts/rights/groups.ts';
import { createSession, findSession, listSessions } from '../../src/accounts/identity/sessions.ts';
import type { User } from '../../src/accounts/identity/users.ts';
import {
  checkUsername,
  countActiveSuperusers,
  createUser,
  deleteUser,
  findUser,
  findUserWithHash,
  getUser,
  listUsers,
  setActive,
  setPasswordHash,
  upgradePasswordHash,
} from '../../src/accounts/identity/users.ts';
import type { Database } from '../../src/store/database.ts';
import { temporaryDatabase } from '../support/database.ts';

const now = Date.UTC(2026, 10, 20, 12);

function make(db: Database, username: string, isSuperuser = false): Promise<User> {
  return createUser(db, { username, passwordHash: 'h', isSuperuser, now });
}

describe('usernames (DS-136)', () => {
  test('are trimmed and brought to NFC', () => {
    expect(checkUsername('  Ada  ')).toBe('Ada');
    expect(checkUsername('Zoe\u0308')).toBe('Zo\u00eb');
    expect(checkUsername('😀'.repeat(150))).toHaveLength(300);
    expect(checkGroupName(' staff ')).toBe('staff');
  });

  test.each([
    ['', 'string_too_short'],
    [' \t\n ', 'string_too_short'],
    ['x'.repeat(151), 'string_too_long'],
    ['a\u0007b', 'value_error'],
    ['a\u0085b', 'value_error'],
    ['a\nb', 'value_error'],
    ['a\ud800', 'value_error'],
  ])('refuse %j', (text, type) => {
    try {
      checkUsername(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      expect((error as AppError).code).toBe('invalid-request');
      expect((error as AppError).issues).toMatchObject([{ type, loc: ['body', 'username'] }]);
    }
  });
});

describe('accounts', () => {
  test('are found by name and id, case by case', async () => {
    await using at = await temporaryDatabase();
    const ada = await make(at.db, 'ada', true);
    expect(ada).toEqual({
      id: 1,
      username: 'ada',
      isActive: true,
      isSuperuser: true,
      createdAt: '2026-11-20T12:00:00.000Z',
    });
    expect(await findUser(at.db, ' ada ')).toEqual(ada);
    expect(await findUser(at.db, 'Ada')).toBeNull();
    expect(await getUser(at.db, 1)).toEqual(ada);
    expect(await getUser(at.db, 2)).toBeNull();
    expect(await findUserWithHash(at.db, 'ada')).toEqual({ user: ada, passwordHash: 'h' });
    await make(at.db, 'Ada');
    expect((await listUsers(at.db)).map((user) => user.username)).toEqual(['ada', 'Ada']);
  });

  test('have unique names, also when made at the same moment', async () => {
    await using at = await temporaryDatabase();
    const outcomes = await Promise.allSettled([make(at.db, 'bob'), make(at.db, 'bob')]);
    expect(outcomes.map((outcome) => outcome.status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await expect(make(at.db, 'bob')).rejects.toMatchObject({
      code: 'bad-request',
      message: 'User already exists',
    });
  });

  test('never reuse an id', async () => {
    await using at = await temporaryDatabase();
    const first = await make(at.db, 'a');
    await deleteUser(at.db, first.id);
    expect((await make(at.db, 'a')).id).toBe(first.id + 1);
  });

  test('lose their sessions but not their keys with a new password', async () => {
    await using at = await temporaryDatabase();
    const { id } = await make(at.db, 'ada');
    const session = await createSession(at.db, { userId: id, ip: null, userAgent: null, now });
    await createSession(at.db, { userId: id, ip: null, userAgent: null, now });
    const key = await createApiKey(at.db, {
      userId: id,
      description: null,
      expiresInDays: null,
      scopes: null,
      now,
    });
    expect(await setPasswordHash(at.db, id, 'new')).toBe(2);
    expect((await findUserWithHash(at.db, 'ada'))?.passwordHash).toBe('new');
    expect(await findSession(at.db, session.token, now)).toBeNull();
    expect((await findApiKey(at.db, key.value, now))?.isUsable).toBe(true);
    await expect(setPasswordHash(at.db, 99, 'x')).rejects.toMatchObject({ code: 'not-found' });
  });

  test('keep a password that was changed while its old hash was renewed', async () => {
    await using at = await temporaryDatabase();
    const { id } = await make(at.db, 'ada');
    await setPasswordHash(at.db, id, 'changed');
    await upgradePasswordHash(at.db, id, 'h', 'renewed');
    expect((await findUserWithHash(at.db, 'ada'))?.passwordHash).toBe('changed');
    await upgradePasswordHash(at.db, id, 'changed', 'renewed');
    expect((await findUserWithHash(at.db, 'ada'))?.passwordHash).toBe('renewed');
  });

  test('end their sessions when deactivated and count them (DS-139)', async () => {
    await using at = await temporaryDatabase();
    const { id } = await make(at.db, 'ada');
    await createSession(at.db, { userId: id, ip: null, userAgent: null, now });
    expect(await setActive(at.db, id, false)).toMatchObject({
      changed: true,
      sessionsRevoked: 1,
      user: { isActive: false },
    });
    expect(await setActive(at.db, id, false)).toMatchObject({ changed: false, sessionsRevoked: 0 });
    expect(await setActive(at.db, id, true)).toMatchObject({ changed: true, sessionsRevoked: 0 });
    expect(await listSessions(at.db, id, now)).toEqual([]);
    await expect(setActive(at.db, 99, true)).rejects.toMatchObject({ message: 'User not found' });
  });

  test('take everything of theirs along when deleted, except the audit (DS-139)', async () => {
    await using at = await temporaryDatabase();
    const { id } = await make(at.db, 'ada');
    const group = await createGroup(at.db, { name: 'g', description: null });
    await addMember(at.db, group.id, id);
    await createSession(at.db, { userId: id, ip: null, userAgent: null, now });
    await createApiKey(at.db, {
      userId: id,
      description: null,
      expiresInDays: null,
      scopes: null,
      now,
    });
    await at.db.run("INSERT INTO audit (timestamp, user_id, action) VALUES ('', ?, 'login')", [id]);
    expect((await deleteUser(at.db, id)).username).toBe('ada');
    for (const table of ['users', 'sessions', 'api_keys', 'group_members']) {
      expect(await at.db.all(`SELECT * FROM ${table}`)).toEqual([]);
    }
    expect(await at.db.all('SELECT user_id, action FROM audit')).toEqual([
      { user_id: null, action: 'login' },
    ]);
    await expect(deleteUser(at.db, id)).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('the last active superuser (DS-138)', () => {
  const refusal = { code: 'bad-request', message: 'Cannot remove the last active superuser' };

  test('can be neither deleted nor deactivated', async () => {
    await using at = await temporaryDatabase();
    const root = await make(at.db, 'root', true);
    const sleeping = await make(at.db, 'sleeping', true);
    await setActive(at.db, sleeping.id, false);
    await expect(deleteUser(at.db, root.id)).rejects.toMatchObject(refusal);
    await expect(setActive(at.db, root.id, false)).rejects.toMatchObject(refusal);
    await setActive(at.db, root.id, true);
    await deleteUser(at.db, sleeping.id);
    expect(await countActiveSuperusers(at.db)).toBe(1);
  });

  test('stays when two remove each other at the same moment', async () => {
    await using at = await temporaryDatabase();
    const one = await make(at.db, 'one', true);
    const two = await make(at.db, 'two', true);
    const outcomes = await Promise.allSettled([
      deleteUser(at.db, one.id),
      setActive(at.db, two.id, false),
    ]);
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toHaveLength(1);
    expect(await countActiveSuperusers(at.db)).toBe(1);
  });
});

describe('groups', () => {
  test('are made, found, listed and deleted', async () => {
    await using at = await temporaryDatabase();
    const group = await createGroup(at.db, { name: 'staff', description: 'all' });
    expect(group).toEqual({ id: 1, name: 'staff', description: 'all' });
    expect(await findGroup(at.db, ' staff ')).toEqual(group);
    expect(await getGroup(at.db, 1)).toEqual(group);
    await expect(createGroup(at.db, { name: 'staff', description: null })).rejects.toMatchObject({
      message: 'Group already exists',
    });
    expect(await listGroups(at.db)).toEqual([group]);
    expect(await deleteGroup(at.db, 1)).toEqual(group);
    await expect(deleteGroup(at.db, 1)).rejects.toMatchObject({ message: 'Group not found' });
  });

  test('know their members', async () => {
    await using at = await temporaryDatabase();
    const group = await createGroup(at.db, { name: 'staff', description: null });
    const ada = await make(at.db, 'ada');
    const bob = await make(at.db, 'bob');
    expect(await addMember(at.db, group.id, bob.id)).toBe(true);
    expect(await addMember(at.db, group.id, ada.id)).toBe(true);
    expect(await addMember(at.db, group.id, ada.id)).toBe(false);
    expect(await listMembers(at.db, group.id)).toEqual([ada, bob]);
    expect(await listGroupsOf(at.db, ada.id)).toEqual([group]);
    expect(await removeMember(at.db, group.id, ada.id)).toBe(true);
    expect(await removeMember(at.db, group.id, ada.id)).toBe(false);
    expect(await removeAllMembers(at.db, group.id)).toBe(1);
    await expect(addMember(at.db, group.id, 99)).rejects.toThrow();
  });

  test('keep a member added by hand whom OIDC had added before', async () => {
    await using at = await temporaryDatabase();
    const group = await createGroup(at.db, { name: 'staff', description: null });
    const ada = await make(at.db, 'ada');
    await at.db.run(
      'INSERT INTO group_members (group_id, user_id, oidc_managed) VALUES (?, ?, 1)',
      [group.id, ada.id],
    );
    expect(await addMember(at.db, group.id, ada.id)).toBe(false);
    expect(await at.db.get('SELECT oidc_managed FROM group_members')).toEqual({ oidc_managed: 0 });
  });
});

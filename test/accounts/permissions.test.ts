import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addMember, createGroup, deleteGroup } from '../../src/accounts/rights/groups.ts';
import type { Grants } from '../../src/accounts/rights/permissions.ts';
import {
  assignPermission,
  createPermission,
  deletePermission,
  findPermission,
  getPermission,
  grantsCover,
  grantsCoverEvents,
  grantsNameAddressed,
  listGroupPermissions,
  listPermissions,
  loadGrants,
  unassignPermission,
} from '../../src/accounts/rights/permissions.ts';
import type { Principal, Scope } from '../../src/accounts/rights/principal.ts';
import { checkResource, normalResource } from '../../src/accounts/rights/resource-names.ts';
import { createUser } from '../../src/accounts/identity/users.ts';
import { temporaryDatabase } from '../support/database.ts';

function holding(read: string[], scopes: Scope[] | null = null, write: string[] = []): Grants {
  return { isSuperuser: false, patterns: { read, write }, scopes };
}

const superuser = (scopes: Scope[] | null = null): Grants => ({
  isSuperuser: true,
  patterns: { read: [], write: [] },
  scopes,
});

describe('a permission text matches (DS-129)', () => {
  const cases: [pattern: string, names: string[], covered: boolean][] = [
    ['notes', ['notes', 'notes.csv'], true],
    ['notes.csv', ['notes', 'notes.csv'], true],
    ['notes', ['notes.txt', 'notes.txt'], false],
    ['Notes', ['notes', 'notes.csv'], false],
    ['*', ['notes', 'notes.csv'], true],
    ['*', ['a/b/c', 'a/b/c.csv'], true],
    ['*', [''], false],
    ['', [''], true],
    ['', ['notes', 'notes.csv'], false],
    ['reports/*', ['reports/a', 'reports/a.csv'], true],
    ['reports/*', ['reports/x/y/z', 'reports/x/y/z.md'], true],
    ['reports/*', ['reports', 'reports.csv'], false],
    ['reports/*', ['reportsx/a', 'reportsx/a.csv'], false],
    ['inventory/*', ['inventory/Stock', 'inventory.xlsx/Stock'], true],
    ['inventory.xlsx/*', ['inventory/Stock', 'inventory.xlsx/Stock'], true],
    ['rep*', ['reports', 'reports.csv'], false],
    ['*.csv', ['notes', 'notes.csv'], false],
    ['a*b', ['a*b', 'a*b.csv'], true],
    ['*/a', ['x/a', 'x/a.csv'], false],
    ['**', ['notes', 'notes.csv'], false],
    ['@events', ['@events', '@events.csv'], false],
    ['@events.csv', ['@events', '@events.csv'], true],
    ['*', ['@events', '@events.csv'], false],
    ['@events/web', ['@events/web', '@events/web.csv'], false],
    ['@events/*', ['@events/web', '@events/web.csv'], false],
    ['@events/web.csv', ['@events/web', '@events/web.csv'], true],
  ];
  test.each(cases)('%j on %j: %p', (pattern, names, covered) => {
    expect(grantsCover(holding([pattern]), names, 'read')).toBe(covered);
    expect(grantsCover(holding([pattern]), names, 'write')).toBe(false);
    expect(grantsCover(holding([], null, [pattern]), names, 'write')).toBe(covered);
  });

  test('like a plain model of the rule, for any texts', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', '/', '*', '.'), { maxLength: 5 })
      .map((parts) => parts.join(''));
    const model = (pattern: string, name: string) =>
      name === ''
        ? pattern === ''
        : pattern !== '' &&
          (pattern === name ||
            pattern === '*' ||
            (/\/\*$/.test(pattern) && name.indexOf(pattern.slice(0, -1)) === 0));
    fc.assert(
      fc.property(text, text, text, (pattern, canonical, extension) => {
        const covered = grantsCover(holding([pattern]), [canonical, extension], 'read');
        expect(covered).toBe(model(pattern, canonical) || model(pattern, extension));
      }),
      { verbose: true },
    );
  });
});

describe('event rights (EV-20)', () => {
  const cases: [pattern: string, index: string, covered: boolean][] = [
    ['@events', 'web', true],
    ['@events/web', 'web', true],
    ['@events/web', 'web2', false],
    ['@events/*', 'web', true],
    ['@events/team/*', 'team/web', true],
    ['@events/team/*', 'web', false],
    ['*', 'web', false],
    ['web', 'web', false],
    ['', 'web', false],
  ];
  test.each(cases)('%j on index %j: %p', (pattern, index, covered) => {
    expect(grantsCoverEvents(holding([pattern]), index, 'read')).toBe(covered);
  });

  test('are narrowed by scopes', () => {
    const scopes: Scope[] = [{ verb: 'write', pattern: '@events/web' }];
    expect(grantsCoverEvents(superuser(scopes), 'web', 'write')).toBe(true);
    expect(grantsCoverEvents(superuser(scopes), 'web', 'read')).toBe(false);
    expect(grantsCoverEvents(superuser(scopes), 'app', 'write')).toBe(false);
    expect(grantsCoverEvents(superuser([{ verb: 'write', pattern: '*' }]), 'web', 'write')).toBe(
      false,
    );
    expect(grantsCoverEvents(superuser([{ verb: 'write', pattern: null }]), 'web', 'write')).toBe(
      true,
    );
  });
});

describe('scopes of a key (DS-118)', () => {
  test('narrow the rights of the owner, superusers too', () => {
    const scopes: Scope[] = [{ verb: 'read', pattern: 'reports/*' }];
    const inside = ['reports/a', 'reports/a.csv'];
    const outside = ['notes', 'notes.csv'];
    expect(grantsCover(superuser(scopes), inside, 'read')).toBe(true);
    expect(grantsCover(superuser(scopes), inside, 'write')).toBe(false);
    expect(grantsCover(superuser(scopes), outside, 'read')).toBe(false);
    expect(grantsCover(holding(['*'], scopes), inside, 'read')).toBe(true);
    expect(grantsCover(holding(['notes'], scopes), inside, 'read')).toBe(false);
  });

  test('allow upload only by an unrestricted write', () => {
    expect(grantsCover(superuser(), [''], 'write')).toBe(true);
    expect(grantsCover(superuser([{ verb: 'write', pattern: null }]), [''], 'write')).toBe(true);
    expect(grantsCover(superuser([{ verb: 'write', pattern: '*' }]), [''], 'write')).toBe(false);
    expect(grantsCover(holding([], null, ['']), [''], 'write')).toBe(true);
    expect(grantsCover(holding([], null, ['*']), [''], 'write')).toBe(false);
  });
});

test('a miss is told as 404 only where a grant matches the typed name (DS-130)', () => {
  expect(grantsNameAddressed(holding(['gone']), 'gone', 'read')).toBe(true);
  expect(grantsNameAddressed(holding(['gone/*']), 'gone/x', 'read')).toBe(true);
  expect(grantsNameAddressed(holding(['gone']), 'gone', 'write')).toBe(false);
  expect(grantsNameAddressed(holding(['*']), 'anything', 'read')).toBe(true);
  expect(grantsNameAddressed(superuser(), 'anything', 'write')).toBe(true);
  expect(grantsNameAddressed(superuser([{ verb: 'read', pattern: 'a' }]), 'b', 'read')).toBe(false);
  expect(grantsNameAddressed(holding(['']), '', 'read')).toBe(false);
});

describe('stored permissions', () => {
  test('are unique by resource and action', async () => {
    await using at = await temporaryDatabase();
    const permission = await createPermission(at.db, {
      resource: 'a',
      action: 'read',
      description: 'd',
    });
    expect(permission).toEqual({ id: 1, resource: 'a', action: 'read', description: 'd' });
    await createPermission(at.db, { resource: 'a', action: 'write', description: null });
    await expect(
      createPermission(at.db, { resource: 'a', action: 'read', description: null }),
    ).rejects.toMatchObject({ code: 'bad-request', message: 'Permission already exists' });
    expect(await findPermission(at.db, 'a', 'read')).toEqual(permission);
    expect(await getPermission(at.db, 1)).toEqual(permission);
    expect(await listPermissions(at.db)).toHaveLength(2);
    expect(await deletePermission(at.db, 1)).toEqual(permission);
    await expect(deletePermission(at.db, 1)).rejects.toMatchObject({
      message: 'Permission not found',
    });
  });

  test('reach users through groups and leave with either', async () => {
    await using at = await temporaryDatabase();
    const user = await createUser(at.db, {
      username: 'ada',
      passwordHash: null,
      isSuperuser: false,
      now: 0,
    });
    const caller: Principal = {
      userId: user.id,
      username: 'ada',
      isSuperuser: false,
      credential: 'session',
      sessionId: null,
      apiKeyId: null,
      scopes: null,
    };
    const [one, two] = [
      await createGroup(at.db, { name: 'one', description: null }),
      await createGroup(at.db, { name: 'two', description: null }),
    ];
    const read = await createPermission(at.db, {
      resource: 'a',
      action: 'read',
      description: null,
    });
    const write = await createPermission(at.db, {
      resource: 'b/*',
      action: 'write',
      description: null,
    });
    expect(await assignPermission(at.db, one.id, read.id)).toBe(true);
    expect(await assignPermission(at.db, one.id, read.id)).toBe(false);
    await assignPermission(at.db, two.id, read.id);
    await assignPermission(at.db, two.id, write.id);
    expect((await loadGrants(at.db, caller)).patterns).toEqual({ read: [], write: [] });
    await addMember(at.db, one.id, user.id);
    await addMember(at.db, two.id, user.id);
    expect((await loadGrants(at.db, caller)).patterns).toEqual({ read: ['a'], write: ['b/*'] });
    expect(await listGroupPermissions(at.db, two.id)).toEqual([read, write]);
    expect(await unassignPermission(at.db, two.id, write.id)).toBe(true);
    expect(await unassignPermission(at.db, two.id, write.id)).toBe(false);
    await deleteGroup(at.db, one.id);
    expect((await loadGrants(at.db, caller)).patterns).toEqual({ read: ['a'], write: [] });
    await deletePermission(at.db, read.id);
    expect((await loadGrants(at.db, caller)).patterns).toEqual({ read: [], write: [] });
    expect(await loadGrants(at.db, null)).toEqual(holding([]));
    expect((await loadGrants(at.db, { ...caller, isSuperuser: true })).isSuperuser).toBe(true);
  });

  test('are looked up by index alone', async () => {
    await using at = await temporaryDatabase();
    const plan = await at.db.all<{ detail: string }>(
      `EXPLAIN QUERY PLAN SELECT resource, action FROM group_members
       JOIN group_permissions ON group_permissions.group_id = group_members.group_id
       JOIN permissions ON permissions.id = permission_id WHERE user_id = ?`,
      [1],
    );
    expect(plan.filter(({ detail }) => detail.startsWith('SCAN'))).toEqual([]);
  });
});

test('resource texts have one form for the docroot and no leading slash (DS-137)', () => {
  expect(['', ' ', '__root__', ' <root> '].map(normalResource)).toEqual(['', '', '', '']);
  expect(checkResource(' reports/* ')).toBe('reports/*');
  expect(checkResource('Zoe\u0308')).toBe('Zo\u00eb');
  expect(() => checkResource('/reports')).toThrow();
});

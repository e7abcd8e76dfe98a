/**
 * Permissions, who holds them, and the one place that decides whether they cover something (DS-128 to DS-131).
 *
 * Rights only add up: groups give, nothing takes away; an API key's scopes are the one thing that narrows them.
 */
import { AppError } from '../base/errors.ts';
import { type Soon, whenThere } from '../base/soon.ts';
import type { Database } from '../store/database.ts';
import type { ListSource } from '../store/list-source.ts';
import { rememberedFor } from '../store/remembered.ts';
import type { Caller, Scope, Verb } from './principal.ts';
import { matchesDocument, matchesEventIndex, namesEvents } from './resource-names.ts';

/** A right that groups can hold. */
export interface Permission {
  readonly id: number;
  readonly resource: string;
  readonly action: Verb;
  readonly description: string | null;
}

interface NewPermission {
  /** As `checkResource` gave it. */
  readonly resource: string;
  readonly action: Verb;
  readonly description: string | null;
}

/** Makes a permission. Throws `bad-request` (`Permission already exists`). */
export async function createPermission(
  db: Database,
  permission: NewPermission,
): Promise<Permission> {
  const { changes, lastId } = await db.run(
    `INSERT INTO permissions (resource, action, description) VALUES (?, ?, ?)
     ON CONFLICT (resource, action) DO NOTHING`,
    [permission.resource, permission.action, permission.description],
  );
  if (changes === 0) throw new AppError('bad-request', 'Permission already exists');
  return { id: lastId, ...permission };
}

/** The permission with exactly that resource text and action; null when there is none. */
export async function findPermission(
  db: Database,
  resource: string,
  action: Verb,
): Promise<Permission | null> {
  return db.get<Permission>(
    'SELECT id, resource, action, description FROM permissions WHERE resource = ? AND action = ?',
    [resource, action],
  );
}

/** The permission with that id; null when there is none. */
export async function getPermission(db: Database, id: number): Promise<Permission | null> {
  return db.get<Permission>(
    'SELECT id, resource, action, description FROM permissions WHERE id = ?',
    [id],
  );
}

/** All permissions in the order they were made. */
export async function listPermissions(db: Database): Promise<Permission[]> {
  return db.all<Permission>(
    'SELECT id, resource, action, description FROM permissions ORDER BY id',
  );
}

/** Deletes the permission everywhere and answers what it was. Throws `not-found` (`Permission not found`). */
export async function deletePermission(db: Database, id: number): Promise<Permission> {
  return db.transaction(async (tx) => {
    const permission = await getPermission(tx, id);
    if (permission === null) throw new AppError('not-found', 'Permission not found');
    await tx.run('DELETE FROM permissions WHERE id = ?', [id]);
    return permission;
  });
}

/** Gives the permission to the group; false when it held it. Both must exist: otherwise the database refuses. */
export async function assignPermission(
  db: Database,
  groupId: number,
  permissionId: number,
): Promise<boolean> {
  const { changes } = await db.run(
    `INSERT INTO group_permissions (group_id, permission_id) VALUES (?, ?)
     ON CONFLICT (group_id, permission_id) DO NOTHING`,
    [groupId, permissionId],
  );
  return changes > 0;
}

/** Takes the permission from the group; false when it did not hold it. */
export async function unassignPermission(
  db: Database,
  groupId: number,
  permissionId: number,
): Promise<boolean> {
  const { changes } = await db.run(
    'DELETE FROM group_permissions WHERE group_id = ? AND permission_id = ?',
    [groupId, permissionId],
  );
  return changes > 0;
}

/** The permissions a group holds, by id. */
export async function listGroupPermissions(db: Database, groupId: number): Promise<Permission[]> {
  return db.all<Permission>(
    `SELECT id, resource, action, description FROM permissions
     JOIN group_permissions ON permission_id = permissions.id
     WHERE group_id = ? ORDER BY id`,
    [groupId],
  );
}

/** What a caller may do, as of the moment it was loaded; good for one request. */
export interface Grants {
  readonly isSuperuser: boolean;
  /** The resource texts held for each verb. */
  readonly patterns: Readonly<Record<Verb, readonly string[]>>;
  /** Narrows all of it, for superusers too; null: no restriction. */
  readonly scopes: readonly Scope[] | null;
}

interface HeldPermission {
  readonly resource: string;
  readonly action: Verb;
}

const NO_PATTERNS: Grants['patterns'] = { read: [], write: [] };
const heldByUser = rememberedFor<Grants['patterns']>(1_000);

/** The rights of a caller; an anonymous one has none. One indexed read after a change, else there at once. */
export function loadGrants(db: Database, caller: Caller): Soon<Grants> {
  if (caller === null) return { isSuperuser: false, patterns: NO_PATTERNS, scopes: null };
  const { isSuperuser, scopes, userId } = caller;
  if (isSuperuser) return { isSuperuser, patterns: NO_PATTERNS, scopes };
  const held = heldByUser(db).get(db, String(userId), () => patternsOf(db, userId));
  return whenThere(held, (patterns) => ({ isSuperuser, patterns, scopes }));
}

async function patternsOf(db: Database, userId: number): Promise<Grants['patterns']> {
  const rows = await db.all<HeldPermission>(
    `SELECT resource, action FROM group_members
     JOIN group_permissions ON group_permissions.group_id = group_members.group_id
     JOIN permissions ON permissions.id = permission_id
     WHERE user_id = ?`,
    [userId],
  );
  const held: Record<Verb, Set<string>> = { read: new Set(), write: new Set() };
  // Not DISTINCT: sorting the few rows would take SQLite longer than reading them.
  for (const { resource, action } of rows) held[action].add(resource);
  return { read: [...held.read], write: [...held.write] };
}

/**
 * Whether the grants allow `verb` on a document that goes by these names; any of them is enough. The last name is the
 * extension form (DS-25); `['']` asks for upload.
 */
export function grantsCover(grants: Grants, names: readonly string[], verb: Verb): boolean {
  return covers(grants, verb, documentCoverage(names));
}

/** Tells which resource texts of permissions cover the thing it was made for. */
export type Coverage = (pattern: string) => boolean;

/** Coverage of a document by its names; the last one is the extension form. */
export function documentCoverage(names: readonly string[]): Coverage {
  return (pattern) =>
    names.some((name, index) => matchesDocument(pattern, name, index === names.length - 1));
}

/** Coverage of an event index (EV-20). */
export function eventCoverage(index: string): Coverage {
  return (pattern) => matchesEventIndex(pattern, index);
}

/**
 * Whether a grant of `verb` matches the name as it was typed, existing or not: then a miss may be told as 404 (DS-130).
 */
export function grantsNameAddressed(grants: Grants, typedName: string, verb: Verb): boolean {
  // The empty name is the docroot boundary, which no grant of a resource speaks of.
  if (typedName === '') return grants.isSuperuser && grants.scopes === null;
  return grantsCover(grants, [typedName], verb);
}

/** Whether the grants allow `verb` on the event index (EV-20); document rights do not count. */
export function grantsCoverEvents(grants: Grants, index: string, verb: Verb): boolean {
  return covers(grants, verb, eventCoverage(index));
}

/** Whether the grants may allow `verb` on some event index, existing or not (EV-23, EV-24). */
export function grantsTouchEvents(grants: Grants, verb: Verb): boolean {
  return covers(grants, verb, namesEvents);
}

/** Whether everything that `before` let its holder read may be read still, going by the texts of the permissions. */
export function keepsReading(before: Grants, now: Grants): boolean {
  const held = new Set(now.patterns.read);
  return before.patterns.read.every((pattern) => held.has(pattern));
}

function covers(grants: Grants, verb: Verb, matches: Coverage): boolean {
  if (!grants.isSuperuser && !grants.patterns[verb].some(matches)) return false;
  return grants.scopes === null || scopesAllow(grants.scopes, verb, matches);
}

/** Whether one of the scopes of a key lets `verb` through (DS-118). */
export function scopesAllow(scopes: readonly Scope[], verb: Verb, matches: Coverage): boolean {
  return scopes.some(
    (scope) => scope.verb === verb && (scope.pattern === null || matches(scope.pattern)),
  );
}

/** A permission as a user holds it: through which group. */
export interface GroupGrant {
  readonly group_id: number;
  readonly group: string;
  readonly permission_id: number;
  readonly resource: string;
  readonly action: Verb;
}

/** Everything a user holds through groups, by group, then by permission. */
export async function listGrantsOf(db: Database, userId: number): Promise<GroupGrant[]> {
  return db.all<GroupGrant>(
    `SELECT groups.id AS group_id, groups.name AS "group", permissions.id AS permission_id, resource, action
     FROM group_members
     JOIN groups ON groups.id = group_members.group_id
     JOIN group_permissions ON group_permissions.group_id = groups.id
     JOIN permissions ON permissions.id = permission_id
     WHERE user_id = ? ORDER BY groups.id, permissions.id`,
    [userId],
  );
}

/** Who holds a permission through which group; `user_id` null: the group has no members. */
interface PermissionHolder {
  readonly permission_id: number;
  readonly group_id: number;
  readonly group: string;
  readonly user_id: number | null;
  readonly username: string | null;
  readonly is_active: boolean;
}

/** Holders of permissions, by permission, group, user name. */
export async function holdersOf(
  db: Database,
  permissionIds: readonly number[],
): Promise<PermissionHolder[]> {
  if (permissionIds.length === 0) return [];
  const rows = await db.all<Omit<PermissionHolder, 'is_active'> & { readonly is_active: number }>(
    `SELECT permission_id, groups.id AS group_id, groups.name AS "group", users.id AS user_id, username,
       coalesce(users.is_active, 0) AS is_active
     FROM group_permissions
     JOIN groups ON groups.id = group_permissions.group_id
     LEFT JOIN group_members ON group_members.group_id = groups.id
     LEFT JOIN users ON users.id = group_members.user_id
     WHERE permission_id IN (SELECT value FROM json_each(?)) ORDER BY permission_id, groups.id, username`,
    [JSON.stringify(permissionIds)],
  );
  return rows.map((row) => ({ ...row, is_active: row.is_active === 1 }));
}

/** The groups that hold each of these permissions, by id; permissions nobody holds are missing. */
export async function groupsHolding(
  db: Database,
  permissionIds: readonly number[],
): Promise<ReadonlyMap<number, readonly { readonly id: number; readonly name: string }[]>> {
  if (permissionIds.length === 0) return new Map();
  const rows = await db.all<{ permission_id: number; id: number; name: string }>(
    `SELECT permission_id, id, name FROM group_permissions JOIN groups ON groups.id = group_id
     WHERE permission_id IN (SELECT value FROM json_each(?)) ORDER BY permission_id, id`,
    [JSON.stringify(permissionIds)],
  );
  const entries = Map.groupBy(rows, ({ permission_id: id }) => id);
  return new Map(
    [...entries].map(([id, groups]) => [id, groups.map(({ id, name }) => ({ id, name }))]),
  );
}

/** Permissions as administrators list them (DS-134). */
export const permissionList: ListSource = {
  name: 'permissions',
  from: 'permissions',
  id: 'id',
  columns: [
    { name: 'id', type: 'integer', sql: 'id' },
    { name: 'resource', type: 'string', sql: 'resource' },
    { name: 'action', type: 'string', sql: 'action' },
    { name: 'description', type: 'string', sql: 'description' },
  ],
  sortable: ['id', 'resource', 'action', 'description'],
  order: 'asc',
};

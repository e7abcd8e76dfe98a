/**
 * Decides what permissions cover; operations/access.ts asks it for each request. Rights only add up: groups grant, nothing
 * denies; only an API key's scopes narrow them.
 */
import { AppError } from '../../base/errors.ts';
import { type MaybePromise, whenResolved } from '../../base/scheduling/maybe-promise.ts';
import type { Database } from '../../store/database.ts';
import { type ListSource, tableList } from '../../store/list-source.ts';
import { rememberedFor } from '../../store/remembered.ts';
import type { Caller, Scope, Verb } from './principal.ts';
import { matchesDocument, matchesEventIndex, namesEvents } from './resource-names.ts';

export interface Permission {
  readonly id: number;
  readonly resource: string;
  readonly action: Verb;
  readonly description: string | null;
}

interface NewPermission {
  readonly resource: string;
  readonly action: Verb;
  readonly description: string | null;
}

/** Throws `bad-request` when it exists. */
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

export async function getPermission(db: Database, id: number): Promise<Permission | null> {
  return db.get<Permission>(
    'SELECT id, resource, action, description FROM permissions WHERE id = ?',
    [id],
  );
}

export async function listPermissions(db: Database): Promise<Permission[]> {
  return db.all<Permission>(
    'SELECT id, resource, action, description FROM permissions ORDER BY id',
  );
}

/** Throws `not-found`. */
export async function deletePermission(db: Database, id: number): Promise<Permission> {
  return db.transaction(async (tx) => {
    const permission = await getPermission(tx, id);
    if (permission === null) throw new AppError('not-found', 'Permission not found');
    await tx.run('DELETE FROM permissions WHERE id = ?', [id]);
    return permission;
  });
}

/** False when the group held it. */
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

export async function listGroupPermissions(db: Database, groupId: number): Promise<Permission[]> {
  return db.all<Permission>(
    `SELECT id, resource, action, description FROM permissions
     JOIN group_permissions ON permission_id = permissions.id
     WHERE group_id = ? ORDER BY id`,
    [groupId],
  );
}

/** What a caller may do, as of loading; valid for one request. */
export interface Grants {
  readonly isSuperuser: boolean;
  readonly patterns: Readonly<Record<Verb, readonly string[]>>;
  /** Also for superusers; null: no restriction. */
  readonly scopes: readonly Scope[] | null;
}

interface HeldPermission {
  readonly resource: string;
  readonly action: Verb;
}

const NO_PATTERNS: Grants['patterns'] = { read: [], write: [] };
const heldByUser = rememberedFor<Grants['patterns']>(1_000);

/** One indexed read after a state change, else from memory. */
export function loadGrants(db: Database, caller: Caller): MaybePromise<Grants> {
  if (caller === null) return { isSuperuser: false, patterns: NO_PATTERNS, scopes: null };
  if (caller.link !== undefined) return { isSuperuser: false, patterns: NO_PATTERNS, scopes: [] };
  const { isSuperuser, isNarrowedSuperuser = false, scopes, userId } = caller;
  if (isSuperuser || isNarrowedSuperuser)
    return { isSuperuser: true, patterns: NO_PATTERNS, scopes };
  const held = heldByUser(db).get(db, String(userId), () => patternsOf(db, userId));
  return whenResolved(held, (patterns) => ({ isSuperuser, patterns, scopes }));
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
  // Not DISTINCT: sorting the few rows takes SQLite longer than reading them.
  for (const { resource, action } of rows) held[action].add(resource);
  return { read: [...held.read], write: [...held.write] };
}

/** Any of the names is enough. The last name is the extension form; `['']` asks for upload. */
export function grantsCover(grants: Grants, names: readonly string[], verb: Verb): boolean {
  return covers(grants, verb, documentCoverage(names));
}

/** Whether a resource text covers the thing it was made for. */
export type Coverage = (pattern: string) => boolean;

export function documentCoverage(names: readonly string[]): Coverage {
  return (pattern) =>
    names.some((name, index) => matchesDocument(pattern, name, index === names.length - 1));
}

export function eventCoverage(index: string): Coverage {
  return (pattern) => matchesEventIndex(pattern, index);
}

/** Whether a grant matches the name as typed, existing or not: only then may a miss be a 404. */
export function grantsNameAddressed(grants: Grants, typedName: string, verb: Verb): boolean {
  // The empty name is the docroot boundary, which no grant of a resource covers.
  if (typedName === '') return grants.isSuperuser && grants.scopes === null;
  return grantsCover(grants, [typedName], verb);
}

/** Document rights do not count. */
export function grantsCoverEvents(grants: Grants, index: string, verb: Verb): boolean {
  return covers(grants, verb, eventCoverage(index));
}

/** On any index, existing or not. */
export function grantsTouchEvents(grants: Grants, verb: Verb): boolean {
  return covers(grants, verb, namesEvents);
}

/** Judged by the permission texts. */
export function keepsReading(before: Grants, now: Grants): boolean {
  const held = new Set(now.patterns.read);
  return before.patterns.read.every((pattern) => held.has(pattern));
}

function covers(grants: Grants, verb: Verb, matches: Coverage): boolean {
  if (!grants.isSuperuser && !grants.patterns[verb].some(matches)) return false;
  return grants.scopes === null || scopesAllow(grants.scopes, verb, matches);
}

export function scopesAllow(scopes: readonly Scope[], verb: Verb, matches: Coverage): boolean {
  return scopes.some(
    (scope) => scope.verb === verb && (scope.pattern === null || matches(scope.pattern)),
  );
}

export interface GroupGrant {
  readonly group_id: number;
  readonly group: string;
  readonly permission_id: number;
  readonly resource: string;
  readonly action: Verb;
}

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

/** `user_id` null: the group has no members. */
interface PermissionHolder {
  readonly permission_id: number;
  readonly group_id: number;
  readonly group: string;
  readonly user_id: number | null;
  readonly username: string | null;
  readonly is_active: boolean;
}

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

/** Permissions nobody holds are missing. */
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

export const permissionList: ListSource = tableList(
  'permissions',
  { id: 'integer', resource: 'string', action: 'string', description: 'string' },
  ['id', 'resource', 'action', 'description'],
);

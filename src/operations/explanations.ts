/**
 * Why somebody may or may not do something: the answer of the same rules that decide (DS-128 to DS-130), with the groups
 * and permissions it follows from.
 */
import { getApiKey } from '../auth/api-keys.ts';
import {
  type Coverage,
  documentCoverage,
  eventCoverage,
  type GroupGrant,
  holdersOf,
  listGrantsOf,
  listPermissions,
  scopesAllow,
} from '../auth/permissions.ts';
import type { Scope, Verb } from '../auth/principal.ts';
import { DOCROOT_BOUNDARY, normalResource } from '../auth/resource-names.ts';
import { formatScopes } from '../auth/scopes.ts';
import { findUser, listUsers, type User } from '../auth/users.ts';
import { timestamp } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { Config } from '../config/schema.ts';
import type { Registry, Resource } from '../docroot/registry.ts';
import { permissionNames } from './access.ts';
import type { Administrator, AdminServices } from './administration.ts';
import { userView, type UserView } from './users.ts';

/** What explaining needs. */
export interface ExplanationServices extends Pick<AdminServices, 'db' | 'clock'> {
  readonly registry: Registry;
  readonly config: Pick<Config, 'readonly' | 'upload' | 'events'>;
}

/** The question. */
export interface AccessQuestion {
  readonly username: string;
  /** A name as a path or a permission has it; `''` is the docroot boundary (upload). */
  readonly resource: string;
  readonly action: Verb;
  /** Ask for a request with this API key of the user. */
  readonly keyId?: number;
}

/** What decided. */
type ExplanationReason =
  | 'superuser'
  | 'group'
  | 'default-access'
  | 'no-permission'
  | 'inactive-user'
  | 'unusable-key'
  | 'key-scope';

/** The answer. */
export interface Explanation {
  readonly user: UserView;
  readonly resource: string;
  readonly action: Verb;
  readonly allowed: boolean;
  readonly reason: ExplanationReason;
  /** The answer as a sentence. */
  readonly explanation: string;
  /** Something is published under that name now. A right may name what does not exist yet (DS-131). */
  readonly exists: boolean;
  /** Texts by which permissions can name it: the canonical name and the extension form. */
  readonly names: readonly string[];
  /** The permissions that give the right, with the groups the user has them from. */
  readonly granted_by: readonly GroupGrant[];
  /** Scopes of the key that was asked about; null: none, or no key was. */
  readonly scopes: readonly string[] | null;
  /** Sentences about what else stands in the way, whatever the rights. */
  readonly notes: readonly string[];
}

interface Target {
  readonly name: string;
  readonly exists: boolean;
  /** Null for what is no published file. */
  readonly resource: Resource | null;
  readonly names: readonly string[];
  readonly covers: Coverage;
}

/** Answers the question. Throws `not-found` for an unknown user and for a key that is not his. */
export async function explainAccess(
  services: ExplanationServices,
  _admin: Administrator,
  question: AccessQuestion,
): Promise<Explanation> {
  const user = await findUser(services.db, question.username);
  if (user === null) throw new AppError('not-found', 'User not found');
  const { action, keyId } = question;
  const target = targetOf(services.registry, question.resource);
  const key = keyId === undefined ? null : await requireKey(services, user, keyId);
  const held = await listGrantsOf(services.db, user.id);
  const grants = held.filter((grant) => grant.action === action && target.covers(grant.resource));
  const isDefault = isOpenToAll(services.config, target, action);
  const { reason, because } = decide({ user, target, action, grants, held, key, isDefault });
  const allowed = reason === 'superuser' || reason === 'group' || reason === 'default-access';
  const may = allowed ? 'may' : 'may not';
  const subject = target.name === DOCROOT_BOUNDARY ? 'the document root (upload)' : target.name;
  return {
    user: userView(user),
    resource: target.name,
    action,
    allowed,
    reason,
    explanation: `${user.username} ${may} ${action} ${subject}: ${because}`,
    exists: target.exists,
    names: target.names,
    granted_by: grants,
    scopes: key?.scopes == null ? null : formatScopes(key.scopes),
    notes: notesOf(services.config, target, action),
  };
}

/** Who may do something with a resource. */
export interface AllowedUsers {
  readonly resource: string;
  readonly action: Verb;
  readonly exists: boolean;
  /** Those who may because they may everything. */
  readonly superusers: readonly UserView[];
  /** The others, each with the groups and permissions the right comes from. */
  readonly users: readonly {
    readonly id: number;
    readonly username: string;
    readonly granted_by: readonly GroupGrant[];
  }[];
  /** Groups that hold the right, members or not. */
  readonly groups: readonly GroupGrant[];
  readonly notes: readonly string[];
}

/** Everybody who may do it, by name; deactivated accounts are left out. Costs a look at every permission and user. */
export async function listAllowed(
  services: ExplanationServices,
  _admin: Administrator,
  { resource, action }: Pick<AccessQuestion, 'resource' | 'action'>,
): Promise<AllowedUsers> {
  const { db, registry, config } = services;
  const target = targetOf(registry, resource);
  const matching = (await listPermissions(db)).filter(
    (permission) => permission.action === action && target.covers(permission.resource),
  );
  const byId = new Map(matching.map((permission) => [permission.id, permission]));
  const superusers = (await listUsers(db)).filter((user) => user.isSuperuser && user.isActive);
  const isSuperuser = new Set(superusers.map(({ id }) => id));
  const groups = new Map<string, GroupGrant>();
  const users = new Map<number, { id: number; username: string; granted_by: GroupGrant[] }>();
  for (const holder of await holdersOf(db, [...byId.keys()])) {
    const { permission_id, group_id, group, user_id: id, username } = holder;
    const grant = { group_id, group, permission_id, resource: byId.get(permission_id)!.resource };
    const held = { ...grant, action };
    groups.set(`${permission_id} ${group_id}`, held);
    if (id === null || username === null || !holder.is_active || isSuperuser.has(id)) continue;
    const user = users.get(id) ?? { id, username, granted_by: [] };
    user.granted_by.push(held);
    users.set(id, user);
  }
  return {
    resource: target.name,
    action,
    exists: target.exists,
    superusers: superusers.map(userView),
    users: [...users.values()].sort((a, b) => (a.username < b.username ? -1 : 1)),
    groups: [...groups.values()],
    notes: notesOf(config, target, action),
  };
}

/** Events that every user may read, whatever the groups hold (EV-22). */
function isOpenToAll(
  { events }: ExplanationServices['config'],
  { name }: Target,
  action: Verb,
): boolean {
  const isEvents = name === '@events' || name.startsWith('@events/');
  return isEvents && action === 'read' && events.default_access === 'read';
}

function notesOf(config: ExplanationServices['config'], target: Target, action: Verb): string[] {
  const { readonly: isReadOnly, upload } = config;
  const { name, exists, resource } = target;
  const notes: string[] = [];
  if (isOpenToAll(config, target, action)) {
    notes.push('Every active user may read events: events.default_access is read.');
  }
  if (!exists) notes.push('Nothing is published under that name now.');
  if (action === 'write' && isReadOnly) notes.push('The server is in read-only mode.');
  if (name === DOCROOT_BOUNDARY && !upload.enabled) notes.push('Uploads are switched off.');
  if (resource !== null) {
    if (resource.problem !== null) notes.push(`Problem of the file: ${resource.problem}`);
    if (action === 'write' && !isWritable(resource)) {
      notes.push('Files of this kind can only be read.');
    }
  }
  return notes;
}

/** Handlers decide for themselves what a change is. */
function isWritable({ rel, type, kind: { dataset } }: Resource): boolean {
  if (type === 'handler') return true;
  return dataset?.edit !== undefined && !dataset.readOnlyReason?.(rel);
}

interface Key {
  readonly id: number;
  readonly isUsable: boolean;
  readonly scopes: readonly Scope[] | null;
}

async function requireKey(
  { db, clock }: ExplanationServices,
  user: User,
  keyId: number,
): Promise<Key> {
  const key = await getApiKey(db, keyId);
  if (key === null || key.userId !== user.id) {
    throw new AppError('not-found', 'API Key not found');
  }
  const isExpired = key.expiresAt !== null && key.expiresAt <= timestamp(clock.now());
  return { id: keyId, isUsable: key.isActive && !isExpired, scopes: key.scopes };
}

interface Facts {
  readonly user: User;
  readonly target: Target;
  readonly action: Verb;
  readonly grants: readonly GroupGrant[];
  readonly held: readonly GroupGrant[];
  readonly key: Key | null;
  /** Every user may. */
  readonly isDefault: boolean;
}

function decide(facts: Facts): { reason: ExplanationReason; because: string } {
  const { user, target, action, grants, key, isDefault } = facts;
  if (!user.isActive) {
    return { reason: 'inactive-user', because: 'the account is deactivated and cannot sign in' };
  }
  if (key !== null && !key.isUsable) {
    return { reason: 'unusable-key', because: `API key ${key.id} is revoked or has expired` };
  }
  if (!user.isSuperuser && grants.length === 0 && !isDefault) {
    return { reason: 'no-permission', because: whyNot(facts) };
  }
  const scopes = key?.scopes ?? null;
  if (scopes !== null && !scopesAllow(scopes, action, target.covers)) {
    const listed = formatScopes(scopes).join(', ');
    return { reason: 'key-scope', because: `API key ${key!.id} is limited to ${listed}` };
  }
  if (user.isSuperuser) return { reason: 'superuser', because: 'superusers may do everything' };
  if (grants.length === 0) {
    return {
      reason: 'default-access',
      because: 'events.default_access lets every user read events',
    };
  }
  const via = grants.map(
    (grant) => `group '${grant.group}' holds ${grant.action} on ${shown(grant.resource)}`,
  );
  return { reason: 'group', because: via.join('; ') };
}

/** What the user holds that comes near, so that the operator sees what is missing. */
function whyNot({ target, action, held }: Facts): string {
  if (held.length === 0) return 'no group of the user holds any permission';
  const other = held.find((grant) => target.covers(grant.resource));
  if (other !== undefined) {
    const { group, action: has, resource } = other;
    return `group '${group}' holds ${has} on ${shown(resource)}, which does not include ${action}`;
  }
  if (target.name === DOCROOT_BOUNDARY) {
    return 'no group of the user holds write on the document root; * does not include it';
  }
  return `none of the user's groups holds ${action} on it`;
}

function shown(resource: string): string {
  return resource === DOCROOT_BOUNDARY ? 'the document root' : resource;
}

function targetOf(registry: Registry, text: string): Target {
  const name = normalResource(text).replace(/^\/+|\/+$/g, '');
  if (name === DOCROOT_BOUNDARY) {
    return { name, exists: true, resource: null, names: [name], covers: documentCoverage([name]) };
  }
  if (name === '@events' || name.startsWith('@events/')) return eventTarget(name);
  const resource = findResource(registry, name);
  const names = resource === null ? [name] : [...new Set(permissionNames(resource))];
  const exists = resource !== null;
  return { name, exists, resource, names, covers: documentCoverage(names) };
}

function eventTarget(name: string): Target {
  const covers: Coverage =
    name === '@events'
      ? (pattern) => pattern === name
      : eventCoverage(name.slice('@events/'.length));
  return { name, exists: true, resource: null, names: [name], covers };
}

/** By its own names first, then as one of the address families would find it (DS-26). */
function findResource(registry: Registry, name: string): Resource | null {
  const own = registry
    .list()
    .find(({ canonical, extensionForm }) => name === canonical || name === extensionForm);
  return (
    own ??
    registry.lookup('dataset', name) ??
    registry.lookup('media', name) ??
    registry.lookup('content', name)
  );
}

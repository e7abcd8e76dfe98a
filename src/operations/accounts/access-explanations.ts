import type { App } from '../../app.ts';
import { withoutEndSlashes } from '../../base/paths.ts';
import { getApiKey } from '../../accounts/identity/api-keys.ts';
import {
  type Coverage,
  documentCoverage,
  eventCoverage,
  type GroupGrant,
  holdersOf,
  listGrantsOf,
  listPermissions,
  scopesAllow,
} from '../../accounts/rights/permissions.ts';
import { getIngestSettings, type IngestSettings } from '../../accounts/identity/ingest-settings.ts';
import type { Scope, Verb } from '../../accounts/rights/principal.ts';
import {
  DOCROOT_BOUNDARY,
  matchesDocument,
  normalResource,
} from '../../accounts/rights/resource-names.ts';
import { formatScopes } from '../../accounts/rights/scopes.ts';
import { findUser, listUsers, type User } from '../../accounts/identity/users.ts';
import { timestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Registry, Resource } from '../../docroot/registry/registry.ts';
import { permissionNames } from '../access.ts';
import type { Administrator } from '../administration.ts';
import { userView, type UserView } from './users.ts';

const EVENTS = '@events';

export type ExplanationServices = Pick<App, 'db' | 'clock' | 'registry' | 'config'>;

export interface AccessQuestion {
  readonly username: string;
  /** A name as in a path or a permission; `''` is the document root (uploads). */
  readonly resource: string;
  readonly action: Verb;
  /** Answer for requests with this API key of the user. */
  readonly keyId?: number;
}

type ExplanationReason =
  | 'superuser'
  | 'group'
  | 'default-access'
  | 'no-permission'
  | 'inactive-user'
  | 'unusable-key'
  | 'key-scope';

export interface Explanation {
  readonly user: UserView;
  readonly resource: string;
  readonly action: Verb;
  readonly allowed: boolean;
  readonly reason: ExplanationReason;
  readonly explanation: string;
  /** Something is published under that name. Permissions may name what does not exist yet. */
  readonly exists: boolean;
  /** Names that permissions can use for it: the canonical name and the one with extension. */
  readonly names: readonly string[];
  /** Permissions that give the right, with the user's groups that hold them. */
  readonly granted_by: readonly GroupGrant[];
  /** Null: no key, or one without scopes. */
  readonly scopes: readonly string[] | null;
  readonly notes: readonly string[];
}

interface Target {
  readonly name: string;
  readonly exists: boolean;
  /** Null when no published file has that name. */
  readonly resource: Resource | null;
  readonly names: readonly string[];
  readonly covers: Coverage;
}

/** Throws `not-found` for an unknown user and for a key of another user. */
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

export interface AllowedUsers {
  readonly resource: string;
  readonly action: Verb;
  readonly exists: boolean;
  readonly superusers: readonly UserView[];
  /** Without superusers, each with the groups and permissions that give the right. */
  readonly users: readonly {
    readonly id: number;
    readonly username: string;
    readonly granted_by: readonly GroupGrant[];
  }[];
  readonly groups: readonly GroupGrant[];
  /** As in `Explanation`. */
  readonly names: readonly string[];
  readonly notes: readonly string[];
}

/** By name; deactivated accounts are left out. Looks at every permission and user. */
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
    names: target.names,
    notes: notesOf(config, target, action),
  };
}

function isOpenToAll(
  { events }: ExplanationServices['config'],
  target: Target,
  action: Verb,
): boolean {
  return isEvents(target) && action === 'read' && events.default_access === 'read';
}

function isEvents({ name }: Target): boolean {
  return name === EVENTS || name.startsWith(`${EVENTS}/`);
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
  readonly settings: IngestSettings;
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
  const settings = await getIngestSettings(db, keyId);
  return { id: keyId, isUsable: key.isActive && !isExpired, scopes: key.scopes, settings };
}

interface Facts {
  readonly user: User;
  readonly target: Target;
  readonly action: Verb;
  readonly grants: readonly GroupGrant[];
  readonly held: readonly GroupGrant[];
  readonly key: Key | null;
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
  if (key !== null) {
    const { createOnly, indexes } = key.settings;
    const isCreating = isEvents(target) && action === 'write';
    if (createOnly && !isCreating) {
      return { reason: 'key-scope', because: `API key ${key.id} may only create events` };
    }
    const index = target.name.slice(EVENTS.length + 1);
    if (isCreating && indexes !== null && !indexes.includes(index)) {
      const listed = indexes.join(', ');
      return { reason: 'key-scope', because: `API key ${key.id} may only write to ${listed}` };
    }
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

/** Names similar permissions that the user holds, so that the operator sees what is missing. */
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
  const name = withoutEndSlashes(normalResource(text));
  if (name === DOCROOT_BOUNDARY) {
    return { name, exists: true, resource: null, names: [name], covers: documentCoverage([name]) };
  }
  if (name === '@events' || name.startsWith('@events/')) return eventTarget(name);
  const resource = findResource(registry, name);
  const folder = resource === null ? folderOf(registry, name) : null;
  if (folder !== null) {
    const covers = documentCoverage([folder]);
    return { name: folder, exists: true, resource: null, names: [folder], covers };
  }
  const names = resource === null ? [name] : [...new Set(permissionNames(resource))];
  const exists = resource !== null;
  return { name, exists, resource, names, covers: documentCoverage(names) };
}

/** `reports/*` for a folder or workbook of that name with something in it; null for anything else. */
function folderOf(registry: Registry, name: string): string | null {
  const folder = name === '*' || name.endsWith('/*') ? name : `${name}/*`;
  const has = registry
    .list()
    .some(
      ({ canonical, extensionForm }) =>
        matchesDocument(folder, extensionForm, true) || matchesDocument(folder, canonical, false),
    );
  return has ? folder : null;
}

function eventTarget(name: string): Target {
  const covers: Coverage =
    name === '@events'
      ? (pattern) => pattern === name
      : eventCoverage(name.slice('@events/'.length));
  return { name, exists: true, resource: null, names: [name], covers };
}

/** By its own names first, then as a name after one of the address prefixes. */
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

/**
 * Shapes of the administration routes for the OpenAPI document (DS-134, DS-191). A schema with a `$id` is a named model.
 */
import { Type } from '@sinclair/typebox';
import { VERBS } from '../auth/principal.ts';
import { MAX_RESOURCE_CHARACTERS } from '../auth/resource-names.ts';
import {
  newDescription,
  newExpiry,
  newName,
  newPassword,
  nullable,
  scopes,
} from './account-fields.ts';

const id = (what: string) => Type.Integer({ description: `Id of the ${what}` });
const time = (description: string) => Type.String({ format: 'date-time', description });
const text = (description: string) => Type.String({ description });

/** An account. */
export const userModel = Type.Object(
  {
    id: id('user'),
    username: text('Unique name'),
    is_active: Type.Boolean({ description: 'False: cannot sign in' }),
    is_superuser: Type.Boolean({ description: 'May do everything' }),
    created_at: time('When it was made'),
  },
  { $id: 'User' },
);

const groupMembers = {
  id: id('group'),
  name: text('Unique name'),
  description: nullable(text('What it is for')),
};

/** A group without its members. */
export const groupModel = Type.Object(groupMembers, { $id: 'Group' });

/** A group with its members. */
export const groupWithUsersModel = Type.Object(
  { ...groupMembers, users: Type.Array(userModel) },
  { $id: 'GroupWithUsers' },
);

const Action = Type.Union(
  VERBS.map((verb) => Type.Literal(verb)),
  { description: 'write does not include read' },
);

/** A right on a resource. */
export const permissionModel = Type.Object(
  {
    id: id('permission'),
    resource: text('A name, a pattern such as reports/*, * for all, or the empty text for upload'),
    action: Action,
    description: nullable(text('What it is for')),
  },
  { $id: 'Permission' },
);

/** An API key without its value. */
export const apiKeyModel = Type.Object(
  {
    id: id('key'),
    key_hash: text('SHA-256 of its value, in hex'),
    user_id: id('owner'),
    description: nullable(text('What it is for')),
    created_at: time('When it was made'),
    expires_at: nullable(time('When it ends; null: never')),
    last_used_at: nullable(time('Last use, to the minute')),
    is_active: Type.Boolean({ description: 'False once revoked' }),
    scopes: Type.Optional(scopes),
  },
  { $id: 'APIKey' },
);

/** A browser session. */
export const sessionModel = Type.Object(
  {
    id: id('session'),
    user_id: id('user'),
    created_at: time('When it began'),
    last_active_at: time('Last use, to the minute'),
    expires_at: time('When it ends unless it is used'),
    ip_address: nullable(text('Address it began from')),
    user_agent: nullable(text('Browser it began in')),
  },
  { $id: 'Session' },
);

/** What somebody did, or was refused. */
export const auditEntryModel = Type.Object(
  {
    id: id('entry'),
    timestamp: time('When'),
    user_id: nullable(id('user who did it')),
    action: text('What was done'),
    resource: nullable(text('To what')),
    details: nullable(text('More about it')),
    ip_address: nullable(text('Address it was done from')),
  },
  { $id: 'AuditEntry' },
);

/** A lock on a file. */
export const lockModel = Type.Object(
  {
    id: id('lock'),
    resource: text('Path of the file'),
    owner: text('User who changes it'),
    acquired_at: time('Since when'),
    expires_at: nullable(time('Until when, unless it is prolonged')),
    reason: nullable(text('What for')),
  },
  { $id: 'Lock' },
);

/** Something the server remembers of a file. */
export const cacheEntryModel = Type.Object(
  {
    key: text('Kind, path and details'),
    expires_at: time('Until when it is believed'),
    resource: text('Path of the file'),
    user: nullable(text('Always null: nothing is remembered for one user')),
  },
  { $id: 'CacheEntry' },
);

/** Why somebody may or may not do something. */
export const explanationModel = Type.Object(
  {
    user: userModel,
    resource: text('The name that was asked about'),
    action: Action,
    allowed: Type.Boolean(),
    reason: Type.Union(
      [
        'superuser',
        'group',
        'default-access',
        'no-permission',
        'inactive-user',
        'unusable-key',
        'key-scope',
      ].map((reason) => Type.Literal(reason)),
    ),
    explanation: text('The answer as a sentence'),
    exists: Type.Boolean({ description: 'Something is published under the name' }),
    names: Type.Array(text('A text by which permissions can name it')),
    granted_by: Type.Array(
      Type.Object({
        group_id: id('group'),
        group: text('Name of the group'),
        permission_id: id('permission'),
        resource: text('What the permission names'),
        action: Action,
      }),
    ),
    scopes: nullable(scopes),
    notes: Type.Array(text('Something else that stands in the way')),
  },
  { $id: 'Explanation' },
);

/** Body of a new account. */
export const userCreateModel = Type.Object(
  {
    username: newName,
    password: newPassword,
    is_superuser: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: 'UserCreate' },
);

/** Body of a password reset. */
export const passwordResetModel = Type.Object(
  { new_password: newPassword },
  { $id: 'PasswordReset' },
);

/** Body of a change of status. */
export const userStatusUpdateModel = Type.Object(
  { is_active: Type.Boolean() },
  { $id: 'UserStatusUpdate' },
);

/** Body of a new group. */
export const groupCreateModel = Type.Object(
  { name: newName, description: newDescription },
  { $id: 'GroupCreate' },
);

/** Body of a new permission. */
export const permissionCreateModel = Type.Object(
  {
    resource: Type.String({ maxLength: MAX_RESOURCE_CHARACTERS }),
    action: Action,
    description: newDescription,
  },
  { $id: 'PermissionCreate' },
);

/** Body of a new key for any user. */
export const apiKeyCreateModel = Type.Object(
  {
    user_id: Type.Integer({ minimum: 1 }),
    description: newDescription,
    expires_in_days: newExpiry,
    scopes: Type.Optional(nullable(scopes)),
  },
  { $id: 'APIKeyCreate' },
);

const newKey = {
  id: id('key'),
  key: text('Its value, shown only here'),
  description: nullable(text('What it is for')),
  expires_at: nullable(time('When it ends; null: never')),
  created_at: time('When it was made'),
  scopes: Type.Optional(scopes),
};

/** A new key of any user with its value. */
export const userApiKeyCreatedModel = Type.Object(
  { ...newKey, user_id: id('owner') },
  { $id: 'UserAPIKeyCreated' },
);

/** The plain success of a change. */
export const successModel = Type.Object({ success: Type.Literal(true) }, { $id: 'Success' });

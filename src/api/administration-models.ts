import { Type } from '@sinclair/typebox';
import { VERBS } from '../accounts/rights/principal.ts';
import { MAX_RESOURCE_CHARACTERS } from '../accounts/rights/resource-names.ts';
import {
  newDescription,
  newExpiry,
  newName,
  newPassword,
  nullable,
  scopes,
} from './accounts/account-models.ts';

const id = (what: string) => Type.Integer({ description: `Id of the ${what}` });
const time = (description: string) => Type.String({ format: 'date-time', description });
const text = (description: string) => Type.String({ description });

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

export const groupModel = Type.Object(groupMembers, { $id: 'Group' });

export const groupWithUsersModel = Type.Object(
  { ...groupMembers, users: Type.Array(userModel) },
  { $id: 'GroupWithUsers' },
);

const Action = Type.Union(
  VERBS.map((verb) => Type.Literal(verb)),
  { description: 'write does not include read' },
);

export const permissionModel = Type.Object(
  {
    id: id('permission'),
    resource: text('A name, a pattern such as reports/*, * for all, or the empty text for upload'),
    action: Action,
    description: nullable(text('What it is for')),
  },
  { $id: 'Permission' },
);

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

export const cacheEntryModel = Type.Object(
  {
    key: text('Kind, path and details'),
    expires_at: time('Until when it is believed'),
    resource: text('Path of the file'),
    user: nullable(text('Always null: nothing is remembered for one user')),
  },
  { $id: 'CacheEntry' },
);

const grants = Type.Array(
  Type.Object({
    group_id: id('group'),
    group: text('Name of the group'),
    permission_id: id('permission'),
    resource: text('What the permission names'),
    action: Action,
  }),
);
const noted = Type.Array(text('Something else that stands in the way'));

/** One user or group, and what it may do. */
export const accessCreateModel = Type.Object(
  {
    to: text('Name of a user or group; user:x or group:x where both are called x'),
    resource: text('As in a permission'),
    action: Action,
  },
  { $id: 'AccessCreate' },
);

export const givenAccessModel = Type.Object(
  {
    resource: text('What the permission names'),
    action: Action,
    username: nullable(text('Null: the group was named')),
    group: Type.Object({ id: id('group'), name: text('It holds the right now') }),
  },
  { $id: 'AccessGiven' },
);

export const allowedUsersModel = Type.Object(
  {
    resource: text('The name that was asked about'),
    action: Action,
    exists: Type.Boolean({ description: 'Something is published under the name' }),
    names: Type.Array(text('A text by which permissions can name it')),
    superusers: Type.Array(userModel),
    users: Type.Array(
      Type.Object({ id: id('user'), username: text('Name of the user'), granted_by: grants }),
      { description: 'Without superusers, by name; deactivated accounts are left out' },
    ),
    groups: grants,
    notes: noted,
  },
  { $id: 'AllowedUsers' },
);

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
    granted_by: grants,
    scopes: nullable(scopes),
    notes: noted,
  },
  { $id: 'Explanation' },
);

export const userCreateModel = Type.Object(
  {
    username: newName,
    password: newPassword,
    is_superuser: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: 'UserCreate' },
);

export const passwordResetModel = Type.Object(
  { new_password: newPassword },
  { $id: 'PasswordReset' },
);

export const userStatusUpdateModel = Type.Object(
  { is_active: Type.Boolean() },
  { $id: 'UserStatusUpdate' },
);

export const groupCreateModel = Type.Object(
  { name: newName, description: newDescription },
  { $id: 'GroupCreate' },
);

export const permissionCreateModel = Type.Object(
  {
    resource: Type.String({ maxLength: MAX_RESOURCE_CHARACTERS }),
    action: Action,
    description: newDescription,
  },
  { $id: 'PermissionCreate' },
);

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

export const userApiKeyCreatedModel = Type.Object(
  { ...newKey, user_id: id('owner') },
  { $id: 'UserAPIKeyCreated' },
);

export const successModel = Type.Object({ success: Type.Literal(true) }, { $id: 'Success' });

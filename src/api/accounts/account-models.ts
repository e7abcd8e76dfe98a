/** Limits are those the operations check. */
import { Type, type TSchema } from '@sinclair/typebox';
import { MAX_KEY_DAYS } from '../../accounts/identity/api-keys.ts';
import { MAX_NAME_CHARACTERS } from '../../accounts/identity/names.ts';
import { MAX_PASSWORD_LENGTH } from '../../accounts/identity/passwords.ts';
import { MAX_SCOPES } from '../../accounts/rights/scopes.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';

export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

export const newName = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS });

export const newPassword = Type.String({ format: 'password', maxLength: MAX_PASSWORD_LENGTH });

export const newDescription = Type.Optional(
  nullable(Type.String({ maxLength: MAX_DESCRIPTION_CHARACTERS })),
);

/** Null or absent: for ever. */
export const newExpiry = Type.Optional(
  nullable(Type.Integer({ minimum: 1, maximum: MAX_KEY_DAYS })),
);

export const scopes = Type.Array(
  Type.String({
    description: 'read, write, read:<pattern> or write:<pattern>',
    examples: ['read:reports/*'],
  }),
  { minItems: 1, maxItems: MAX_SCOPES },
);

const dateTime = Type.String({ format: 'date-time' });

export const loginModel = Type.Object(
  {
    username: Type.String(),
    password: newPassword,
    code: Type.Optional(
      Type.String({
        description: 'Of an authenticator app, or a recovery code, where the account has one',
      }),
    ),
    grant_type: Type.Optional(nullable(Type.Literal('password'))),
    next: Type.Optional(Type.String({ description: 'For forms: where to go afterwards' })),
  },
  { $id: 'Login' },
);

export const callerModel = Type.Object(
  { id: Type.Integer(), username: Type.String(), is_superuser: Type.Boolean() },
  { $id: 'Caller' },
);

export const sessionsModel = Type.Array(
  Type.Object(
    {
      id: Type.Integer(),
      created_at: dateTime,
      last_active_at: dateTime,
      expires_at: dateTime,
      ip_address: nullable(Type.String()),
      user_agent: nullable(Type.String()),
      current: Type.Boolean({ description: 'The session this request came with' }),
      strength: Type.String({ description: 'password, two-factors, passkey or provider' }),
    },
    { $id: 'OwnSession' },
  ),
);

export const passwordChangeModel = Type.Object(
  {
    current_password: Type.String({ format: 'password' }),
    new_password: newPassword,
  },
  { $id: 'PasswordChange' },
);

export const messageModel = Type.Object({ message: Type.String() }, { $id: 'Message' });

export const apiKeysModel = Type.Array(
  Type.Object(
    {
      id: Type.Integer(),
      description: nullable(Type.String()),
      created_at: dateTime,
      expires_at: nullable(dateTime),
      last_used_at: nullable(dateTime),
      is_active: Type.Boolean(),
      scopes: Type.Optional(scopes),
    },
    { $id: 'OwnAPIKey' },
  ),
);

export const newApiKeyRequestModel = Type.Object(
  {
    description: newDescription,
    expires_in_days: newExpiry,
    scopes: Type.Optional(nullable(scopes)),
  },
  { $id: 'NewAPIKeyRequest' },
);

export const newApiKeyModel = Type.Object(
  {
    id: Type.Integer(),
    key: Type.String({ examples: ['ak_...'] }),
    description: nullable(Type.String()),
    expires_at: nullable(dateTime),
    created_at: dateTime,
    scopes: Type.Optional(scopes),
  },
  { $id: 'NewAPIKey' },
);

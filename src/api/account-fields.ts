/**
 * Fields that several bodies about accounts have, for the OpenAPI document; their limits are those the operations check.
 */
import { type TSchema, Type } from '@sinclair/typebox';
import { MAX_KEY_DAYS } from '../accounts/identity/api-keys.ts';
import { MAX_NAME_CHARACTERS } from '../accounts/identity/names.ts';
import { MAX_PASSWORD_LENGTH } from '../accounts/identity/passwords.ts';
import { MAX_SCOPES } from '../accounts/rights/scopes.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../base/json/input.ts';

/** A value or null. */
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

export const newName = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS });

/** A password that is to be kept. */
export const newPassword = Type.String({ format: 'password', maxLength: MAX_PASSWORD_LENGTH });

/** What something new is for. */
export const newDescription = Type.Optional(
  nullable(Type.String({ maxLength: MAX_DESCRIPTION_CHARACTERS })),
);

/** The life of a new key; null or absent: for ever. */
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

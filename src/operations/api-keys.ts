/**
 * A user's own API keys (DS-116 to DS-118).
 */
import type { ApiKey } from '../auth/api-keys.ts';
import {
  createApiKey as addApiKey,
  listApiKeys as findApiKeys,
  parseExpiresInDays,
  revokeApiKey as revoke,
} from '../auth/api-keys.ts';
import type { Principal } from '../auth/principal.ts';
import { formatScopes, parseScopes } from '../auth/scopes.ts';
import { AppError } from '../base/errors.ts';
import type { Origin } from './access.ts';
import type { AccountServices } from './accounts.ts';
import { Input } from '../base/input.ts';

const MAX_DESCRIPTION_CHARACTERS = 1024;

/** A key as its owner sees it. `scopes` only when set. */
export interface ApiKeyView {
  readonly id: number;
  readonly description: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly is_active: boolean;
  readonly scopes?: readonly string[];
}

/** A new key; the only time its value is shown. */
export interface NewApiKeyView {
  readonly id: number;
  readonly key: string;
  readonly description: string | null;
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly scopes?: readonly string[];
}

/** The caller's keys by id, revoked ones included. */
export async function listApiKeys(
  services: AccountServices,
  caller: Principal,
): Promise<ApiKeyView[]> {
  const keys = await findApiKeys(services.db, { userId: caller.userId });
  return keys.map((key) => ({
    id: key.id,
    description: key.description,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used_at: key.lastUsedAt,
    is_active: key.isActive,
    ...scopesOf(key),
  }));
}

/** Makes a key for the caller; audited. Throws `invalid-request`, and `bad-request` for more than a year. */
export async function createApiKey(
  services: AccountServices,
  caller: Principal,
  origin: Origin,
  body: unknown,
): Promise<NewApiKeyView> {
  const input = new Input(body);
  const description = input.optionalText('description', MAX_DESCRIPTION_CHARACTERS);
  input.finish();
  const { key, value } = await addApiKey(services.db, {
    userId: caller.userId,
    description,
    expiresInDays: parseExpiresInDays(input.raw('expires_in_days')),
    scopes: parseScopes(input.raw('scopes')),
    now: services.clock.now(),
  });
  await audit(services, caller, origin, {
    action: 'create_api_key',
    details: `Created API key for user ${caller.username}`,
  });
  return {
    id: key.id,
    key: value,
    description,
    expires_at: key.expiresAt,
    created_at: key.createdAt,
    ...scopesOf(key),
  };
}

/** Revokes one of the caller's keys, once or again; audited. Throws `not-found` for a foreign or unknown id. */
export async function revokeApiKey(
  services: AccountServices,
  caller: Principal,
  origin: Origin,
  keyId: number,
): Promise<void> {
  if (!(await revoke(services.db, keyId, { userId: caller.userId }))) {
    throw new AppError('not-found', 'API key not found');
  }
  await audit(services, caller, origin, {
    action: 'revoke_api_key',
    details: `Revoked API key ${keyId} for user ${caller.username}`,
  });
}

async function audit(
  services: AccountServices,
  caller: Principal,
  origin: Origin,
  { action, details }: { readonly action: string; readonly details: string },
): Promise<void> {
  const { clientAddress: ipAddress } = origin;
  const { userId } = caller;
  await services.audit.record({ userId, action, resource: 'apikey', details, ipAddress });
}

function scopesOf({ scopes }: ApiKey): { scopes?: string[] } {
  return scopes === null ? {} : { scopes: formatScopes(scopes) };
}

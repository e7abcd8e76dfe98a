import type { AccountsApp, App } from '../../app.ts';
import type { ApiKey } from '../../accounts/identity/api-keys.ts';
import {
  apiKeyList,
  createApiKey as addApiKey,
  listApiKeys as findApiKeys,
  parseExpiresInDays,
  revokeApiKey as revoke,
} from '../../accounts/identity/api-keys.ts';
import { notAuthenticated } from '../../accounts/identity/refusal.ts';
import { getUser } from '../../accounts/identity/users.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { formatScopes, parseScopes } from '../../accounts/rights/scopes.ts';
import { AppError } from '../../base/errors.ts';
import type { Scope } from '../../accounts/rights/principal.ts';
import { type Origin, record } from '../access.ts';
import { type Administrator, listOf } from '../administration.ts';
import { requireUser } from './users.ts';
import { Input, MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';

/** `scopes` only when set. */
export interface ApiKeyView {
  readonly id: number;
  readonly description: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly is_active: boolean;
  readonly scopes?: readonly string[];
}

/** The only time the value is shown. */
export interface NewApiKeyView {
  readonly id: number;
  readonly key: string;
  readonly description: string | null;
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly scopes?: readonly string[];
}

/** By id, revoked ones included. */
export async function listApiKeys(services: App, caller: Principal): Promise<ApiKeyView[]> {
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

/** Audited. Throws `invalid-request`, and `bad-request` for more than a year. */
export async function createApiKey(
  services: App,
  caller: Principal,
  origin: Origin,
  body: unknown,
): Promise<NewApiKeyView> {
  const request = keyRequest(new Input(body));
  const now = services.clock.now();
  const { key, value } = await addApiKey(services.db, {
    userId: caller.userId,
    ...request,
    now,
  }).catch(async (error: unknown) => {
    if ((await getUser(services.db, caller.userId)) === null) throw notAuthenticated();
    throw error;
  });
  const details = `Created API key for user ${caller.username}`;
  await record(services, { user: caller, origin }, 'create_api_key', 'apikey', details);
  return newKeyView(key, value);
}

/** Repeatable; audited. Throws `not-found` for another user's or unknown id. */
export async function revokeApiKey(
  services: App,
  caller: Principal,
  origin: Origin,
  keyId: number,
): Promise<void> {
  if (!(await revoke(services.db, keyId, { userId: caller.userId }))) {
    throw new AppError('not-found', 'API key not found');
  }
  const details = `Revoked API key ${keyId} for user ${caller.username}`;
  await record(services, { user: caller, origin }, 'revoke_api_key', 'apikey', details);
}

/** Revoked ones included, in the order they were made. Throws as `listOf`. */
export const listAllApiKeys = listOf(apiKeyList);

export interface NewUserApiKeyView extends NewApiKeyView {
  readonly user_id: number;
}

/** Throws as `createApiKey`, and `not-found` (`User not found`). */
export async function createApiKeyFor(
  services: AccountsApp,
  admin: Administrator,
  body: unknown,
): Promise<NewUserApiKeyView> {
  const input = new Input(body);
  const userId = input.integer('user_id', 1);
  const request = keyRequest(input);
  const owner = await requireUser(services, userId);
  const now = services.clock.now();
  const { key, value } = await addApiKey(services.db, { userId, ...request, now }).catch(
    async (error: unknown) => {
      await requireUser(services, userId);
      throw error;
    },
  );
  await record(
    services,
    admin,
    'create_api_key',
    'apikey',
    `Created API key for user ${owner.username}`,
  );
  return { ...newKeyView(key, value), user_id: userId };
}

/** Repeatable. Throws `not-found`. */
export async function revokeAnyApiKey(
  services: AccountsApp,
  admin: Administrator,
  keyId: number,
): Promise<void> {
  if (!(await revoke(services.db, keyId))) throw new AppError('not-found', 'API Key not found');
  const details = `Revoked API key ${keyId}`;
  await record(services, admin, 'revoke_api_key', 'apikey', details);
}

interface KeyRequest {
  readonly description: string | null;
  readonly expiresInDays: number | null;
  readonly scopes: readonly Scope[] | null;
}

function keyRequest(input: Input): KeyRequest {
  const description = input.optionalText('description', MAX_DESCRIPTION_CHARACTERS);
  input.finish();
  return {
    description,
    expiresInDays: parseExpiresInDays(input.raw('expires_in_days')),
    scopes: parseScopes(input.raw('scopes')),
  };
}

function newKeyView(key: ApiKey, value: string): NewApiKeyView {
  const { id, description, expiresAt: expires_at, createdAt: created_at } = key;
  return { id, key: value, description, expires_at, created_at, ...scopesOf(key) };
}

function scopesOf({ scopes }: ApiKey): { scopes?: string[] } {
  return scopes === null ? {} : { scopes: formatScopes(scopes) };
}

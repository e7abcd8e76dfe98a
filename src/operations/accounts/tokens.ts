import type { AccountsApp, App } from '../../app.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import {
  hasToken,
  issueToken as issue,
  revokeToken as revoke,
  tokenList,
} from '../../accounts/identity/tokens.ts';
import { needsFactor } from '../../accounts/factors/required.ts';
import { requireCode } from './sessions.ts';
import { requireUser } from './users.ts';
import { AppError } from '../../base/errors.ts';
import { type FieldErrors, typeName } from '../../events/intake/validation.ts';
import { type Origin, record } from '../access.ts';
import type { Administrator } from '../administration.ts';
import { listOf } from '../administration.ts';

const UNABLE = 'Unable to log in with provided credentials.';

/** The token for a name and password, or errors by field. Throws `permission-denied`, `throttled`, `unavailable`. */
export async function issueToken(
  services: App,
  origin: Origin,
  body: unknown,
): Promise<{ readonly token: string } | { readonly errors: FieldErrors }> {
  const { localLogin, db, instanceKey, clock } = services;
  if (!localLogin.isEnabled)
    throw new AppError('permission-denied', 'Local password login is disabled');
  const errors: FieldErrors = {};
  const input = readCredentials(body, errors);
  if (input === null) return { errors };
  const found = await localLogin.signIn({ ...input, address: origin.clientAddress ?? '' });
  if (found === null) return { errors: { non_field_errors: [UNABLE] } };
  const { user } = found;
  if (await needsFactor(db, user, services.config.second_factor)) {
    const { code } = body as { code?: unknown };
    if (typeof code !== 'string')
      return { errors: { code: ['This account has a second factor: its code is required.'] } };
    await requireCode(services, origin, user, code);
  }
  const { value, isNew } = await issue(db, instanceKey, user.id, clock.now());
  if (isNew) {
    const by = { user: { userId: user.id }, origin };
    await record(services, by, 'issue_token', 'token', `Issued token for user ${user.username}`);
  }
  return { token: value };
}

function readCredentials(
  body: unknown,
  errors: FieldErrors,
): { username: string; password: string } | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    errors['non_field_errors'] = [
      `Invalid data. Expected a dictionary, but got ${typeName(body)}.`,
    ];
    return null;
  }
  const members = body as Record<string, unknown>;
  const read = (name: string, trims: boolean): string => {
    const value = Object.hasOwn(members, name) ? members[name] : undefined;
    if (value === undefined) errors[name] = ['This field is required.'];
    else if (value === null) errors[name] = ['This field may not be null.'];
    else if (typeof value === 'boolean' || typeof value === 'object')
      errors[name] = ['Not a valid string.'];
    else {
      const text = trims ? String(value).trim() : String(value);
      if (text === '') errors[name] = ['This field may not be blank.'];
      return text;
    }
    return '';
  };
  const username = read('username', true);
  const password = read('password', false);
  return Object.keys(errors).length > 0 ? null : { username, password };
}

export function hasOwnToken({ db }: Pick<App, 'db'>, caller: Principal): Promise<boolean> {
  return hasToken(db, caller.userId);
}

/** Audited; none is no error. */
export async function revokeOwnToken(
  services: App,
  caller: Principal,
  origin: Origin,
): Promise<void> {
  const owner = { id: caller.userId, username: caller.username };
  await revokeAudited(services, { user: caller, origin }, owner);
}

/** Repeatable; audited. Throws `not-found` for an unknown user. */
export async function revokeTokenOf(
  services: AccountsApp,
  admin: Administrator,
  userId: number,
): Promise<void> {
  await revokeAudited(services, admin, await requireUser(services, userId));
}

async function revokeAudited(
  services: Pick<AccountsApp, 'db' | 'audit'>,
  by: { readonly user: Principal | null; readonly origin: Origin },
  owner: { readonly id: number; readonly username: string },
): Promise<void> {
  if (!(await revoke(services.db, owner.id))) return;
  const details = `Revoked token of user ${owner.username}`;
  await record(services, by, 'revoke_token', 'token', details);
}

/** Without their values. Throws `invalid-request`. */
export const listTokens = listOf(tokenList);

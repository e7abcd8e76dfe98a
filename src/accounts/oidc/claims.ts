/** A verified token is signed but its claims may have any shape: what does not fit counts as absent. */
import type { JWTPayload } from 'jose';

/** More than any directory assigns; the rest is ignored. */
const MAX_NAMES = 2_000;
const MAX_NAME_LENGTH = 1_000;

export interface ClaimNames {
  readonly username: string;
  readonly groups: string;
}

export interface Identity {
  readonly issuer: string;
  readonly sub: string;
  readonly username: string | null;
  /** Roles and groups by name, a leading `/` dropped; null when the token has neither claim. */
  readonly roles: readonly string[] | null;
}

/** Null without a usable `sub`. */
export function identityOf(claims: JWTPayload, issuer: string, names: ClaimNames): Identity | null {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_NAME_LENGTH) return null;
  const username = claimOf(claims, names.username);
  return {
    issuer,
    sub,
    username: typeof username === 'string' && username.trim() !== '' ? username : null,
    roles: rolesOf(claims, names.groups),
  };
}

function rolesOf(claims: JWTPayload, groupsClaim: string): string[] | null {
  const groups = namesIn(claimOf(claims, groupsClaim));
  const access = claimOf(claims, 'realm_access');
  const realm =
    access === null || typeof access !== 'object' ? null : namesIn(claimOf(access, 'roles'));
  if (groups === null && realm === null) return null;
  const all = [...(groups ?? []), ...(realm ?? [])].map((name) => name.replace(/^\//, ''));
  return [...new Set(all)].filter((name) => name !== '');
}

function namesIn(value: unknown): string[] | null {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return null;
  return value
    .slice(0, MAX_NAMES)
    .filter((name) => typeof name === 'string' && name.length <= MAX_NAME_LENGTH);
}

/** Claim names come from the configuration: `constructor` must not find anything inherited. */
function claimOf(claims: object, name: string): unknown {
  return Object.hasOwn(claims, name) ? (claims as Record<string, unknown>)[name] : undefined;
}

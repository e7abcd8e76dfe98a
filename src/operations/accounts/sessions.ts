import type { App, AccountsApp } from '../../app.ts';
import { ANY_CHALLENGE } from '../../accounts/identity/refusal.ts';
import { checkPasswordLength, hashPassword } from '../../accounts/identity/passwords.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { makeChallenge } from '../../accounts/factors/challenges.ts';
import { hasFactor, useCode } from '../../accounts/factors/factors.ts';
import {
  createSession,
  deleteSession,
  deleteSessionByToken,
  listSessions as findSessions,
  sessionList,
  type Strength,
} from '../../accounts/identity/sessions.ts';
import type { User } from '../../accounts/identity/users.ts';
import { getUserWithHash, replacePasswordHash } from '../../accounts/identity/users.ts';
import { AppError } from '../../base/errors.ts';
import { sha256Hex } from '../../base/ids.ts';
import { type Origin, record } from '../access.ts';
import { Input } from '../../base/json/input.ts';
import { type Administrator, listOf } from '../administration.ts';

export interface Browser extends Origin {
  readonly userAgent: string | null;
  /** Value of the session cookie of the request; that session ends. */
  readonly sessionToken: string | null;
}

/** `token` is the cookie's value. */
export interface StartedSession {
  readonly user: User;
  readonly token: string;
}

interface LoginInput {
  readonly username: string;
  readonly password: string;
  /** Of an authenticator app, or a recovery code. */
  readonly code: string | null;
}

/** The password is right; a second factor is still needed. */
export interface BegunSignIn {
  readonly username: string;
  readonly challenge: string;
}

/** Throws `invalid-request`. */
export function parseLogin(body: unknown): LoginInput {
  const input = new Input(body);
  const username = input.text('username');
  const password = input.text('password');
  const code = input.raw('code') === undefined ? null : input.text('code');
  const grantType = input.raw('grant_type');
  if (grantType !== undefined && grantType !== null && grantType !== 'password') {
    input.refuse({
      type: 'string_pattern_mismatch',
      loc: ['body', 'grant_type'],
      msg: 'The grant type is password',
      input: grantType,
      ctx: { pattern: '^password$' },
    });
  }
  input.finish();
  checkPasswordLengthOf(password, 'password');
  return { username, password, code };
}

/**
 * Signs in with a local password, and with a code where the account has a second factor. Throws `invalid-credentials`, `permission-denied` while local login is off,
 * `throttled`, `unavailable`. Audited as `login`; failures as `login_failed`.
 */
export async function login(
  services: App,
  browser: Browser,
  { username, password, code }: LoginInput,
): Promise<StartedSession | BegunSignIn> {
  requireLocalLogin(services);
  const address = browser.clientAddress ?? '';
  const found = await services.localLogin.signIn({ username, password, address });
  if (found === null) {
    const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
    throw new AppError('invalid-credentials', 'Invalid credentials', { headers });
  }
  const { user, passwordHash } = found;
  const { db, serverSecret, clock } = services;
  if (!(await hasFactor(db, user.id)))
    return startSession(services, browser, user, { passwordHash });
  if (code === null) {
    const begun = { userId: user.id, proof: sha256Hex(passwordHash) };
    const challenge = makeChallenge(serverSecret, 'second', begun, clock.now());
    return { username: user.username, challenge };
  }
  await requireCode(services, browser, user, code);
  return startSession(services, browser, user, { passwordHash, strength: 'two-factors' });
}

/** Throws `invalid-credentials`, `throttled`. */
export async function requireCode(
  services: App,
  { clientAddress }: Origin,
  { id, username }: Pick<User, 'id' | 'username'>,
  code: string,
): Promise<void> {
  const { db, instanceKey, clock, localLogin } = services;
  const source = { username, address: clientAddress ?? '' };
  const isRight = await localLogin.checkFactor(
    source,
    async () => (await useCode(db, instanceKey, id, code, clock.now())) !== null,
  );
  if (isRight) return;
  const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
  throw new AppError('invalid-credentials', 'That code is wrong or was used before', { headers });
}

/** Throws `permission-denied` while passwords of local accounts are not accepted. */
export function requireLocalLogin({ localLogin }: App): void {
  if (localLogin.isEnabled) return;
  throw new AppError('permission-denied', 'Local password login is disabled');
}

interface SessionFacts {
  readonly details?: string;
  /** The hash that was verified. */
  readonly passwordHash?: string;
  /** For signing out at the identity provider. */
  readonly idToken?: string | null;
  readonly strength?: Strength;
}

/**
 * For a user whose identity is proved. Ends the request's old session and audits the login. Throws as
 * `createSession`.
 */
export async function startSession(
  services: App,
  browser: Browser,
  user: User,
  { details = 'User logged in', passwordHash, idToken = null, strength }: SessionFacts = {},
): Promise<StartedSession> {
  const { db, clock } = services;
  if (browser.sessionToken !== null) await deleteSessionByToken(db, browser.sessionToken);
  const { token } = await createSession(db, {
    userId: user.id,
    ip: browser.clientAddress,
    userAgent: browser.userAgent,
    idToken,
    ...(passwordHash !== undefined && { passwordHash }),
    ...(strength !== undefined && { strength }),
    now: clock.now(),
  });
  const by = { user: { userId: user.id }, origin: browser };
  await record(services, by, 'login', 'auth', details);
  return { user, token };
}

/** Ends the session of a cookie value, if any; returns the ID token it was started with. */
export async function logout(
  services: App,
  origin: Origin,
  sessionToken: string | null,
): Promise<{ readonly idToken: string | null }> {
  if (sessionToken === null) return { idToken: null };
  const ended = await deleteSessionByToken(services.db, sessionToken);
  if (ended === null) return { idToken: null };
  await record(services, { user: ended, origin }, 'logout', 'auth', 'User logged out');
  return { idToken: ended.idToken };
}

export function describeCaller(caller: Principal): {
  id: number;
  username: string;
  is_superuser: boolean;
} {
  return { id: caller.userId, username: caller.username, is_superuser: caller.isSuperuser };
}

export async function hasLocalPassword(
  { db }: Pick<App, 'db'>,
  caller: Principal,
): Promise<boolean> {
  const found = await getUserWithHash(db, caller.userId);
  return found !== null && found.passwordHash !== null;
}

export interface SessionView {
  readonly id: number;
  readonly created_at: string;
  readonly last_active_at: string;
  readonly expires_at: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly current: boolean;
  readonly strength: Strength;
}

export async function listSessions(services: App, caller: Principal): Promise<SessionView[]> {
  const sessions = await findSessions(services.db, caller.userId, services.clock.now());
  return sessions.map((session) => ({
    id: session.id,
    created_at: session.createdAt,
    last_active_at: session.lastActiveAt,
    expires_at: session.expiresAt,
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    current: session.id === caller.sessionId,
    strength: session.strength,
  }));
}

/** Audited. Throws `not-found` for another user's or unknown id. */
export async function revokeSession(
  services: App,
  caller: Principal,
  origin: Origin,
  sessionId: number,
): Promise<void> {
  if (!(await deleteSession(services.db, sessionId, caller.userId))) {
    throw new AppError('not-found', 'Session not found');
  }
  await record(
    services,
    { user: caller, origin },
    'revoke_session',
    'auth',
    `Revoked session ${sessionId}`,
  );
}

/**
 * Ends all the caller's sessions; API keys stay valid. Throws `bad-request` with the first rule that is broken,
 * `weak-password`, `invalid-request`, `throttled`, `unavailable`.
 */
export async function changePassword(
  services: App,
  caller: Principal,
  origin: Origin,
  body: unknown,
): Promise<void> {
  const input = new Input(body);
  const current = input.text('current_password');
  const next = input.text('new_password');
  input.finish();
  checkPasswordLengthOf(current, 'current_password');
  checkPasswordLengthOf(next, 'new_password');
  const address = origin.clientAddress ?? '';
  const confirmed = await services.localLogin.confirmPassword(caller.userId, current, address);
  if (confirmed === null) throw wrongPassword();
  if (next === current) throw new AppError('bad-request', 'New password must be different');
  await requireStrength(services, next, caller.username);
  const hash = await hashPassword(next);
  // A change made since the check, most likely by an administrator, wins.
  if (!(await replacePasswordHash(services.db, caller.userId, confirmed, hash))) {
    throw wrongPassword();
  }
  await record(
    services,
    { user: caller, origin },
    'change_password',
    'auth',
    'User changed password',
  );
}

function wrongPassword(): AppError {
  return new AppError('bad-request', 'Current password is incorrect');
}

/** Throws `weak-password` for a password that is easy to guess, with a hint at a better one. */
export async function requireStrength(
  { judgePassword }: Pick<App, 'judgePassword'>,
  password: string,
  username: string,
): Promise<void> {
  const found = await judgePassword(password, username);
  if (found === null) return;
  const hint = `${found.reason[0]!.toUpperCase()}${found.reason.slice(1)}. ${found.hint}`;
  throw new AppError('weak-password', 'New password is too weak', { hint });
}

/** An empty password is wrong, not malformed: the answer must be that of a failed login. */
function checkPasswordLengthOf(password: string, field: string): void {
  if (password !== '') checkPasswordLength(password, field);
}

/** Oldest first. Throws as `listOf`. */
export const listAllSessions = listOf(({ clock }: AccountsApp) => sessionList(clock.now()));

/** Throws `not-found`. */
export async function endSession(
  services: AccountsApp,
  admin: Administrator,
  sessionId: number,
): Promise<void> {
  if (!(await deleteSession(services.db, sessionId)))
    throw new AppError('not-found', 'Session not found');
  await record(services, admin, 'revoke_session', 'auth', `Revoked session ${sessionId}`);
}

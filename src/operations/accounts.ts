/**
 * What people do with their own account: sign in and out, see who they are, their sessions, their password (DS-99 to
 * DS-108).
 */
import type { Audit } from '../auth/audit.ts';
import { ANY_CHALLENGE } from '../auth/challenges.ts';
import type { AuthServices } from '../auth/method.ts';
import { checkPasswordLength, hashPassword, weakness } from '../auth/passwords.ts';
import type { Principal } from '../auth/principal.ts';
import {
  createSession,
  deleteSession,
  deleteSessionByToken,
  listSessions as findSessions,
} from '../auth/sessions.ts';
import type { User } from '../auth/users.ts';
import { getUserWithHash, replacePasswordHash } from '../auth/users.ts';
import { AppError } from '../base/errors.ts';
import type { Origin } from './access.ts';
import { Input } from '../base/input.ts';

/** What the operations on an account work with. */
export interface AccountServices extends AuthServices {
  readonly audit: Audit;
}

/** The browser somebody signs in with. */
export interface Browser extends Origin {
  readonly userAgent: string | null;
  /** Value of the session cookie that came along; that session ends (DS-103). */
  readonly sessionToken: string | null;
}

/** A session that was just started; `token` is the value of its cookie. */
export interface StartedSession {
  readonly user: User;
  readonly token: string;
}

/** Input of `login`, for whoever shows it again. */
interface LoginInput {
  readonly username: string;
  readonly password: string;
}

/** The checked members of a login body (DS-99). Throws `invalid-request`. */
export function parseLogin(body: unknown): LoginInput {
  const input = new Input(body);
  const username = input.text('username');
  const password = input.text('password');
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
  return { username, password };
}

/**
 * Signs in with a local password and starts a session. Throws `invalid-credentials`, `permission-denied` while local login
 * is off, `throttled`, `unavailable`. Audited as `login`; failures as `login_failed`.
 */
export async function login(
  services: AccountServices,
  browser: Browser,
  { username, password }: LoginInput,
): Promise<StartedSession> {
  requireLocalLogin(services);
  const address = browser.clientAddress ?? '';
  const found = await services.localLogin.signIn({ username, password, address });
  if (found === null) {
    const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
    throw new AppError('invalid-credentials', 'Invalid credentials', { headers });
  }
  const { user, passwordHash } = found;
  return startSession(services, browser, user, { passwordHash });
}

/** Throws `permission-denied` while passwords of local accounts are not accepted (DS-198). */
export function requireLocalLogin({ localLogin }: AccountServices): void {
  if (localLogin.isEnabled) return;
  throw new AppError('permission-denied', 'Local password login is disabled');
}

interface SessionFacts {
  /** For the audit. */
  readonly details?: string;
  /** The one the user signed in with. */
  readonly passwordHash?: string;
  /** For signing out at the identity provider. */
  readonly idToken?: string | null;
}

/** Starts a session for a user who has proved to be it, ends the one that came along, and audits the login. Throws as `createSession`. */
export async function startSession(
  services: AccountServices,
  browser: Browser,
  user: User,
  { details = 'User logged in', passwordHash, idToken = null }: SessionFacts = {},
): Promise<StartedSession> {
  const { db, clock, audit } = services;
  if (browser.sessionToken !== null) await deleteSessionByToken(db, browser.sessionToken);
  const { token } = await createSession(db, {
    userId: user.id,
    ip: browser.clientAddress,
    userAgent: browser.userAgent,
    idToken,
    ...(passwordHash !== undefined && { passwordHash }),
    now: clock.now(),
  });
  const { clientAddress: ipAddress } = browser;
  await audit.record({ userId: user.id, action: 'login', resource: 'auth', details, ipAddress });
  return { user, token };
}

/** Ends the session of a cookie value, if there is one (DS-105); answers the ID token it was started with. */
export async function logout(
  services: AccountServices,
  origin: Origin,
  sessionToken: string | null,
): Promise<{ readonly idToken: string | null }> {
  if (sessionToken === null) return { idToken: null };
  const ended = await deleteSessionByToken(services.db, sessionToken);
  if (ended === null) return { idToken: null };
  await services.audit.record({
    userId: ended.userId,
    action: 'logout',
    resource: 'auth',
    details: 'User logged out',
    ipAddress: origin.clientAddress,
  });
  return { idToken: ended.idToken };
}

/** DS-106. */
export function describeCaller(caller: Principal): {
  id: number;
  username: string;
  is_superuser: boolean;
} {
  return { id: caller.userId, username: caller.username, is_superuser: caller.isSuperuser };
}

/** Whether the caller can sign in with a password of this server (DS-109). */
export async function hasLocalPassword(
  { db }: Pick<AccountServices, 'db'>,
  caller: Principal,
): Promise<boolean> {
  const found = await getUserWithHash(db, caller.userId);
  return found !== null && found.passwordHash !== null;
}

/** One of the caller's own sessions, as answered (DS-107). */
export interface SessionView {
  readonly id: number;
  readonly created_at: string;
  readonly last_active_at: string;
  readonly expires_at: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  /** The session this request came with. */
  readonly current: boolean;
}

/** The caller's live sessions, oldest first. */
export async function listSessions(
  services: AccountServices,
  caller: Principal,
): Promise<SessionView[]> {
  const sessions = await findSessions(services.db, caller.userId, services.clock.now());
  return sessions.map((session) => ({
    id: session.id,
    created_at: session.createdAt,
    last_active_at: session.lastActiveAt,
    expires_at: session.expiresAt,
    ip_address: session.ipAddress,
    user_agent: session.userAgent,
    current: session.id === caller.sessionId,
  }));
}

/** Ends one of the caller's own sessions; audited. Throws `not-found` for a foreign or unknown id. */
export async function revokeSession(
  services: AccountServices,
  caller: Principal,
  origin: Origin,
  sessionId: number,
): Promise<void> {
  if (!(await deleteSession(services.db, sessionId, caller.userId))) {
    throw new AppError('not-found', 'Session not found');
  }
  await services.audit.record({
    userId: caller.userId,
    action: 'revoke_session',
    resource: 'auth',
    details: `Revoked session ${sessionId}`,
    ipAddress: origin.clientAddress,
  });
}

/**
 * Gives the caller a new password and ends all their sessions (DS-108); API keys stay valid. Throws `bad-request` with the
 * first text of DS-108 that applies, `weak-password`, `invalid-request`, `throttled`, `unavailable`.
 */
export async function changePassword(
  services: AccountServices,
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
  requireStrength(next, caller.username);
  const hash = await hashPassword(next);
  // Whoever took the old one away meanwhile, an administrator most likely, wins.
  if (!(await replacePasswordHash(services.db, caller.userId, confirmed, hash))) {
    throw wrongPassword();
  }
  await services.audit.record({
    userId: caller.userId,
    action: 'change_password',
    resource: 'auth',
    details: 'User changed password',
    ipAddress: origin.clientAddress,
  });
}

function wrongPassword(): AppError {
  return new AppError('bad-request', 'Current password is incorrect');
}

/** Throws `weak-password` for a password that fails DS-110. */
export function requireStrength(password: string, username: string): void {
  const reason = weakness(password, username);
  if (reason === null) return;
  throw new AppError('weak-password', 'New password is too weak', { cause: reason });
}

/** An empty password is only wrong, not malformed: the answer to a login must not differ. */
function checkPasswordLengthOf(password: string, field: string): void {
  if (password !== '') checkPasswordLength(password, field);
}

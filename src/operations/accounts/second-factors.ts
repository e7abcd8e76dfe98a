/** Second factors of local accounts: adding and removing them, and signing in with them. Every change asks for the password. */
import type { AccountsApp, App } from '../../app.ts';
import {
  type Challenge,
  makeChallenge,
  type Purpose,
  readChallenge,
  spend,
} from '../../accounts/factors/challenges.ts';
import * as factors from '../../accounts/factors/factors.ts';
import {
  challengeOf,
  registrationOptions,
  signInOptions,
  type Site,
  verifiedKey,
  verifiedSignature,
} from '../../accounts/factors/passkeys.ts';
import { requiresFactor } from '../../accounts/factors/required.ts';
import { ANY_CHALLENGE } from '../../accounts/identity/refusal.ts';
import { setSessionStrength } from '../../accounts/identity/sessions.ts';
import { getUserWithHash } from '../../accounts/identity/users.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import { sha256Hex } from '../../base/ids.ts';
import { type Origin, record } from '../access.ts';
import type { Administrator } from '../administration.ts';
import { type Browser, requireCode, type StartedSession, startSession } from './sessions.ts';
import { requireUser } from './users.ts';

export interface FactorsView {
  readonly factors: readonly {
    readonly id: number;
    readonly kind: factors.FactorKind;
    readonly name: string;
    readonly created_at: string;
    readonly last_used_at: string | null;
  }[];
  readonly recovery_codes_left: number;
  /** By the configuration, for this user. */
  readonly required: boolean;
}

const MAX_NAME = 100;

export async function describeFactors(services: App, caller: Principal): Promise<FactorsView> {
  const { db, config } = services;
  const found = await factors.listFactors(db, caller.userId);
  const user = { id: caller.userId, isSuperuser: caller.isSuperuser };
  return {
    factors: found.map(({ id, kind, name, createdAt, lastUsedAt }) => ({
      ...{ id, kind, name },
      created_at: createdAt,
      last_used_at: lastUsedAt,
    })),
    recovery_codes_left: await factors.countRecoveryCodes(db, caller.userId),
    required: await requiresFactor(db, user, config.second_factor),
  };
}

/** For an authenticator app; counts once `confirmApp` has seen a code of it. Throws as `requirePassword`. */
export async function beginApp(
  services: App,
  caller: Principal,
  origin: Origin,
  { password, name }: { readonly password: string; readonly name: string },
): Promise<{ readonly secret: string; readonly uri: string }> {
  await requirePassword(services, caller, origin, password);
  await requireRoom(services, caller);
  const { db, instanceKey, clock, config } = services;
  const issuer = config.public_url === '' ? 'svc' : new URL(config.public_url).host;
  return factors.beginTotp(
    db,
    instanceKey,
    { id: caller.userId, username: caller.username },
    { name: nameOr(name, 'Authenticator app'), issuer, now: clock.now() },
  );
}

/** New recovery codes with the first factor, else null. Throws `bad-request`, `throttled`. */
export async function confirmApp(
  services: App,
  caller: Principal,
  origin: Origin,
  code: string,
): Promise<readonly string[] | null> {
  const { db, instanceKey, clock, localLogin } = services;
  const source = { username: caller.username, address: origin.clientAddress ?? '' };
  const plain = code.replace(/\s/g, '');
  const isRight = await localLogin.checkFactor(source, () =>
    factors.confirmTotp(db, instanceKey, caller.userId, plain, clock.now()),
  );
  if (isRight) return added(services, caller, origin, 'authenticator app');
  throw new AppError(
    'bad-request',
    'That is not the code the app shows now: are the clocks of both right?',
  );
}

/** What `navigator.credentials.create` takes. Throws as `requirePassword`. */
export async function beginPasskey(
  services: App,
  caller: Principal,
  origin: Origin,
  site: Site | null,
  password: string,
): Promise<object> {
  const at = requireSite(site);
  await requirePassword(services, caller, origin, password);
  await requireRoom(services, caller);
  const known = await factors.passkeysOf(services.db, caller.userId);
  const challenge = newChallenge(services, 'enrol', { userId: caller.userId, proof: '' });
  return registrationOptions(
    at,
    { id: caller.userId, username: caller.username },
    known,
    challenge,
  );
}

/** As `confirmApp`. Throws `bad-request`, `conflict`. */
export async function addPasskey(
  services: App,
  caller: Principal,
  origin: Origin,
  site: Site | null,
  { name, credential }: { readonly name: string; readonly credential: unknown },
): Promise<readonly string[] | null> {
  const { db, clock } = services;
  const at = requireSite(site);
  const answered = await spentChallenge(services, 'enrol', credential);
  const key =
    answered?.challenge.userId === caller.userId
      ? await verifiedKey(at, credential, answered.text)
      : null;
  if (key === null) throw new AppError('bad-request', 'The passkey was not made for this page');
  if ((await factors.findPasskey(db, key.credentialId)) !== null)
    throw new AppError('conflict', 'That passkey is known already');
  const passkey = { ...key, userId: caller.userId, name: nameOr(name, 'Passkey') };
  await factors.addPasskey(db, passkey, clock.now());
  return added(services, caller, origin, 'passkey');
}

/** Throws `not-found`, `conflict` for the last one of somebody who must have one, and as `requirePassword`. */
export async function removeFactor(
  services: App,
  caller: Principal,
  origin: Origin,
  id: number,
  password: string,
): Promise<void> {
  await requirePassword(services, caller, origin, password);
  const { factors: found, required } = await describeFactors(services, caller);
  if (required && found.length === 1 && found[0]!.id === id) {
    throw new AppError('conflict', 'You have to have a second factor: add another one first');
  }
  if (!(await factors.removeFactor(services.db, caller.userId, id)))
    throw new AppError('not-found', 'You have no such second factor');
  await note(services, caller, origin, 'remove_second_factor', `Removed second factor ${id}`);
}

/** In place of those there were. Throws `bad-request` without a factor, and as `requirePassword`. */
export async function renewRecoveryCodes(
  services: App,
  caller: Principal,
  origin: Origin,
  password: string,
): Promise<readonly string[]> {
  await requirePassword(services, caller, origin, password);
  const { db, instanceKey } = services;
  if (!(await factors.hasFactor(db, caller.userId)))
    throw new AppError('bad-request', 'Recovery codes come with a second factor');
  await note(services, caller, origin, 'renew_recovery_codes', 'Made new recovery codes');
  return factors.newRecoveryCodes(db, instanceKey, caller.userId);
}

/** For somebody who lost all of them. Throws `not-found`. */
export async function resetFactorsOf(
  services: AccountsApp,
  admin: Administrator,
  userId: number,
): Promise<number> {
  const { username } = await requireUser(services, userId);
  const count = await factors.removeAllFactors(services.db, userId);
  const details = `Removed all second factors of user ${username}`;
  await record(services, admin, 'reset_second_factors', 'auth', details);
  return count;
}

/** Goes on with a sign-in whose password was right. Throws `invalid-credentials`, `throttled`. */
export async function finishSignIn(
  services: App,
  browser: Browser,
  challenge: string,
  answer: { readonly code: string } | { readonly credential: unknown; readonly site: Site | null },
): Promise<StartedSession> {
  const { db, serverSecret, clock } = services;
  const begun = readChallenge(serverSecret, 'second', challenge, clock.now());
  const account = begun && (await getUserWithHash(db, begun.userId));
  const passwordHash = account?.passwordHash ?? '';
  if (begun === null || account === null || sha256Hex(passwordHash) !== begun.proof)
    throw tooLate();
  if ('code' in answer) await requireCode(services, browser, account.user, answer.code);
  else {
    const userId = await userOfSignature(services, browser, answer, account.user);
    if (userId !== account.user.id) throw wrongKey();
  }
  const proved = { passwordHash, strength: 'two-factors' } as const;
  return startSession(services, browser, account.user, proved);
}

/** What `navigator.credentials.get` takes; for one whose password was right the keys of that user. */
export async function passkeyOptions(
  services: App,
  site: Site | null,
  begun: string | null,
): Promise<object> {
  const { db, serverSecret, clock } = services;
  const at = requireSite(site);
  const user = begun === null ? null : readChallenge(serverSecret, 'second', begun, clock.now());
  const known = user === null ? [] : await factors.passkeysOf(db, user.userId);
  const challenge = newChallenge(services, 'sign-in', { userId: user?.userId ?? 0, proof: '' });
  return signInOptions(at, known, challenge);
}

/** With a passkey alone. Throws `invalid-credentials`, `throttled`, `permission-denied` while local accounts are off. */
export async function signInWithPasskey(
  services: App,
  browser: Browser,
  answer: { readonly credential: unknown; readonly site: Site | null },
): Promise<StartedSession> {
  if (!services.localLogin.isEnabled)
    throw new AppError('permission-denied', 'Local password login is disabled');
  const userId = await userOfSignature(services, browser, answer, null);
  const account = await getUserWithHash(services.db, userId);
  if (account === null || !account.user.isActive) throw wrongKey();
  return startSession(services, browser, account.user, {
    strength: 'passkey',
    details: 'User logged in with a passkey',
  });
}

/** `expected` null: the key has to say by itself that its user is there. */
async function userOfSignature(
  services: App,
  { clientAddress }: Origin,
  { credential, site }: { readonly credential: unknown; readonly site: Site | null },
  expected: { readonly username: string } | null,
): Promise<number> {
  const { db, clock, localLogin } = services;
  const at = requireSite(site);
  let found: factors.Passkey | null = null;
  const source = { username: expected?.username ?? '', address: clientAddress ?? '' };
  const isRight = await localLogin.checkFactor(source, async () => {
    const answered = await spentChallenge(services, 'sign-in', credential);
    const { id } = (credential ?? {}) as { id?: unknown };
    const key =
      answered === null || typeof id !== 'string' ? null : await factors.findPasskey(db, id);
    if (key === null || answered === null) return false;
    const counter = await verifiedSignature(at, credential, answered.text, key, expected === null);
    if (counter === null) return false;
    found = key;
    return factors.notePasskeyUse(db, key, counter, clock.now());
  });
  if (!isRight) throw wrongKey();
  return found!.userId;
}

function newChallenge(
  { serverSecret, clock }: App,
  purpose: Purpose,
  about: Pick<Challenge, 'userId' | 'proof'>,
): string {
  return makeChallenge(serverSecret, purpose, about, clock.now());
}

/** The one an answer of a browser is for; null: none of ours, too old, or answered before. */
async function spentChallenge(
  { db, serverSecret, clock }: App,
  purpose: Purpose,
  answer: unknown,
): Promise<{ readonly text: string; readonly challenge: Challenge } | null> {
  const text = challengeOf(answer);
  const challenge = text && readChallenge(serverSecret, purpose, text, clock.now());
  if (!challenge || !(await spend(db, challenge, clock.now()))) return null;
  return { text: text!, challenge };
}

/** Throws `bad-request`, `throttled`. */
async function requirePassword(
  { localLogin }: App,
  { userId }: Principal,
  { clientAddress }: Origin,
  password: string,
): Promise<void> {
  if ((await localLogin.confirmPassword(userId, password, clientAddress ?? '')) !== null) return;
  throw new AppError('bad-request', 'Your password is incorrect');
}

async function requireRoom({ db }: App, { userId }: Principal): Promise<void> {
  if ((await factors.listFactors(db, userId)).length < factors.MAX_FACTORS) return;
  throw new AppError('conflict', `At most ${factors.MAX_FACTORS} second factors: remove one first`);
}

function requireSite(site: Site | null): Site {
  if (site !== null) return site;
  throw new AppError(
    'bad-request',
    'Passkeys belong to a host name: open this server by one, not by an IP address',
  );
}

async function added(
  services: App,
  caller: Principal,
  origin: Origin,
  what: string,
): Promise<readonly string[] | null> {
  const { db, instanceKey } = services;
  await note(services, caller, origin, 'add_second_factor', `Added ${what}`);
  // Both were proved in this session.
  if (caller.sessionId !== null) await setSessionStrength(db, caller.sessionId, 'two-factors');
  if ((await factors.listFactors(db, caller.userId)).length > 1) return null;
  return factors.newRecoveryCodes(db, instanceKey, caller.userId);
}

function note(
  services: App,
  user: Principal,
  origin: Origin,
  action: string,
  details: string,
): Promise<void> {
  return record(services, { user, origin }, action, 'auth', details);
}

function nameOr(name: string, otherwise: string): string {
  const text = name.trim().slice(0, MAX_NAME).toWellFormed();
  return text === '' ? otherwise : text;
}

function wrongKey(): AppError {
  const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
  return new AppError('invalid-credentials', 'That passkey does not sign in here', { headers });
}

function tooLate(): AppError {
  const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
  return new AppError('invalid-credentials', 'Signing in took too long: begin again', { headers });
}

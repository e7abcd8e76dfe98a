/**
 * Username and password against the local accounts.
 *
 * Every failed attempt costs one hash and counts. The account is read again after the hash: a password change or a
 * deactivation during those 0.1 s must win.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Lru } from '../../base/lru.ts';
import type { Database } from '../../store/database.ts';
import type { Audit } from '../audit/audit.ts';
import { normalName } from './names.ts';
import { dummyVerify, hashPassword, needsRehash, verifyPassword } from './passwords.ts';
import type { LoginSource } from './throttle.ts';
import { LoginThrottle } from './throttle.ts';
import type { User, UserWithHash } from './users.ts';
import { findUserWithHash, getUserWithHash, upgradePasswordHash } from './users.ts';

/** How long a right Basic password is accepted without a hash; scripts send it with every request. */
const REMEMBER_MS = 60 * 1000;
const MAX_REMEMBERED = 1000;
const MAX_SHOWN_NAME = 150;

interface LoginAttempt extends LoginSource {
  readonly password: string;
}

interface LocalLoginOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly isEnabled: () => boolean;
  /** Whether the user has, or must have, more than a password. */
  readonly needsFactor: (user: User) => Promise<boolean>;
}

export class LocalLogin {
  readonly #options: LocalLoginOptions;
  readonly #throttle: LoginThrottle;
  /** Apart: a right password must not free the guessing of codes. */
  readonly #codes: LoginThrottle;
  readonly #memoryKey = randomBytes(32);
  /** Monotonic time until which a name, password and stored hash are known to match. */
  readonly #remembered = new Lru<string, number>(MAX_REMEMBERED);
  readonly #running = new Map<string, Promise<boolean>>();

  constructor(options: LocalLoginOptions) {
    this.#options = options;
    this.#throttle = new LoginThrottle(options.clock);
    this.#codes = new LoginThrottle(options.clock);
  }

  get failures(): number {
    return this.#throttle.failures;
  }

  get isEnabled(): boolean {
    return this.#options.isEnabled();
  }

  /**
   * For login forms and token issue; a wrong password is audited as `login_failed`. Throws `permission-denied` when
   * local login is disabled, `throttled` and `unavailable` (too many hashes wait).
   */
  async signIn(attempt: LoginAttempt): Promise<UsableAccount | null> {
    if (!this.isEnabled) {
      throw new AppError('permission-denied', 'Local password login is disabled');
    }
    const source = sourceOf(attempt);
    this.#throttle.check(source);
    const account = await this.#usableAccount(source.username);
    const isRight =
      account === null
        ? await dummyVerify(attempt.password)
        : await verifyPassword(attempt.password, account.passwordHash);
    const user = await this.#settle(source, account, isRight);
    if (user === null || account === null) return null;
    return { user, passwordHash: await this.#rehash(account, attempt.password) };
  }

  /**
   * As `signIn`, for Basic, which has no place for a second factor: never right for who needs one. A right password is cached for a minute under a keyed hash that includes the stored one,
   * so a change of password or status counts at once.
   */
  async checkBasic(attempt: LoginAttempt): Promise<User | null> {
    const source = sourceOf(attempt);
    this.#throttle.check(source);
    const account = await this.#usableAccount(source.username);
    if (account === null) {
      return this.#settle(source, null, await dummyVerify(attempt.password));
    }
    const key = this.#memoryKeyOf(source.username, attempt.password, account.passwordHash);
    const isRemembered = (this.#remembered.get(key) ?? 0) > this.#options.clock.monotonic();
    const isRight = isRemembered || (await this.#verifyOnce(key, attempt.password, account));
    if (isRight && !isRemembered) {
      this.#remembered.set(key, this.#options.clock.monotonic() + REMEMBER_MS);
    }
    const user = await this.#settle(source, account, isRight);
    return user === null || (await this.#options.needsFactor(user)) ? null : user;
  }

  /**
   * Whether a code, or the signature of a passkey, is right. Failures count for the user and the address, and are audited.
   * Throws `throttled`.
   */
  async checkFactor(given: LoginSource, isRight: () => Promise<boolean>): Promise<boolean> {
    const source = { username: normalName(given.username), address: given.address };
    this.#codes.check(source);
    const found = await isRight();
    if (found) {
      this.#codes.check(source);
      this.#codes.succeeded(source);
      return true;
    }
    this.#codes.failed(source);
    await this.#noteFailure(source, 'Wrong second factor');
    return false;
  }

  /** Throws `throttled` for whom further attempts are refused, whatever they bring. */
  requireOpen(source: LoginSource): void {
    this.#throttle.check(source);
  }

  /** For `PUT /auth/password`: a wrong password counts but is not audited. */
  async confirmPassword(userId: number, password: string, address: string): Promise<string | null> {
    const { db } = this.#options;
    const account = await getUserWithHash(db, userId);
    const source = { username: account?.user.username ?? '', address };
    this.#throttle.check(source);
    const isRight =
      account?.passwordHash == null
        ? await dummyVerify(password)
        : await verifyPassword(password, account.passwordHash);
    this.#count(source, isRight);
    return isRight ? (account?.passwordHash ?? null) : null;
  }

  async #usableAccount(username: string): Promise<UsableAccount | null> {
    const account = await findUserWithHash(this.#options.db, username);
    return isUsable(account) ? account : null;
  }

  async #settle(
    source: LoginSource,
    account: UsableAccount | null,
    isRight: boolean,
  ): Promise<User | null> {
    const now = account === null ? null : await getUserWithHash(this.#options.db, account.user.id);
    const isStillRight = isRight && isUsable(now) && now.passwordHash === account?.passwordHash;
    this.#count(source, isStillRight);
    if (isStillRight) return now.user;
    await this.#noteFailure(source, 'Failed login');
    return null;
  }

  #noteFailure(source: LoginSource, what: string): Promise<void> {
    return this.#options.audit.record({
      userId: null,
      action: 'login_failed',
      resource: 'auth',
      details: `${what} for user ${source.username.slice(0, MAX_SHOWN_NAME)}`,
      ipAddress: source.address,
    });
  }

  #count(source: LoginSource, isRight: boolean): void {
    if (!isRight) {
      this.#throttle.failed(source);
      return;
    }
    // Parallel attempts may have reached the limit meanwhile; then this one must not reveal that it was right.
    this.#throttle.check(source);
    this.#throttle.succeeded(source);
  }

  /** One hash for concurrent requests with the same password: a client opens many connections at once. */
  async #verifyOnce(key: string, password: string, account: UsableAccount): Promise<boolean> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const started = verifyPassword(password, account.passwordHash);
    this.#running.set(key, started);
    try {
      return await started;
    } finally {
      this.#running.delete(key);
    }
  }

  #memoryKeyOf(username: string, password: string, passwordHash: string): string {
    return createHmac('sha256', this.#memoryKey)
      .update(JSON.stringify([username, password, passwordHash]))
      .digest('base64url');
  }

  /** A concurrent change wins. */
  async #rehash({ user, passwordHash }: UsableAccount, password: string): Promise<string> {
    if (!needsRehash(passwordHash)) return passwordHash;
    const { db, log } = this.#options;
    try {
      const phc = await hashPassword(password);
      if (await upgradePasswordHash(db, user.id, passwordHash, phc)) return phc;
    } catch (error) {
      // The old hash still works; the next login tries again.
      log.warning('password hash not renewed', { user_id: user.id, error });
    }
    return passwordHash;
  }
}

type UsableAccount = UserWithHash & { readonly passwordHash: string };

function isUsable(account: UserWithHash | null): account is UsableAccount {
  return account !== null && account.user.isActive && account.passwordHash !== null;
}

function sourceOf({ username, address }: LoginAttempt): LoginSource {
  return { username: normalName(username), address };
}

/**
 * The first superuser of a fresh server.
 *
 * A token printed at start proves access to the machine: kept in memory only, valid for fifteen minutes and one
 * account. None of this exists on a server that listens beyond loopback, or once there is an active superuser.
 */
import type { App } from '../../app.ts';
import { secretsEqual } from '../../accounts/identity/secret-compare.ts';
import { checkPasswordLength, hashPassword } from '../../accounts/identity/passwords.ts';
import { checkUsername, countActiveSuperusers, createUser } from '../../accounts/identity/users.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { randomToken } from '../../base/ids.ts';
import type { Database } from '../../store/database.ts';
import type { Browser, StartedSession } from './sessions.ts';
import { record } from '../access.ts';
import { requireStrength, startSession } from './sessions.ts';
import { Input } from '../../base/json/input.ts';

const LIFETIME_MS = 15 * 60 * 1000;

interface FirstRunOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly isLoopback: boolean;
}

export class FirstRun {
  readonly #options: FirstRunOptions;
  #token: { readonly value: string; readonly expiresAt: number } | null = null;
  /** The last active superuser cannot be removed, so this never becomes false again. */
  #isOver = false;

  constructor(options: FirstRunOptions) {
    this.#options = options;
  }

  /** Replaces an older token; null when setup is closed. */
  async issueToken(): Promise<string | null> {
    if (!(await this.isOpen())) return null;
    const value = randomToken();
    this.#token = { value, expiresAt: this.#options.clock.monotonic() + LIFETIME_MS };
    return value;
  }

  async isOpen(): Promise<boolean> {
    if (this.#isOver || !this.#options.isLoopback) return false;
    this.#isOver = (await countActiveSuperusers(this.#options.db)) > 0;
    return !this.#isOver;
  }

  /** Throws `permission-denied` unless this is the current, unused and unexpired token. */
  check(token: string): void {
    const present = this.#token;
    const isValid =
      present !== null &&
      secretsEqual(token, present.value) &&
      this.#options.clock.monotonic() < present.expiresAt;
    if (!isValid) throw new AppError('permission-denied', 'Setup token is not valid');
  }

  /** The token is used up while `work` runs, and valid again if it fails. Throws as `check`. */
  async redeem<T>(token: string, work: () => Promise<T>): Promise<T> {
    this.check(token);
    const used = this.#token;
    this.#token = null;
    try {
      return await work();
    } catch (error) {
      this.#token ??= used;
      throw error;
    }
  }
}

/**
 * Also signs in; audited as `create_user` and `login`. Throws `permission-denied` (`Setup token is not valid`),
 * `invalid-request`, `weak-password`, `bad-request` when the name is taken.
 */
export async function createFirstSuperuser(
  services: App,
  firstRun: FirstRun,
  browser: Browser,
  body: unknown,
): Promise<StartedSession> {
  const input = new Input(body);
  const token = input.optionalText('token') ?? '';
  firstRun.check(token);
  const name = input.text('username');
  const password = input.text('password');
  input.finish();
  const username = checkUsername(name);
  checkPasswordLength(password, 'password');
  await requireStrength(services, password, username);
  const user = await firstRun.redeem(token, async () => {
    const passwordHash = await hashPassword(password);
    const now = services.clock.now();
    return createUser(services.db, { username, passwordHash, isSuperuser: true, now });
  });
  const by = { user: null, origin: browser };
  await record(services, by, 'create_user', 'user', `Created user ${username}`);
  return startSession(services, browser, user);
}

/**
 * A password that is taken away while somebody proves to know it: what an administrator does then is not undone, and no session
 * comes after the end of all (DS-108, DS-139).
 */
import type { App } from '../../src/app.ts';
import { expect, test } from 'bun:test';
import { Audit } from '../../src/accounts/audit/audit.ts';
import { LocalLogin } from '../../src/accounts/identity/local-login.ts';
import { hashPassword } from '../../src/accounts/identity/passwords.ts';
import { listSessions } from '../../src/accounts/identity/sessions.ts';
import {
  createUser,
  findUserWithHash,
  setActive,
  setPasswordHash,
} from '../../src/accounts/identity/users.ts';
import { changePassword, login } from '../../src/operations/accounts/sessions.ts';
import type { Database } from '../../src/store/database.ts';
import { temporaryDatabase, testClock, testLog } from '../support/database.ts';

const OLD = 'Correct-Horse-7';
const OLD_HASH = await hashPassword(OLD);

/** Accounts whose one user is changed by `meanwhile` right after the password was found right. */
async function accounts(meanwhile: (db: Database, userId: number) => Promise<unknown>) {
  const at = await temporaryDatabase();
  const { db } = at;
  const clock = testClock();
  const { log } = testLog();
  const audit = new Audit({ db, clock, log });
  const now = clock.now();
  const ada = { username: 'ada', passwordHash: OLD_HASH, isSuperuser: false, now };
  const { id, username } = await createUser(db, ada);
  const real = new LocalLogin({
    db,
    clock,
    log,
    audit,
    isEnabled: () => true,
    needsFactor: async () => false,
  });
  const localLogin = {
    isEnabled: true,
    signIn: async (...attempt: Parameters<LocalLogin['signIn']>) => {
      const found = await real.signIn(...attempt);
      await meanwhile(db, id);
      return found;
    },
    confirmPassword: async (...attempt: Parameters<LocalLogin['confirmPassword']>) => {
      const found = await real.confirmPassword(...attempt);
      await meanwhile(db, id);
      return found;
    },
  } as unknown as LocalLogin;
  const judgePassword = () => Promise.resolve(null);
  const parts: Partial<App> = { db, clock, log, audit, localLogin, oidc: null, judgePassword };
  const services = parts as App;
  const browser = { clientAddress: 'A', userAgent: null, sessionToken: null };
  const caller = {
    userId: id,
    username,
    isSuperuser: false,
    credential: 'session',
    sessionId: null,
    apiKeyId: null,
    scopes: null,
  } as const;
  return {
    signIn: () => login(services, browser, { username, password: OLD, code: null }),
    change: () =>
      changePassword(services, caller, browser, {
        current_password: OLD,
        new_password: 'Another-Horse-8',
      }),
    sessions: () => listSessions(db, id, now),
    hash: async () => (await findUserWithHash(db, username))!.passwordHash,
    async [Symbol.asyncDispose]() {
      await audit.drain();
      await at[Symbol.asyncDispose]();
    },
  };
}

const reset = (db: Database, userId: number) => setPasswordHash(db, userId, 'by the administrator');
const deactivate = (db: Database, userId: number) => setActive(db, userId, false);
const REFUSED = { code: 'invalid-credentials', message: 'Invalid credentials' };

test('a password the administrator has set meanwhile is not replaced by its user', async () => {
  await using at = await accounts(reset);
  await expect(at.change()).rejects.toMatchObject({ message: 'Current password is incorrect' });
  expect(await at.hash()).toBe('by the administrator');
});

test('a user deactivated meanwhile keeps the password that was there', async () => {
  await using at = await accounts(deactivate);
  await expect(at.change()).rejects.toMatchObject({ message: 'Current password is incorrect' });
  expect(await at.hash()).toBe(OLD_HASH);
});

test('no session begins with a password that was replaced meanwhile', async () => {
  await using at = await accounts(reset);
  await expect(at.signIn()).rejects.toMatchObject(REFUSED);
  expect(await at.sessions()).toEqual([]);
});

test('no session of a user deactivated meanwhile waits for the day of the activation', async () => {
  await using at = await accounts(deactivate);
  await expect(at.signIn()).rejects.toMatchObject(REFUSED);
  expect(await at.sessions()).toEqual([]);
});

test('without any of that the password is changed, and the user signed in', async () => {
  await using at = await accounts(async () => undefined);
  await at.signIn();
  expect(await at.sessions()).toHaveLength(1);
  await at.change();
  expect(await at.sessions()).toEqual([]);
  expect(await at.hash()).not.toBe(OLD_HASH);
});

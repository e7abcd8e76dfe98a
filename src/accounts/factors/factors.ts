/**
 * What a local account proves itself with besides its password: codes of an authenticator app (RFC 6238), passkeys
 * (WebAuthn), and ten recovery codes that work once. One that is not confirmed counts for nothing.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { timestamp } from '../../base/clock.ts';
import type { Database } from '../../store/database.ts';
import { rememberedFor } from '../../store/remembered.ts';
import { opened, sealed } from '../identity/sealing.ts';

export type FactorKind = 'totp' | 'passkey';

export interface Factor {
  readonly id: number;
  readonly kind: FactorKind;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface Passkey {
  readonly id: number;
  readonly userId: number;
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
}

/** Of one user, passkeys and apps together. */
export const MAX_FACTORS = 20;
const PURPOSE = 'svc second factors';
const RECOVERY_CODES = 10;
/** Ten characters of 32: 50 bits. */
const RECOVERY_BYTES = 10;
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz023456789';
const PERIOD_SECONDS = 30;
/** Clocks of phones are a little off. */
const WINDOW = 1;

const factorsByUser = rememberedFor<boolean>(1_000);

/** Asked for each request with a password. */
export async function hasFactor(db: Database, userId: number): Promise<boolean> {
  return factorsByUser(db).get(db, String(userId), async () => {
    const sql = 'SELECT 1 FROM second_factors WHERE user_id = ? AND is_confirmed = 1 LIMIT 1';
    return (await db.get(sql, [userId])) !== null;
  });
}

/** Confirmed ones, oldest first. */
export function listFactors(db: Database, userId: number): Promise<Factor[]> {
  return db.all<Factor>(
    `SELECT id, kind, name, created_at AS "createdAt", last_used_at AS "lastUsedAt" FROM second_factors
     WHERE user_id = ? AND is_confirmed = 1 ORDER BY id`,
    [userId],
  );
}

/** A new secret in place of one that was not confirmed. */
export async function beginTotp(
  db: Database,
  secretKey: Uint8Array,
  user: { readonly id: number; readonly username: string },
  { name, issuer, now }: { readonly name: string; readonly issuer: string; readonly now: number },
): Promise<{ readonly secret: string; readonly uri: string }> {
  const secret = new Secret({ size: 20 });
  await db.transaction(async (tx) => {
    await tx.run('DELETE FROM second_factors WHERE user_id = ? AND is_confirmed = 0', [user.id]);
    await tx.run(
      `INSERT INTO second_factors (user_id, kind, name, is_confirmed, sealed, created_at) VALUES (?, 'totp', ?, 0, ?, ?)`,
      [user.id, name, sealed(secret.base32, secretKey, PURPOSE), timestamp(now)],
    );
  });
  const totp = new TOTP({ issuer, label: user.username, secret, period: PERIOD_SECONDS });
  return { secret: secret.base32, uri: totp.toString() };
}

/** Whether the code is one of the app that was begun, which counts from now on. */
export async function confirmTotp(
  db: Database,
  secretKey: Uint8Array,
  userId: number,
  code: string,
  now: number,
): Promise<boolean> {
  const id = await usedTotp(db, secretKey, userId, { code, now, isConfirmed: false });
  if (id === null) return false;
  await db.run('UPDATE second_factors SET is_confirmed = 1 WHERE id = ?', [id]);
  return true;
}

/** Whether the code is right and was not used before. */
export async function useCode(
  db: Database,
  secretKey: Uint8Array,
  userId: number,
  code: string,
  now: number,
): Promise<'totp' | 'recovery' | null> {
  const plain = code.replace(/[\s-]/g, '').toLowerCase();
  if (/^\d{6}$/.test(plain)) {
    const id = await usedTotp(db, secretKey, userId, { code: plain, now, isConfirmed: true });
    return id === null ? null : 'totp';
  }
  if (plain.length !== RECOVERY_BYTES) return null;
  const { changes } = await db.run(
    'DELETE FROM recovery_codes WHERE user_id = ? AND code_hash = ?',
    [userId, hashOf(plain, secretKey)],
  );
  return changes > 0 ? 'recovery' : null;
}

/** The id of the app whose code it is. A step counts once, also for two who send its code at the same time. */
async function usedTotp(
  db: Database,
  secretKey: Uint8Array,
  userId: number,
  wanted: { readonly code: string; readonly now: number; readonly isConfirmed: boolean },
): Promise<number | null> {
  const { code, now, isConfirmed } = wanted;
  const rows = await db.all<{ id: number; sealed: Uint8Array }>(
    `SELECT id, sealed FROM second_factors WHERE user_id = ? AND kind = 'totp' AND is_confirmed = ?`,
    [userId, isConfirmed ? 1 : 0],
  );
  for (const { id, sealed: bytes } of rows) {
    const text = opened(bytes, secretKey, PURPOSE);
    if (text === null) continue;
    const totp = new TOTP({ secret: Secret.fromBase32(text), period: PERIOD_SECONDS });
    const delta = totp.validate({ token: code, timestamp: now, window: WINDOW });
    if (delta === null) continue;
    const step = Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
    const { changes } = await db.run(
      'UPDATE second_factors SET last_step = ?, last_used_at = ? WHERE id = ? AND last_step < ?',
      [step, timestamp(now), id, step],
    );
    if (changes > 0) return id;
  }
  return null;
}

/** In place of those there were; shown once. */
export async function newRecoveryCodes(
  db: Database,
  secretKey: Uint8Array,
  userId: number,
): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    [...randomBytes(RECOVERY_BYTES)].map((byte) => ALPHABET[byte % ALPHABET.length]).join(''),
  );
  await db.transaction(async (tx) => {
    await tx.run('DELETE FROM recovery_codes WHERE user_id = ?', [userId]);
    for (const code of codes) {
      await tx.run('INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)', [
        userId,
        hashOf(code, secretKey),
      ]);
    }
  });
  return codes.map((code) => `${code.slice(0, 5)}-${code.slice(5)}`);
}

export async function countRecoveryCodes(db: Database, userId: number): Promise<number> {
  const row = await db.get<{ count: number }>(
    'SELECT count(*) AS count FROM recovery_codes WHERE user_id = ?',
    [userId],
  );
  return row?.count ?? 0;
}

export async function addPasskey(
  db: Database,
  passkey: Omit<Passkey, 'id'> & { readonly name: string },
  now: number,
): Promise<void> {
  const { userId, name, credentialId, publicKey, counter } = passkey;
  await db.run(
    `INSERT INTO second_factors (user_id, kind, name, is_confirmed, credential_id, public_key, counter, created_at)
     VALUES (?, 'passkey', ?, 1, ?, ?, ?, ?)`,
    [userId, name, credentialId, publicKey, counter, timestamp(now)],
  );
}

const PASSKEY_COLUMNS =
  'id, user_id AS "userId", credential_id AS "credentialId", public_key AS "publicKey", counter';

export function findPasskey(db: Database, credentialId: string): Promise<Passkey | null> {
  return db.get<Passkey>(
    `SELECT ${PASSKEY_COLUMNS} FROM second_factors WHERE credential_id = ? AND is_confirmed = 1`,
    [credentialId],
  );
}

export function passkeysOf(db: Database, userId: number): Promise<Passkey[]> {
  return db.all<Passkey>(
    `SELECT ${PASSKEY_COLUMNS} FROM second_factors WHERE user_id = ? AND kind = 'passkey'`,
    [userId],
  );
}

/** False when a copy of the key was used meanwhile. */
export async function notePasskeyUse(
  db: Database,
  { id, counter: before }: Passkey,
  counter: number,
  now: number,
): Promise<boolean> {
  const { changes } = await db.run(
    'UPDATE second_factors SET counter = ?, last_used_at = ? WHERE id = ? AND counter = ?',
    [counter, timestamp(now), id, before],
  );
  return changes > 0;
}

/** False when the user has no such one. Without any, recovery codes are gone too. */
export async function removeFactor(db: Database, userId: number, id: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { changes } = await tx.run('DELETE FROM second_factors WHERE id = ? AND user_id = ?', [
      id,
      userId,
    ]);
    await removeUselessCodes(tx, userId);
    return changes > 0;
  });
}

/** How many there were. */
export async function removeAllFactors(db: Database, userId: number): Promise<number> {
  return db.transaction(async (tx) => {
    const { changes } = await tx.run('DELETE FROM second_factors WHERE user_id = ?', [userId]);
    await removeUselessCodes(tx, userId);
    return changes;
  });
}

async function removeUselessCodes(tx: Database, userId: number): Promise<void> {
  await tx.run(
    `DELETE FROM recovery_codes WHERE user_id = ?
     AND NOT EXISTS (SELECT 1 FROM second_factors WHERE second_factors.user_id = recovery_codes.user_id AND is_confirmed = 1)`,
    [userId],
  );
}

/** Codes have 50 bits: a copy of the database alone tells none. */
function hashOf(code: string, secretKey: Uint8Array): string {
  return createHmac('sha256', secretKey).update(`recovery ${code}`).digest('hex');
}

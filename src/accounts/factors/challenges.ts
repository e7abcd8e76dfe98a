/**
 * What is handed out between two steps of a sign-in: signed, good for five minutes, and used once. Nothing is stored until it
 * is used, so asking for many costs nothing.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { timestamp } from '../../base/clock.ts';
import type { Database } from '../../store/database.ts';

/** `second`: the password was right. `sign-in`, `enrol`: of a passkey. */
export type Purpose = 'second' | 'sign-in' | 'enrol';

export interface Challenge {
  /** 0: nobody yet. */
  readonly userId: number;
  /** Of the password hash it was checked against. */
  readonly proof: string;
  readonly nonce: string;
}

const LIFE_MS = 5 * 60_000;

export function makeChallenge(
  secret: Uint8Array,
  purpose: Purpose,
  { userId, proof }: Pick<Challenge, 'userId' | 'proof'>,
  now: number,
): string {
  const nonce = randomBytes(16).toString('base64url');
  const text = [nonce, now + LIFE_MS, userId, proof].join('.');
  return `${text}.${signature(secret, purpose, text)}`;
}

/** Null: not ours, for something else, or too old. */
export function readChallenge(
  secret: Uint8Array,
  purpose: Purpose,
  value: string,
  now: number,
): Challenge | null {
  const parts = value.split('.');
  const [nonce, until, userId, proof, sign] = parts;
  if (parts.length !== 5 || sign === undefined) return null;
  const expected = Buffer.from(signature(secret, purpose, parts.slice(0, 4).join('.')));
  const given = Buffer.from(sign);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  return Number(until) < now ? null : { nonce: nonce!, userId: Number(userId), proof: proof! };
}

/** False: used before. */
export async function spend(db: Database, { nonce }: Challenge, now: number): Promise<boolean> {
  await db.relaxed.run('DELETE FROM used_challenges WHERE expires_at < ?', [timestamp(now)]);
  const { changes } = await db.run(
    'INSERT INTO used_challenges (nonce, expires_at) VALUES (?, ?) ON CONFLICT (nonce) DO NOTHING',
    [nonce, timestamp(now + LIFE_MS)],
  );
  return changes > 0;
}

function signature(secret: Uint8Array, purpose: Purpose, text: string): string {
  return createHmac('sha256', secret).update(`svc ${purpose}\n${text}`).digest('base64url');
}

/**
 * Password hashes: Argon2id as Bun provides it, PHC strings.
 *
 * A hash takes about 0.1 s and 64 MiB off the event loop, so only a few run at once: without that bound a login form
 * is the cheapest way to stop the server.
 */
import { invalidRequest } from '../../base/errors.ts';
import { Lane } from '../../processes/lane.ts';

/** Unicode code points. */
export const MAX_PASSWORD_LENGTH = 1024;

const MEMORY_KIB = 65_536;
const PASSES = 2;
/** Two 64 MiB hashes keep two cores busy; sixteen waiting of one address or user are about a second of work. */
const MAX_HASHES = 2;
const MAX_WAITING = 16;
const MAX_WAIT_MS = 30_000;
/** A real hash of a forgotten text, so that it costs the same. */
const DUMMY_HASH =
  '$argon2id$v=19$m=65536,t=2,p=1$lJrqsEjPWl+Fmcz6NUR/bit2U2UszIYLY+y8JkuvODA$wjvajYuma5MgbrZSkrKRR+YZX6JqYtJGUcqGD+XMFZo';

const slots = new Lane(MAX_HASHES, MAX_WAITING);

/** Throws `invalid-request` past MAX_PASSWORD_LENGTH and `unavailable` when too many hashes wait. */
export async function hashPassword(password: string): Promise<string> {
  checkPasswordLength(password, 'password');
  return slots.run(MAX_WAIT_MS, () =>
    Bun.password.hash(password, {
      algorithm: 'argon2id',
      memoryCost: MEMORY_KIB,
      timeCost: PASSES,
    }),
  );
}

export function checkPasswordLength(password: string, field: string): void {
  const loc = ['body', field];
  if (password === '') {
    throw invalidRequest({
      type: 'string_too_short',
      loc,
      msg: 'A password needs at least 1 character',
      ctx: { min_length: 1 },
    });
  }
  if (!isTooLong(password)) return;
  throw invalidRequest({
    type: 'string_too_long',
    loc,
    msg: `A password has at most ${MAX_PASSWORD_LENGTH} characters`,
    ctx: { max_length: MAX_PASSWORD_LENGTH },
  });
}

/**
 * Costs one hash whatever the result; an empty or overlong password and an unreadable PHC string are wrong. Throws
 * `unavailable`.
 */
export async function verifyPassword(password: string, phc: string): Promise<boolean> {
  const isPossible = password !== '' && !isTooLong(password) && phc.startsWith('$argon2');
  if (!isPossible) return dummyVerify(password);
  return slots.run(MAX_WAIT_MS, () => Bun.password.verify(password, phc));
}

/** Costs one hash: for accounts that do not exist or have no password. */
export async function dummyVerify(password: string): Promise<false> {
  const hashed = password === '' || isTooLong(password) ? 'x' : password;
  await slots.run(MAX_WAIT_MS, () => Bun.password.verify(hashed, DUMMY_HASH));
  return false;
}

export function needsRehash(phc: string): boolean {
  const found = /^\$argon2id\$v=(\d+)\$m=(\d+),t=(\d+),p=\d+\$/.exec(phc);
  if (found === null) return true;
  const [, version, memory, passes] = found.map(Number);
  return (version ?? 0) < 19 || (memory ?? 0) < MEMORY_KIB || (passes ?? 0) < PASSES;
}

function isTooLong(password: string): boolean {
  // A code point has at most two UTF-16 units: avoids counting a megabyte.
  if (password.length > 2 * MAX_PASSWORD_LENGTH) return true;
  return password.length > MAX_PASSWORD_LENGTH && [...password].length > MAX_PASSWORD_LENGTH;
}

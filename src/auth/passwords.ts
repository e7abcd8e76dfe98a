/**
 * Password hashes and password strength (DS-101, DS-109, DS-110).
 *
 * Argon2id as Bun provides it, PHC strings. A hash takes about 0.1 s and 64 MiB off the event loop, so only a few run at
 * once: without that bound a login form is the cheapest way to stop the server.
 */
import { invalidRequest } from '../base/errors.ts';
import { Semaphore } from '../base/semaphore.ts';

/** Unicode code points (DS-109). */
export const MAX_PASSWORD_LENGTH = 1024;

const MEMORY_KIB = 65_536;
const PASSES = 2;
/** Two 64 MiB hashes keep two cores busy; sixteen waiting are about a second of work. */
const MAX_HASHES = 2;
const MAX_WAITING = 16;
/** Hash of a forgotten random text under the parameters above; costs exactly what a real one does. */
const DUMMY_HASH =
  '$argon2id$v=19$m=65536,t=2,p=1$lJrqsEjPWl+Fmcz6NUR/bit2U2UszIYLY+y8JkuvODA$wjvajYuma5MgbrZSkrKRR+YZX6JqYtJGUcqGD+XMFZo';

// One bound for the process: cores and memory are shared by every way to sign in.
const slots = new Semaphore(MAX_HASHES, MAX_WAITING);

/**
 * The PHC string to store for a password. Throws `invalid-request` past MAX_PASSWORD_LENGTH and `unavailable` when too many
 * hashes wait already.
 */
export async function hashPassword(password: string): Promise<string> {
  checkPasswordLength(password, 'password');
  return slots.run(() =>
    Bun.password.hash(password, {
      algorithm: 'argon2id',
      memoryCost: MEMORY_KIB,
      timeCost: PASSES,
    }),
  );
}

/** Refuses an empty or overlong password: `invalid-request` naming the body member `field`. */
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
 * Whether the password belongs to the PHC string; compared as typed, byte by byte. Costs one hash whatever the answer;
 * an empty or overlong password and an unreadable PHC string are wrong. Throws `unavailable` as `hashPassword`.
 */
export async function verifyPassword(password: string, phc: string): Promise<boolean> {
  const isPossible = password !== '' && !isTooLong(password) && phc.startsWith('$argon2');
  if (!isPossible) return dummyVerify(password);
  return slots.run(() => Bun.password.verify(password, phc));
}

/** Always false, at the cost of one hash: for accounts that do not exist or have no password (DS-101). */
export async function dummyVerify(password: string): Promise<false> {
  const hashed = password === '' || isTooLong(password) ? 'x' : password;
  await slots.run(() => Bun.password.verify(hashed, DUMMY_HASH));
  return false;
}

/** Whether the hash was made with weaker parameters than `hashPassword` uses now. */
export function needsRehash(phc: string): boolean {
  const found = /^\$argon2id\$v=(\d+)\$m=(\d+),t=(\d+),p=\d+\$/.exec(phc);
  if (found === null) return true;
  const [, version, memory, passes] = found.map(Number);
  return (version ?? 0) < 19 || (memory ?? 0) < MEMORY_KIB || (passes ?? 0) < PASSES;
}

function isTooLong(password: string): boolean {
  // A code point has at most two UTF-16 units: spares counting a megabyte.
  if (password.length > 2 * MAX_PASSWORD_LENGTH) return true;
  return password.length > MAX_PASSWORD_LENGTH && [...password].length > MAX_PASSWORD_LENGTH;
}

const COMMON_PASSWORDS = new Set([
  '123456',
  '12345678',
  '123456789',
  'admin',
  'admin123',
  'changeme',
  'letmein',
  'password',
  'password1',
  'password123',
  'qwerty',
  'welcome',
]);
const COMMON_RUNS = ['12345', '54321', 'abcdef', 'fedcba', 'qwerty', 'asdf', 'zxcv'];

/** Why the password is weak (DS-110), as half a sentence for a person; null when it is strong. */
export function weakness(password: string, username: string): string | null {
  const characters = [...password];
  if (characters.length < 10) return 'it is shorter than 10 characters';
  const lower = password.toLowerCase();
  const reduced = lower.replaceAll(/[^a-z0-9]/g, '');
  if (COMMON_PASSWORDS.has(password) || COMMON_PASSWORDS.has(reduced)) return 'it is a common one';
  if (username !== '' && lower.includes(username.toLowerCase())) return 'it contains the username';
  if (new Set(characters).size <= 2) return 'it has only two different characters';
  const run = COMMON_RUNS.find((text) => reduced.includes(text));
  if (run !== undefined) return `it contains the common run '${run}'`;
  const classes = [/\p{Ll}/u, /\p{Lu}/u, /\p{Nd}/u, /[^\p{Ll}\p{Lu}\p{Nd}]/u];
  const found = classes.filter((one) => one.test(password)).length;
  const isStrong = found === 4 || (characters.length >= 12 && found === 3);
  if (isStrong) return null;
  return 'it needs 12 characters of three kinds (lower case, upper case, digits, others) or 10 of all four';
}

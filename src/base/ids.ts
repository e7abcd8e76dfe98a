/**
 * Random names and digests, all from the system's cryptographic source.
 */
import { randomBytes } from 'node:crypto';

/** An unguessable token of `bytes` random bytes in base64url without padding; 32 bytes give 43 characters. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

/** SHA-256 in lower-case hex; text is hashed as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return Bun.SHA256.hash(content, 'hex');
}

/**
 * 16 hex digits that do not repeat in practice: request ids, temporary file names. Too short for a secret that may
 * be guessed offline; use `randomToken` there.
 */
export function shortId(): string {
  return randomBytes(8).toString('hex');
}

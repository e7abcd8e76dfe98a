import { randomBytes } from 'node:crypto';

/** Base64url without padding; 32 bytes give 43 characters. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

/** Lower-case hex; text is hashed as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return Bun.SHA256.hash(content, 'hex');
}

/** 16 hex digits, for request ids and temporary names; for secrets use `randomToken`. */
export function shortId(): string {
  return randomBytes(8).toString('hex');
}

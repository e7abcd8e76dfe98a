/** Texts that have to be read again, kept under AES-256-GCM with a key of their purpose, derived from the server's. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

export function sealed(value: string, secret: Uint8Array, purpose: string): Uint8Array {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyFrom(secret, purpose), iv);
  const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return new Uint8Array(Buffer.concat([iv, cipher.getAuthTag(), text]));
}

/** Null: sealed under another secret. */
export function opened(bytes: Uint8Array, secret: Uint8Array, purpose: string): string | null {
  try {
    const iv = bytes.subarray(0, IV_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', keyFrom(secret, purpose), iv);
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function keyFrom(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), purpose, 32));
}

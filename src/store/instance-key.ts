/**
 * The instance key (EV-16): seals what must be told again, such as tokens, and may stand apart from the state it protects.
 */
import { readFileSync } from 'node:fs';
import { AppError } from '../base/errors.ts';

const LEAST_BYTES = 16;

/** The bytes of the file named by `instance_key_file`. Throws `usage` for one that cannot be read or is too short to be secret. */
export function readInstanceKey(path: string): Uint8Array {
  let key: Uint8Array;
  try {
    key = new Uint8Array(readFileSync(path));
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new AppError('usage', `instance_key_file: the file cannot be read (${code})`, {
      cause: error,
    });
  }
  if (key.length >= LEAST_BYTES) return key;
  throw new AppError('usage', `instance_key_file: the file has fewer than ${LEAST_BYTES} bytes`);
}

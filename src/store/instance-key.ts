/**
 * The instance key seals values that must be shown again, such as tokens; it may be kept apart from the state it
 * protects.
 */
import { readFileSync } from 'node:fs';
import { AppError } from '../base/errors.ts';

const LEAST_BYTES = 16;

/** Throws `usage`. */
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

import { AppError } from '../../src/base/errors.ts';

/** `reason` follows `Cannot read '<rel>': `. */
export function unreadable(reason: string): AppError {
  return new AppError('unreadable-file', reason);
}

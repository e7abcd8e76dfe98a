import { AppError } from '../../base/errors.ts';
import { type FileStamp, isRacy, sameStamp } from '../../base/files/file-stamp.ts';

/** Known when the reading began. */
export interface SeenFile {
  readonly stamp: FileStamp;
  /** Wall clock in ms. */
  readonly takenAt: number;
  /** See `companionFingerprint`. */
  readonly companion: string;
}

export interface ReadFailure extends SeenFile {
  /** Without the name of the file. */
  readonly reason: string;
  /** `unreadable-file`. */
  readonly error: AppError;
}

/** Null when the file is not at fault. */
export function failureOf(rel: string, error: unknown, seen: SeenFile): ReadFailure | null {
  if (!(error instanceof AppError) || !isFileAtFault(error)) return null;
  const prefix = `Cannot read '${rel}': `;
  // A refusal to open the file begins with it already.
  const reason = error.message.startsWith(prefix)
    ? error.message.slice(prefix.length)
    : error.message;
  const failure = new AppError('unreadable-file', prefix + reason, { cause: error });
  return { ...seen, reason, error: failure };
}

export function isFailureOf(
  failure: SeenFile,
  { stamp, companion }: Pick<SeenFile, 'stamp' | 'companion'>,
): boolean {
  const isSame = sameStamp(failure.stamp, stamp) && failure.companion === companion;
  return isSame && !isRacy(failure.stamp, failure.takenAt);
}

function isFileAtFault({ code }: AppError): boolean {
  return code === 'unreadable-file' || code === 'too-large' || code === 'timed-out';
}

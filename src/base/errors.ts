/**
 * Domain code throws `AppError(code, message)` and never names an HTTP status. `message` is for a person and becomes
 * the `detail` of the response, so it never holds an absolute path, SQL or a stack. Any other thrown value is a bug
 * and answers 500.
 */

interface CatalogueEntry {
  /** HTTP status. */
  readonly status: number;
  /** One sentence for the documentation. */
  readonly summary: string;
}

/** Every error code, with its status and its meaning. */
export const errorCatalogue = {
  'bad-request': { status: 400, summary: 'The request breaks a rule named in the text.' },
  'invalid-host': {
    status: 400,
    summary: 'The Host header names no host this server answers for.',
  },
  'weak-password': { status: 400, summary: 'The new password is easy to guess.' },
  'not-authenticated': { status: 401, summary: 'No credential, or one that is invalid.' },
  'invalid-credentials': {
    status: 401,
    summary: 'Sign-in failed; for a password the text never says why.',
  },
  'permission-denied': { status: 403, summary: 'The caller lacks the right.' },
  'second-factor-missing': {
    status: 403,
    summary: 'The account has to have a second factor, and has none yet.',
  },
  'csrf-failed': { status: 403, summary: 'A browser session without its CSRF token.' },
  'not-writable': { status: 403, summary: 'The file system refuses to write the file.' },
  'not-found': {
    status: 404,
    summary: 'Nothing answers at this address, or the row does not exist.',
  },
  'method-not-allowed': { status: 405, summary: 'The path exists, the method does not.' },
  'read-only': { status: 405, summary: 'The server is in read-only mode.' },
  conflict: { status: 409, summary: 'The change collides with the present state.' },
  locked: { status: 409, summary: 'Another operation holds the file.' },
  gone: {
    status: 410,
    summary: 'It was here and is not kept any more; the text says how to go on.',
  },
  'precondition-failed': { status: 412, summary: 'If-Match names another version.' },
  'too-large': { status: 413, summary: 'The body or the file exceeds a configured limit.' },
  'not-acceptable': { status: 406, summary: 'The route offers none of the asked types.' },
  'unsupported-media-type': {
    status: 415,
    summary: 'The body has a type or encoding this route does not read.',
  },
  'invalid-request': {
    status: 422,
    summary: 'Parameters or body have the wrong shape; detail lists them.',
  },
  'invalid-query': {
    status: 422,
    summary: 'A filter, sort, column list or cursor is wrong.',
  },
  'schema-mismatch': { status: 422, summary: 'Row values do not fit the schema.' },
  'unreadable-file': { status: 422, summary: 'The file cannot be read as its kind.' },
  throttled: { status: 429, summary: 'Too many attempts; Retry-After says when to come back.' },
  'headers-too-large': { status: 431, summary: 'The request head exceeds its limit.' },
  internal: {
    status: 500,
    summary: 'A bug; the cause is in the log under the request id.',
  },
  'upload-failed': {
    status: 500,
    summary: 'An upload failed for a reason of the server; the cause is in the log.',
  },
  'not-implemented': {
    status: 501,
    summary: 'The request asks for a protocol svc does not speak.',
  },
  'handler-failed': {
    status: 502,
    summary: 'The process of a handler ended while it worked on the request.',
  },
  'bad-gateway': { status: 502, summary: 'The identity provider gives no usable answer.' },
  unavailable: { status: 503, summary: 'A part of the service cannot answer now; retry later.' },
  'timed-out': { status: 504, summary: 'The work passed its time limit and was stopped.' },
  'no-space': { status: 507, summary: 'The disk is full; nothing was changed.' },
  usage: { status: 500, summary: 'Wrong command line or configuration; exit code 2.' },
  'state-unusable': {
    status: 500,
    summary:
      'The state directory is damaged, newer, read-only or in use; the server does not start.',
  },
} as const satisfies Record<string, CatalogueEntry>;

/** A key of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue;

export interface ValidationIssue {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input?: unknown;
  readonly ctx?: Record<string, unknown>;
}

interface AppErrorOptions {
  /** For the list form; replaces the message in the response. */
  readonly issues?: readonly ValidationIssue[];
  /** Response headers of this failure (`Allow`, `Retry-After`, `ETag`, `WWW-Authenticate`). */
  readonly headers?: Record<string, string>;
  /** What would be right, as sentences; a separate member of the response. */
  readonly hint?: string;
  /** For the log only. */
  readonly cause?: unknown;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly ValidationIssue[] | undefined;
  readonly headers: Record<string, string>;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.issues = options.issues;
    this.headers = options.headers ?? {};
    this.hint = options.hint;
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }
}

/** Issues in one answer, so that an answer stays small whatever was sent. */
export const MAX_ISSUES = 100;
const MAX_INPUT_LENGTH = 1_000;

/** A 422 in list form; at least one issue. Only short inputs are repeated. */
export function invalidRequest(...issues: ValidationIssue[]): AppError {
  return new AppError('invalid-request', issues[0]?.msg ?? 'Invalid request', {
    issues: issues.slice(0, MAX_ISSUES).map(({ input, ...issue }) => {
      if (typeof input === 'string') return { ...issue, input: input.slice(0, MAX_INPUT_LENGTH) };
      const isTold = input === null || typeof input === 'number' || typeof input === 'boolean';
      return isTold ? { ...issue, input } : issue;
    }),
  });
}

/** `ENOENT`, `ENOSPC`, …; undefined for other errors. */
export function errnoOf(error: unknown): string | undefined {
  if (error === null || typeof error !== 'object') return undefined;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** SQLite's or the file system's full disk as `no-space`; others unchanged. */
export function asNoSpace(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isFull = ['SQLITE_FULL', 'ENOSPC', 'EDQUOT', 'EFBIG'].includes(code);
  return isFull ? new AppError('no-space', 'Insufficient storage', { cause: error }) : error;
}

/** Process or system can open nothing more for now, which says nothing about the file. */
export function isOutOfDescriptors(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'EMFILE' || errno === 'ENFILE';
}

/** `unavailable`: may be retried. */
export function outOfDescriptors(cause: unknown): AppError {
  return new AppError('unavailable', 'Too many open files', {
    cause,
    headers: { 'Retry-After': '1' },
  });
}

/**
 * For failed look-ups of `rel` other than absence (`isAbsence`): `unreadable-file` where rights are missing, else
 * `unavailable`. Other errors unchanged.
 */
export function lookFailure(error: unknown, rel: string): unknown {
  if (isOutOfDescriptors(error)) return outOfDescriptors(error);
  switch (errnoOf(error)) {
    case undefined:
      return error;
    case 'EACCES':
    case 'EPERM':
      return new AppError('unreadable-file', `Cannot read '${rel}': permission denied`, {
        cause: error,
      });
    default:
      return notAnswering(rel, error);
  }
}

/** `unavailable`: the disk or share of `rel` does not answer now. */
export function notAnswering(rel: string, cause?: unknown): AppError {
  return new AppError('unavailable', `The storage of '${rel}' does not answer`, {
    cause,
    headers: { 'Retry-After': '5' },
  });
}

/** `rest` follows `Schema validation failed: `. */
export function mismatch(rest: string): AppError {
  return new AppError('schema-mismatch', `Schema validation failed: ${rest}`);
}

/** `reason` follows `Cannot read '<rel>': `. */
export function unreadable(reason: string, cause?: unknown): AppError {
  return new AppError('unreadable-file', reason, { cause });
}

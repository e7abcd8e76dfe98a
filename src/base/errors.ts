/**
 * The one error class and the catalogue of its codes.
 *
 * Domain code throws `AppError(code, message)` and never names an HTTP status; each door maps the code once
 * (`server/errors.ts` to HTTP, `cli/cli.ts` to an exit code). `message` is for a person and becomes the `detail` of
 * DS-9 word for word, so it never holds an absolute path, SQL or a stack. Anything thrown that is not an AppError
 * is a bug and answers 500 (DS-14).
 */

interface CatalogueEntry {
  /** HTTP status this code answers with. */
  readonly status: number;
  /** When it happens, one sentence for the documentation. */
  readonly summary: string;
}

/** Every error code, with its status and its meaning. */
export const errorCatalogue = {
  'bad-request': { status: 400, summary: 'The request breaks a rule named in the text.' },
  'invalid-host': {
    status: 400,
    summary: 'The Host header names no host this server answers for (DS-203).',
  },
  'weak-password': { status: 400, summary: 'The new password fails the strength rules (DS-110).' },
  'not-authenticated': { status: 401, summary: 'No credential, or one that is invalid (DS-94).' },
  'invalid-credentials': {
    status: 401,
    summary: 'Sign-in failed; for a password the text never says why (DS-99, DS-122).',
  },
  'permission-denied': { status: 403, summary: 'The caller lacks the right (DS-130).' },
  'csrf-failed': { status: 403, summary: 'A browser session without its CSRF token (DS-114).' },
  'not-writable': { status: 403, summary: 'The file system refuses to write the file (DS-85).' },
  'not-found': {
    status: 404,
    summary: 'Nothing answers at this address, or the row does not exist.',
  },
  'method-not-allowed': { status: 405, summary: 'The path exists, the method does not (DS-7).' },
  'read-only': { status: 405, summary: 'The server is in read-only mode (DS-22).' },
  conflict: { status: 409, summary: 'The change collides with the present state.' },
  locked: { status: 409, summary: 'Another operation holds the file (DS-90).' },
  'precondition-failed': { status: 412, summary: 'If-Match names another version (DS-82).' },
  'too-large': { status: 413, summary: 'The body or the file exceeds a configured limit.' },
  'not-acceptable': { status: 406, summary: 'The route offers none of the asked types (EV-8).' },
  'unsupported-media-type': {
    status: 415,
    summary: 'The body has a type or encoding this route does not read (EV-6, EV-7).',
  },
  'invalid-request': {
    status: 422,
    summary: 'Parameters or body have the wrong shape; detail lists them (DS-9).',
  },
  'invalid-query': {
    status: 422,
    summary: 'A filter, sort, column list or cursor is wrong (DS-55).',
  },
  'schema-mismatch': { status: 422, summary: 'Row values do not fit the schema (DS-75).' },
  'unreadable-file': { status: 422, summary: 'The file cannot be read as its kind (DS-34).' },
  throttled: { status: 429, summary: 'Too many attempts; Retry-After says when to come back.' },
  'headers-too-large': { status: 431, summary: 'The request head exceeds its limit (DS-18).' },
  internal: {
    status: 500,
    summary: 'A bug; the cause is in the log under the request id (DS-14).',
  },
  'upload-failed': {
    status: 500,
    summary: 'An upload failed for a reason of the server; the cause is in the log (DS-153).',
  },
  'not-implemented': {
    status: 501,
    summary: 'The request asks for a protocol svc does not speak.',
  },
  'handler-failed': {
    status: 502,
    summary: 'The process of a handler ended while it worked on the request (DS-170).',
  },
  'bad-gateway': { status: 502, summary: 'The identity provider gives no usable answer (DS-121).' },
  unavailable: { status: 503, summary: 'A part of the service cannot answer now; retry later.' },
  'timed-out': { status: 504, summary: 'The work passed its time limit and was stopped.' },
  'no-space': { status: 507, summary: 'The disk is full; nothing was changed (DS-85).' },
  usage: { status: 500, summary: 'Wrong command line or configuration; exit code 2 (DS-196).' },
  'state-unusable': {
    status: 500,
    summary:
      'The state directory is damaged, newer, read-only or in use; the server does not start.',
  },
} as const satisfies Record<string, CatalogueEntry>;

/** A key of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue;

/** One entry of the list form of DS-9; `type` and `loc` are contractual, `msg` is not. */
export interface ValidationIssue {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input?: unknown;
  readonly ctx?: Record<string, unknown>;
}

interface AppErrorOptions {
  /** Present for the list form of DS-9; replaces the message on the wire. */
  readonly issues?: readonly ValidationIssue[];
  /** Response headers that belong to this failure (`Allow`, `Retry-After`, `ETag`, `WWW-Authenticate`). */
  readonly headers?: Record<string, string>;
  /** For the log only. */
  readonly cause?: unknown;
}

/** A failure the caller can understand. See the file header for what may stand in `message`. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly ValidationIssue[] | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.issues = options.issues;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }
}

/** A 422 in list form (DS-9) made of the given issues; at least one. */
export function invalidRequest(...issues: ValidationIssue[]): AppError {
  return new AppError('invalid-request', issues[0]?.msg ?? 'Invalid request', { issues });
}

/** The errno name (`ENOENT`, `ENOSPC`, …) of a file system error, or undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (error === null || typeof error !== 'object') return undefined;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Whether the process, or the system, can open nothing more for now: that says nothing of the file that was asked for. */
export function isOutOfDescriptors(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'EMFILE' || errno === 'ENFILE';
}

/** What such an error is to whoever asked: `unavailable`, to be asked again. */
export function outOfDescriptors(cause: unknown): AppError {
  return new AppError('unavailable', 'Too many open files', {
    cause,
    headers: { 'Retry-After': '1' },
  });
}

/**
 * What it is to whoever asked for the file `rel` that its storage could not be asked, absence (`isAbsence`) aside: `unreadable-file`
 * where rights are missing (DS-34), else `unavailable`, to be asked again. What is no failure of the file system stays as it is.
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

/** The disk or the share on which `rel` lies, or would lie, cannot be asked now: `unavailable`. */
export function notAnswering(rel: string, cause?: unknown): AppError {
  return new AppError('unavailable', `The storage of '${rel}' does not answer`, {
    cause,
    headers: { 'Retry-After': '5' },
  });
}

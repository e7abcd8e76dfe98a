/**
 * Sends a failure from a child to its parent. An AppError stays one, a full disk is `no-space`; anything else is a
 * bug and arrives as a plain Error with the child's stack, logged once. A header marks failures, whatever the status.
 */
import { AppError, asNoSpace, errorCatalogue } from '../base/errors.ts';
import type { ErrorCode, ValidationIssue } from '../base/errors.ts';

const FAILURE_HEADER = 'x-svc-failure';

interface ExpectedFailure {
  readonly code: string;
  readonly message: string;
  readonly issues?: readonly ValidationIssue[];
  readonly headers?: Record<string, string>;
}

interface BugFailure {
  readonly message: string;
  readonly stack: string;
}

export function failureResponse(thrown: unknown): Response {
  const error = asNoSpace(thrown);
  if (error instanceof AppError) {
    const { code, message, issues, headers } = error;
    return marked('expected', { code, message, issues, headers } satisfies ExpectedFailure);
  }
  const bug = error instanceof Error ? error : new Error(String(error));
  return marked('bug', {
    message: bug.message,
    stack: withCauses(bug),
  } satisfies BugFailure);
}

function marked(kind: string, failure: ExpectedFailure | BugFailure): Response {
  return Response.json(failure, { status: 500, headers: { [FAILURE_HEADER]: kind } });
}

function withCauses(error: Error): string {
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause instanceof Error ? `${own}\nCaused by: ${withCauses(error.cause)}` : own;
}

/** The body is then for {@link readFailure}, not for the caller. */
export function isFailure(response: Response): boolean {
  return response.headers.has(FAILURE_HEADER);
}

/** Reads the body; returns the error to be thrown again. */
export async function readFailure(response: Response): Promise<Error> {
  if (response.headers.get(FAILURE_HEADER) === 'expected') {
    const failure = (await response.json()) as ExpectedFailure;
    if (isErrorCode(failure.code)) {
      const { issues, headers } = failure;
      return new AppError(failure.code, failure.message, { issues, headers });
    }
    return new Error(`A child reported the unknown error code ${JSON.stringify(failure.code)}`);
  }
  const failure = (await response.json()) as BugFailure;
  const error = new Error(failure.message);
  error.stack = failure.stack;
  return error;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}

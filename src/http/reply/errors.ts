/**
 * The one mapping from failures to HTTP answers. What is not an AppError is a bug: 500 with the request id, under which the
 * cause is logged.
 */
import { AppError } from '../../base/errors.ts';
import type { Context } from '../context.ts';
import { isSafeMethod } from '../route.ts';
import { type Reply, emptyReply, jsonReply } from './reply.ts';
import { BASIC_CHALLENGE, refusalOf, TOKEN_CHALLENGE } from '../../accounts/identity/refusal.ts';

/** Errors there are JSON for everybody; below `/admin/ui` are pages. */
const JSON_PREFIX = /^\/(?:api|schema|admin(?!\/ui\/)|mcp)(?:\/|$)/;

/** Never throws, except for a bug in the error page. */
export function errorReply(error: unknown, context: Context): Reply {
  const { rules: route } = context;
  const failure = asAppError(error, context);
  const { status } = failure;
  const redirects =
    route.neverRedirects !== true &&
    (route.answersFailure !== eventErrorReply || isSafeMethod(context.method));
  if (context.linkSecret !== null) return linkErrorReply(failure, context);
  if (status === 401 && redirects && context.wantsHtml) {
    return emptyReply(302, { Location: loginAddress(context), Vary: 'Accept' });
  }
  if (failure.code === 'second-factor-missing' && redirects && context.wantsHtml) {
    return emptyReply(302, { Location: '/profile#second-factor', Vary: 'Accept' });
  }
  if (route.answersFailure !== undefined) return route.answersFailure(failure, context);
  return plainErrorReply(failure, context);
}

/** What is asked for a password is led to where it is entered. */
function linkErrorReply(failure: AppError, context: Context): Reply {
  if (failure.status === 401 && context.wantsHtml && isSafeMethod(context.method)) {
    return emptyReply(302, { Location: '/', Vary: 'Accept' });
  }
  // It may quote the file.
  const isTold = failure.code !== 'unreadable-file';
  const told = isTold ? failure : new AppError('unreadable-file', 'This cannot be read now');
  return plainErrorReply(told, context);
}

function plainErrorReply(failure: AppError, context: Context): Reply {
  const { rules: route } = context;
  const { status } = failure;
  const isPage = route.hasJsonErrors !== true && !JSON_PREFIX.test(context.path);
  if (isPage && context.wantsHtml) {
    const view = {
      status,
      detail: detailText(failure),
      requestId: context.requestId,
      isRepeatable: isSafeMethod(context.method),
      isStaleForm: failure.code === 'csrf-failed',
      retryAfter: retryAfterOf(failure),
    };
    const reply = context.server.failurePage(context, view, {
      status,
      headers: failure.headers,
    });
    return { ...reply, headers: { ...reply.headers, Vary: 'Accept' } };
  }
  return jsonError(failure, context.requestId, isPage ? { Vary: 'Accept' } : {});
}

/** For answers before there is a context. */
export function jsonError(
  failure: AppError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const detail = failure.issues ?? failure.message;
  const body = {
    detail,
    ...(failure.hint !== undefined && { hint: failure.hint }),
    ...(failure.status === 500 && { request_id: requestId }),
  };
  return jsonReply(body, { status: failure.status, headers: { ...failure.headers, ...headers } });
}

function asAppError(error: unknown, context: Context): AppError {
  if (error instanceof AppError && error.code !== 'internal') return error;
  const { method, path, requestId: id, request } = context;
  if (request.signal.aborted && error === request.signal.reason) {
    // For the log: the client is at fault, not the server.
    return new AppError('bad-request', 'The client went away', { cause: error });
  }
  context.services.log.error('request failed', { id, method, path, error });
  return new AppError('internal', 'Internal Server Error');
}

/** GET and HEAD return there after sign-in. */
function loginAddress(context: Context): string {
  if (context.method !== 'GET' && context.method !== 'HEAD') return '/auth/login';
  return `/auth/login?next=${encodeNext(context.path + context.search)}`;
}

/** `/` stays readable. */
function encodeNext(next: string): string {
  return encodeURIComponent(next).replaceAll('%2F', '/');
}

function retryAfterOf({ headers }: AppError): number | null {
  const seconds = Number(new Headers(headers).get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}

function detailText({ hint, issues, message }: AppError): string {
  if (issues === undefined) return hint === undefined ? message : `${message}. ${hint}`;
  return issues.map(({ loc, msg }) => `${loc.slice(1).join('.') || loc[0]}: ${msg}`).join('; ');
}

const FORM_FAULTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  basic: {
    empty: 'Invalid basic header. No credentials provided.',
    spaces: 'Invalid basic header. Credentials string should not contain spaces.',
    encoding: 'Invalid basic header. Credentials not correctly base64 encoded.',
  },
  token: {
    empty: 'Invalid token header. No credentials provided.',
    spaces: 'Invalid token header. Token string should not contain spaces.',
    'inactive-user': 'User inactive or deleted.',
  },
};
const WRONG: Readonly<Record<string, string>> = {
  basic: 'Invalid username/password.',
  token: 'Invalid token.',
  'api-key': 'Invalid API key.',
};

export function eventErrorReply(failure: AppError, context: Context): Reply {
  const { status, headers } = failure;
  if (status === 401) {
    const challenge = { 'WWW-Authenticate': challengeFor(context) };
    return jsonReply(
      { detail: credentialText(failure) },
      { status, headers: { ...headers, ...challenge } },
    );
  }
  const detail =
    failure.code === 'method-not-allowed'
      ? `Method "${context.method}" not allowed.`
      : (failure.issues?.[0]?.msg ?? failure.message);
  if (status === 500)
    return jsonReply({ detail, request_id: context.requestId }, { status, headers });
  return jsonReply({ detail }, { status, headers });
}

/** Requests of a page's script never open the browser's password box. */
function challengeFor(context: Context): string {
  const mode = context.request.headers.get('sec-fetch-mode');
  return mode === null || mode === 'navigate' ? BASIC_CHALLENGE : TOKEN_CHALLENGE;
}

function credentialText(failure: AppError): string {
  const refusal = refusalOf(failure);
  const credential = refusal?.credential ?? null;
  if (refusal === null || credential === null)
    return 'Authentication credentials were not provided.';
  return FORM_FAULTS[credential]?.[refusal.reason] ?? WRONG[credential] ?? 'Invalid token.';
}

/**
 * Failures of the event routes in the words of their contract.
 */
import { BASIC_CHALLENGE, refusalOf, TOKEN_CHALLENGE } from '../../accounts/identity/refusal.ts';
import type { AppError } from '../../base/errors.ts';
import type { Context } from '../context.ts';
import type { Reply } from './reply.ts';
import { jsonReply } from './reply.ts';

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

/** The answer to a failure of an event route. */
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

/** A page's own requests never open the browser's password box. */
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

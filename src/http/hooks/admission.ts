/** Checks credentials, identity, CSRF, rights and read-only mode, in that order. */
import { type Authentication, authenticate } from '../../accounts/identity/authenticate.ts';
import { notAuthenticated } from '../../accounts/identity/refusal.ts';
import {
  csrfToken,
  checkCsrf,
  checkOrigin,
  type RequestOrigin,
} from '../../accounts/identity/csrf-check.ts';
import { ingestCredentials } from '../../accounts/identity/ingest-credentials.ts';
import type { RequestCredentials } from '../../accounts/identity/method.ts';
import type { Caller, Principal } from '../../accounts/rights/principal.ts';
import { getUser } from '../../accounts/identity/users.ts';
import { requiresFactor } from '../../accounts/factors/required.ts';
import { setCurrentPerson } from '../../base/scheduling/current-person.ts';
import { AppError } from '../../base/errors.ts';
import type { MaybePromise } from '../../base/scheduling/maybe-promise.ts';
import type { Context } from '../context.ts';
import { isSafeMethod, readOnlyMode } from '../route.ts';
import { peekFormField } from '../body/form-body.ts';
import { comesFromTrustedPage, isAllowedOrigin } from './cors.ts';
import { hostnameOf } from './host-check.ts';
import { admitLink, isLinkAlive } from './link.ts';

export async function admit(context: Context): Promise<void> {
  const { rules, services } = context;
  if (rules.refusesForeignOrigin === true) requireAllowedOrigin(context);
  if (rules.ignoresCredentials === true) return;
  context.isAdmitted = true;
  if (context.linkSecret !== null) return admitLink(context, context.linkSecret);
  const credentials = credentialsOf(context);
  if (credentials !== null) {
    const found = authenticate(services, credentials);
    identify(context, found instanceof Promise ? await found : found);
    const isUnproven = lacksFactor(context);
    if (isUnproven instanceof Promise ? await isUnproven : isUnproven) refuseUnproven(context);
  }
  if (rules.access !== 'public' && context.caller === null) throw notAuthenticated();
  if (isSafeMethod(context.method) || comesFromTrustedPage(context)) {
    // Nothing to prove.
  } else if (context.session === null) checkOwnOrigin(context);
  else {
    await requireCsrf(context, context.session.token);
  }
  checkRights(context);
}

/**
 * Whether the credentials still prove the same user with at least the same rights; for long answers. A lockout by failed
 * logins ends them too, or an old password could be kept in use by causing one.
 */
export async function isStillAdmitted(context: Context): Promise<boolean> {
  if (!context.isAdmitted) return true;
  if (context.linkSecret !== null) return isLinkAlive(context, context.linkSecret);
  const credentials = credentialsOf(context);
  if (credentials === null) return context.caller === null;
  try {
    const { principal } = await authenticate(context.services, credentials);
    return principal === null ? context.caller === null : isAsBefore(principal, context.caller);
  } catch (error) {
    if (error instanceof AppError && (error.status === 401 || error.status === 429)) return false;
    throw error;
  }
}

/** As `isStillAdmitted`, for bodies: a bearer token may expire during an upload, its user may not. */
export async function mayStillSend(context: Context): Promise<boolean> {
  const { caller, services } = context;
  if (caller?.credential !== 'bearer') return isStillAdmitted(context);
  const user = await getUser(services.db, caller.userId);
  return user !== null && user.isActive && (user.isSuperuser || !caller.isSuperuser);
}

function isAsBefore(now: Principal, before: Caller): boolean {
  return (
    now.userId === before?.userId &&
    now.isCreateOnly === before.isCreateOnly &&
    (now.isSuperuser || !before.isSuperuser) &&
    (now.isNarrowedSuperuser === true || before.isNarrowedSuperuser !== true)
  );
}

function credentialsOf(context: Context): RequestCredentials | null {
  const { rules: route } = context;
  const { headers } = context.request;
  const sessionToken = route.ignoresCookies === true ? null : context.cookie('svc_session');
  const apiKeyHeader = headers.get('x-api-key');
  const authorization = headers.get('authorization');
  if (route.takesIngestCredentials === true) {
    const { address: clientAddress } = context.peer;
    const queryToken = route.queryToken?.(context) ?? null;
    return ingestCredentials({ apiKeyHeader, authorization, clientAddress }, queryToken);
  }
  if (sessionToken === null && apiKeyHeader === null && authorization === null) return null;
  return { sessionToken, apiKeyHeader, authorization, clientAddress: context.peer.address };
}

function identify(context: Context, found: Authentication): void {
  const { services } = context;
  context.caller = found.principal;
  if (found.principal !== null) setCurrentPerson(`user:${found.principal.userId}`);
  context.session = found.session;
  if (found.expiredSessionCookie) {
    context.setCookie('svc_session', null);
  }
  if (found.session === null) return;
  const { token } = found.session;
  if (found.renewedSession) {
    context.setCookie('svc_session', token);
  }
  const csrf = csrfToken(services.serverSecret, token);
  const sent = context.cookie('svc_csrf');
  if (found.renewedSession || sent !== csrf) {
    context.setCookie('svc_csrf', csrf);
  }
}

/** Whether the account has to have a second factor, and signed in without one. */
function lacksFactor({ caller, session, services }: Context): MaybePromise<boolean> {
  if (caller?.credential !== 'session' || session?.strength !== 'password') return false;
  const user = { id: caller.userId, isSuperuser: caller.isSuperuser };
  return requiresFactor(services.db, user, services.config.second_factor);
}

/** Throws `second-factor-missing`; where anonymous callers are answered, the caller is one. */
function refuseUnproven(context: Context): void {
  const { access, admitsUnproven } = context.rules;
  if (admitsUnproven === true) return;
  if (access === 'public' && !context.wantsHtml) {
    context.caller = null;
    return;
  }
  throw new AppError(
    'second-factor-missing',
    'This account needs a second factor: add one in your profile',
  );
}

/** Browsers send a remembered Basic header by themselves, like a cookie. */
function checkOwnOrigin(context: Context): void {
  const { caller, rules } = context;
  const isTempting = rules.requiresOwnOrigin === true || caller?.credential === 'basic';
  if (isTempting) checkOrigin(originOf(context));
}

function checkRights(context: Context): void {
  const { caller, rules: route, services } = context;
  if (caller?.isCreateOnly === true && !takesEvents(context)) {
    if (route.access !== 'public' || !isSafeMethod(context.method)) {
      throw new AppError('permission-denied', 'You do not have permission to perform this action.');
    }
    // A key that may only create sees no more than an anonymous caller.
    context.caller = null;
    return;
  }
  if (route.refusesScopedKeys === true && caller !== null && caller.scopes !== null) {
    throw new AppError('permission-denied', 'API key scope does not permit this');
  }
  if (route.access === 'superuser' && caller?.isSuperuser !== true) {
    throw new AppError('permission-denied', 'Superuser privileges required');
  }
  if (!services.config.readonly || isSafeMethod(context.method)) return;
  if (route.isExemptFromReadOnly !== true && route.decidesReadOnly !== true) throw readOnlyMode();
}

function takesEvents({ method, rules }: Context): boolean {
  return rules.takesEventsBy?.some((one) => one === (method === 'HEAD' ? 'GET' : method)) ?? false;
}

/** Throws `csrf-failed`. */
function requireCsrf(context: Context, sessionToken: string): Promise<void> {
  const { headers } = context.request;
  return checkCsrf(context.services.serverSecret, {
    ...originOf(context),
    method: context.method,
    sessionToken,
    cookie: context.cookie('svc_csrf'),
    headerToken: headers.get('x-csrf-token'),
    formToken: () => peekFormField(context.body, headers.get('content-type'), 'csrf_token'),
  });
}

/** Throws `permission-denied` for an `Origin` that is neither own nor allowed; none passes. */
function requireAllowedOrigin(context: Context): void {
  const { origin, isOwnOrigin } = originOf(context);
  if (origin === null || isOwnOrigin(origin)) return;
  if (isAllowedOrigin(context.server.cors, origin)) return;
  throw new AppError('permission-denied', 'Origin not allowed');
}

function originOf(context: Context): RequestOrigin {
  const { headers } = context.request;
  return {
    secFetchSite: headers.get('sec-fetch-site'),
    origin: headers.get('origin'),
    isOwnOrigin: (origin) => {
      if (context.ownOrigins.includes(origin.toLowerCase())) return true;
      const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
      const hostname = host === undefined ? null : hostnameOf(host);
      return hostname !== null && context.server.hosts.isListed(hostname);
    },
  };
}

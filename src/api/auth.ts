import {
  changePassword,
  describeCaller,
  listSessions,
  login,
  logout,
  parseLogin,
  requireLocalLogin,
  revokeSession,
} from '../operations/accounts.ts';
import { oidcSignOutAddress } from '../operations/oidc-sign-in.ts';
import { AppError } from '../base/errors.ts';
import {
  callerModel,
  loginModel,
  messageModel,
  passwordChangeModel,
  sessionsModel,
} from './account-models.ts';
import type { Context } from '../http/context.ts';
import { isForm } from '../http/body/form-body.ts';
import { loginForm } from '../pages/login-form.ts';
import type { Reply } from '../http/reply/reply.ts';
import { emptyReply, jsonReply, redirectReply } from '../http/reply/reply.ts';
import type { Route } from '../http/route-table.ts';
import { safeNext } from '../http/hooks/safe-next.ts';
import { browserOf, endSession, signedIn } from '../http/hooks/sign-in.ts';

export const authRoutes: readonly Route[] = [
  {
    pattern: '/auth/login',
    access: 'public',
    neverRedirects: true,
    requiresOwnOrigin: true,
    isExemptFromReadOnly: true,
    describes: {
      GET: {
        summary: 'Show the sign-in page',
        tag: 'auth',
        answers: {
          200: { description: 'A page for people', mediaType: 'text/html', schema: null },
        },
      },
      POST: {
        summary: 'Sign in with a password',
        tag: 'auth',
        body: [
          { schema: loginModel },
          { mediaType: 'application/x-www-form-urlencoded', schema: loginModel },
        ],
        answers: {
          200: { description: 'Signed in; the session is in a cookie', schema: messageModel },
          303: { description: 'Signed in, after a form', schema: null },
        },
        errors: [401, 403, 429, 503],
      },
    },
    methods: {
      GET: async (context) => {
        const isFirstRun = await context.services.firstRun.isOpen();
        return loginForm(context, { next: safeNext(context.queryValue('next')), isFirstRun });
      },
      POST: postLogin,
    },
  },
  {
    pattern: '/auth/logout',
    access: 'public',
    requiresOwnOrigin: true,
    isExemptFromReadOnly: true,
    describes: {
      POST: {
        summary: 'Sign out',
        tag: 'auth',
        answers: { 302: { description: 'Signed out', schema: null } },
        errors: [403],
      },
    },
    isListedFor: ({ caller }) => caller !== null,
    methods: {
      POST: async (context) => {
        const { services, origin, session } = context;
        const { idToken } = await logout(services, origin, session?.token ?? null);
        endSession(context);
        return redirectReply((await oidcSignOutAddress(services, idToken)) ?? '/auth/login');
      },
    },
  },
  {
    pattern: '/auth/me',
    access: 'user',
    hasJsonErrors: true,
    describes: {
      GET: {
        summary: 'Say who is asking',
        tag: 'auth',
        answers: { 200: { description: 'The caller', schema: callerModel } },
      },
    },
    methods: { GET: ({ user }) => jsonReply(describeCaller(user)) },
  },
  {
    pattern: '/auth/sessions',
    access: 'user',
    hasJsonErrors: true,
    refusesScopedKeys: true,
    describes: {
      GET: {
        summary: 'List your sessions',
        tag: 'auth',
        answers: { 200: { description: 'Live ones, oldest first', schema: sessionsModel } },
        errors: [403],
      },
    },
    methods: {
      GET: async ({ services, user }) => jsonReply(await listSessions(services, user)),
    },
  },
  {
    pattern: '/auth/sessions/{id}',
    access: 'user',
    hasJsonErrors: true,
    refusesScopedKeys: true,
    describes: {
      DELETE: {
        summary: 'End one of your sessions',
        tag: 'auth',
        answers: { 204: { description: 'It is over', schema: null } },
        errors: [404],
      },
    },
    methods: {
      DELETE: async (context) => {
        const id = context.intParameter('id');
        await revokeSession(context.services, context.user, context.origin, id);
        if (id === context.session?.id) endSession(context);
        return emptyReply();
      },
    },
  },
  {
    pattern: '/auth/password',
    access: 'user',
    hasJsonErrors: true,
    refusesScopedKeys: true,
    describes: {
      PUT: {
        summary: 'Change your password and end your sessions',
        tag: 'auth',
        body: { schema: passwordChangeModel },
        answers: { 200: { description: 'Changed', schema: messageModel } },
        errors: [400, 429, 503],
      },
    },
    methods: {
      PUT: async (context) => {
        const body = await context.json();
        await changePassword(context.services, context.user, context.origin, body);
        endSession(context);
        return jsonReply({ message: 'Password changed. Sign in again.' });
      },
    },
  },
];

async function postLogin(context: Context): Promise<Reply> {
  requireLocalLogin(context.services);
  const isFormBody = isForm(context.body);
  const body = await context.formOrJson();
  const next = safeNext(textMember(body, 'next') ?? context.queryValue('next'));
  try {
    const started = await login(context.services, browserOf(context), parseLogin(body));
    return signedIn(context, started, isFormBody ? next : null);
  } catch (error) {
    const isShown = error instanceof AppError && SHOWN_IN_FORM.has(error.status);
    if (!isShown || !context.wantsHtml) throw error;
    const username = textMember(body, 'username') ?? '';
    return loginForm(context, { next, username, error });
  }
}

/** Failures that the person can correct in the form itself. */
const SHOWN_IN_FORM: ReadonlySet<number> = new Set([401, 422, 429, 503]);

function textMember(body: unknown, name: string): string | null {
  if (body === null || typeof body !== 'object' || !Object.hasOwn(body, name)) return null;
  const value = (body as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : null;
}

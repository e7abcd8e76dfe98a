import { Elysia } from 'elysia';
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
import type { Viewer } from '../http/operation-description.ts';
import { door } from '../http/door.ts';
import type { RouteRules } from '../http/route.ts';
import { safeNext } from '../http/hooks/safe-next.ts';
import { browserOf, endSession, signedIn } from '../http/hooks/sign-in.ts';

const checks = {
  access: 'public',
  neverRedirects: true,
  requiresOwnOrigin: true,
  isExemptFromReadOnly: true,
} as const satisfies RouteRules;

const checks2 = {
  access: 'user',
  hasJsonErrors: true,
  refusesScopedKeys: true,
} as const satisfies RouteRules;

export const authRoutes = new Elysia({ name: 'auth', prefix: '/auth' })
  .use(door)
  .get(
    '/login',
    async ({ ask }) => {
      const isFirstRun = await ask.services.firstRun.isOpen();
      return loginForm(ask, { next: safeNext(ask.queryValue('next')), isFirstRun });
    },
    {
      checks,
      describes: {
        summary: 'Show the sign-in page',
        tag: 'auth',
        answers: {
          200: { description: 'A page for people', mediaType: 'text/html', schema: null },
        },
      },
    },
  )
  .post('/login', ({ ask }) => postLogin(ask), {
    checks,
    describes: {
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
  })
  .post(
    '/logout',
    async ({ ask }) => {
      const { services, origin, session } = ask;
      const { idToken } = await logout(services, origin, session?.token ?? null);
      endSession(ask);
      return redirectReply((await oidcSignOutAddress(services, idToken)) ?? '/auth/login');
    },
    {
      checks: {
        access: 'public',
        requiresOwnOrigin: true,
        isExemptFromReadOnly: true,
        isListedFor: ({ caller }: Viewer) => caller !== null,
      },
      describes: {
        summary: 'Sign out',
        tag: 'auth',
        answers: { 302: { description: 'Signed out', schema: null } },
        errors: [403],
      },
    },
  )
  .get('/me', ({ ask: { user } }) => jsonReply(describeCaller(user)), {
    checks: { access: 'user', hasJsonErrors: true },
    describes: {
      summary: 'Say who is asking',
      tag: 'auth',
      answers: { 200: { description: 'The caller', schema: callerModel } },
    },
  })
  .get(
    '/sessions',
    async ({ ask: { services, user } }) => jsonReply(await listSessions(services, user)),
    {
      checks: checks2,
      describes: {
        summary: 'List your sessions',
        tag: 'auth',
        answers: { 200: { description: 'Live ones, oldest first', schema: sessionsModel } },
        errors: [403],
      },
    },
  )
  .delete(
    '/sessions/:id',
    async ({ ask }) => {
      const id = ask.intParameter('id');
      await revokeSession(ask.services, ask.user, ask.origin, id);
      if (id === ask.session?.id) endSession(ask);
      return emptyReply();
    },
    {
      checks: checks2,
      describes: {
        summary: 'End one of your sessions',
        tag: 'auth',
        answers: { 204: { description: 'It is over', schema: null } },
        errors: [404],
      },
    },
  )
  .put(
    '/password',
    async ({ ask }) => {
      const body = await ask.json();
      await changePassword(ask.services, ask.user, ask.origin, body);
      endSession(ask);
      return jsonReply({ message: 'Password changed. Sign in again.' });
    },
    {
      checks: checks2,
      describes: {
        summary: 'Change your password and end your sessions',
        tag: 'auth',
        body: { schema: passwordChangeModel },
        answers: { 200: { description: 'Changed', schema: messageModel } },
        errors: [400, 429, 503],
      },
    },
  );

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

import { Elysia } from 'elysia';
import {
  changePassword,
  describeCaller,
  listSessions,
  logout,
  revokeSession,
} from '../../operations/accounts/sessions.ts';
import { oidcSignOutAddress } from '../../operations/accounts/oidc-sign-in.ts';
import { callerModel, messageModel, passwordChangeModel, sessionsModel } from './account-models.ts';
import { emptyReply, jsonReply, redirectReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { endSession } from '../../http/hooks/session.ts';
import type { RouteRules } from '../../http/context.ts';
import type { Viewer } from '../../http/operation-description.ts';

const checks = {
  access: 'user',
  hasJsonErrors: true,
  refusesScopedKeys: true,
  admitsUnproven: true,
} as const satisfies RouteRules;

export const authRoutes = new Elysia({ name: 'auth', prefix: '/auth' })
  .use(lifecycle)
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
        admitsUnproven: true,
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
    checks: { access: 'user', hasJsonErrors: true, admitsUnproven: true },
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
      checks: checks,
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
      checks: checks,
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
      checks: checks,
      describes: {
        summary: 'Change your password and end your sessions',
        tag: 'auth',
        body: { schema: passwordChangeModel },
        answers: { 200: { description: 'Changed', schema: messageModel } },
        errors: [400, 429, 503],
      },
    },
  );

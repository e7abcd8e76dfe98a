import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { tokenList } from '../../accounts/identity/tokens.ts';
import {
  issueToken,
  listTokens,
  revokeOwnToken,
  revokeTokenOf,
} from '../../operations/accounts/tokens.ts';
import { AppError } from '../../base/errors.ts';
import { notAuthenticated } from '../../accounts/identity/refusal.ts';
import { eventErrorReply } from '../../http/reply/errors.ts';
import { eventJsonBody } from '../events/body.ts';
import { eventFailureBodies } from '../events/models.ts';
import { emptyReply, jsonReply } from '../../http/reply/reply.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { describeChange, describeList } from '../admin/descriptions.ts';
import { adminChecks, answersDone, answersList } from '../admin/handlers.ts';
import { requireChangeable, requireFormat } from '../events/events.ts';
import type { RouteRules } from '../../http/context.ts';

const tokenView = Type.Object(
  {
    user_id: Type.Integer(),
    username: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  },
  { $id: 'TokenView' },
);

const checks = {
  endsInSlash: true,
  access: 'public',
  hasJsonErrors: true,
  neverRedirects: true,
  answersFailure: eventErrorReply,
  describesFailure: eventFailureBodies,
  isExemptFromReadOnly: true,
} as const satisfies RouteRules;

export const tokenRoutes = new Elysia({ name: 'tokens' })
  .use(lifecycle)
  .post(
    '/api-token-auth',
    async ({ ask }) => {
      const { services, origin } = ask;
      requireFormat(ask);
      const result = await issueToken(services, origin, await eventJsonBody(ask));
      return 'errors' in result ? jsonReply(result.errors, { status: 400 }) : jsonReply(result);
    },
    {
      checks,
      describes: {
        summary: 'Get the token of a user',
        tag: 'auth',
        body: {
          schema: Type.Object(
            { username: Type.String(), password: Type.String({ format: 'password' }) },
            { $id: 'TokenRequest' },
          ),
        },
        answers: {
          200: {
            description: 'The same at every request',
            schema: Type.Object({ token: Type.String() }, { $id: 'Token' }),
          },
        },
        errors: [400, 401, 415, 429],
      },
    },
  )
  // A scoped key must not end a credential wider than itself.
  .delete(
    '/api-token-auth',
    async ({ ask }) => {
      const { services, caller, origin } = ask;
      if (caller === null) throw notAuthenticated();
      // A scoped key must not end a credential wider than itself.
      if (caller.scopes !== null) {
        throw new AppError('permission-denied', 'API key scope does not permit this');
      }
      requireChangeable(ask);
      requireFormat(ask);
      await revokeOwnToken(services, caller, origin);
      return emptyReply();
    },
    {
      checks,
      describes: {
        summary: 'Revoke your token',
        tag: 'auth',
        answers: { 204: { description: 'It no longer works', schema: null } },
        errors: [401],
      },
    },
  )
  .get('/admin/tokens', answersList(listTokens), {
    checks: adminChecks,
    describes: describeList('List the tokens of event clients', tokenView, tokenList),
  })
  .delete('/admin/tokens/:user_id', answersDone(revokeTokenOf, 'user_id'), {
    checks: adminChecks,
    describes: describeChange('Revoke the token of a user', [404, 422]),
  });

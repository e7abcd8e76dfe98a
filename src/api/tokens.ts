import { Type } from '@sinclair/typebox';
import { tokenList } from '../accounts/identity/tokens.ts';
import { issueToken, listTokens, revokeOwnToken, revokeTokenOf } from '../operations/tokens.ts';
import { AppError } from '../base/errors.ts';
import { notAuthenticated } from '../accounts/identity/refusal.ts';
import { eventErrorReply } from '../http/reply/event-errors.ts';
import { eventJsonBody } from './event-json.ts';
import { eventFailureBodies } from './event-models.ts';
import { emptyReply, jsonReply } from '../http/reply/reply.ts';
import type { Route } from '../http/route-table.ts';
import { describeChange, describeList } from './admin/descriptions.ts';
import { adminDoor } from './admin/door.ts';
import { answersDone, answersList } from './admin/handlers.ts';
import { requireChangeable, requireFormat } from './events.ts';

const tokenView = Type.Object(
  {
    user_id: Type.Integer(),
    username: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  },
  { $id: 'TokenView' },
);

export const tokenRoutes: readonly Route[] = [
  {
    pattern: '/api-token-auth',
    endsInSlash: true,
    access: 'public',
    hasJsonErrors: true,
    neverRedirects: true,
    answersFailure: eventErrorReply,
    describesFailure: eventFailureBodies,
    isExemptFromReadOnly: true,
    describes: {
      POST: {
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
      DELETE: {
        summary: 'Revoke your token',
        tag: 'auth',
        answers: { 204: { description: 'It no longer works', schema: null } },
        errors: [401],
      },
    },
    methods: {
      POST: async (context) => {
        const { services, origin } = context;
        requireFormat(context);
        const result = await issueToken(services, origin, await eventJsonBody(context));
        return 'errors' in result ? jsonReply(result.errors, { status: 400 }) : jsonReply(result);
      },
      DELETE: async (context) => {
        const { services, caller, origin } = context;
        if (caller === null) throw notAuthenticated();
        // A scoped key must not end a credential wider than itself.
        if (caller.scopes !== null) {
          throw new AppError('permission-denied', 'API key scope does not permit this');
        }
        requireChangeable(context);
        requireFormat(context);
        await revokeOwnToken(services, caller, origin);
        return emptyReply();
      },
    },
  },
  {
    pattern: '/admin/tokens',
    ...adminDoor,
    describes: { GET: describeList('List the tokens of event clients', tokenView, tokenList) },
    methods: {
      GET: answersList(listTokens),
    },
  },
  {
    pattern: '/admin/tokens/{user_id}',
    ...adminDoor,
    describes: { DELETE: describeChange('Revoke the token of a user', [404, 422]) },
    methods: { DELETE: answersDone(revokeTokenOf, 'user_id') },
  },
];

import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { apiKeyList } from '../../accounts/identity/api-keys.ts';
import { sessionList } from '../../accounts/identity/sessions.ts';
import {
  createApiKeyFor,
  listAllApiKeys,
  revokeAnyApiKey,
} from '../../operations/accounts/api-keys.ts';
import { listAllLinks, revokeAnyLink } from '../../operations/accounts/links.ts';
import { linkList } from '../../accounts/rights/links.ts';
import { linkModel } from '../accounts/links.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import {
  apiKeyModel,
  apiKeyCreateModel,
  sessionModel,
  userApiKeyCreatedModel,
} from '../administration-models.ts';
import {
  describeList,
  describeChange,
  queryParameter,
  userIdParameter,
  booleanParameter,
} from './descriptions.ts';
import { adminChecks, answersList, answersNew, answersDone } from './handlers.ts';
import { endSession, listAllSessions } from '../../operations/accounts/sessions.ts';

const byUser = queryParameter('user_id', 'Only those of this user', Type.Integer({ minimum: 1 }));

export const credentialRoutes = new Elysia({ name: 'credentials', prefix: '/admin' })
  .use(lifecycle)
  .guard({ checks: adminChecks })
  .get(
    '/api-keys',
    answersList(listAllApiKeys, (context) => ({
      user_id: userIdParameter(context),
      is_active: booleanParameter(context, 'is_active'),
    })),
    {
      describes: describeList('List the API keys of all users', apiKeyModel, apiKeyList, [
        byUser,
        queryParameter('is_active', 'Only revoked or only other ones', Type.Boolean()),
      ]),
    },
  )
  .post('/api-keys', answersNew(createApiKeyFor), {
    describes: describeChange('Create an API key for a user', [400, 404, 422], {
      body: apiKeyCreateModel,
      answer: userApiKeyCreatedModel,
    }),
  })
  .delete('/api-keys/:key_id', answersDone(revokeAnyApiKey, 'key_id'), {
    describes: describeChange('Revoke an API key', [404, 422]),
  })
  .get(
    '/sessions',
    answersList(listAllSessions, (context) => ({ user_id: userIdParameter(context) })),
    {
      describes: describeList(
        'List the browser sessions of all users',
        sessionModel,
        sessionList(0),
        [byUser],
      ),
    },
  )
  .get('/links', answersList(listAllLinks), {
    describes: describeList('List the links of all users', linkModel, linkList, []),
  })
  .delete('/links/:link_id', answersDone(revokeAnyLink, 'link_id'), {
    describes: describeChange('Withdraw a link', [404, 422]),
  })
  .delete('/sessions/:session_id', answersDone(endSession, 'session_id'), {
    describes: describeChange('End a browser session', [404, 422]),
  });

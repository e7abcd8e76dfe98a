import { Type } from '@sinclair/typebox';
import { apiKeyList } from '../../accounts/identity/api-keys.ts';
import { sessionList } from '../../accounts/identity/sessions.ts';
import { createApiKeyFor, listAllApiKeys, revokeAnyApiKey } from '../../operations/api-keys.ts';
import { endSession, listAllSessions } from '../../operations/sessions.ts';
import type { Route } from '../../http/route-table.ts';
import {
  apiKeyModel,
  apiKeyCreateModel,
  sessionModel,
  userApiKeyCreatedModel,
} from '../administration-models.ts';
import { describeList, describeChange } from './descriptions.ts';
import { adminDoor } from './door.ts';
import { answersList, answersNew, answersDone } from './handlers.ts';
import { queryParameter, userIdParameter, booleanParameter } from './parameters.ts';

const byUser = queryParameter('user_id', 'Only those of this user', Type.Integer({ minimum: 1 }));

export const credentialRoutes: readonly Route[] = [
  {
    pattern: '/admin/api-keys',
    ...adminDoor,
    describes: {
      GET: describeList('List the API keys of all users', apiKeyModel, apiKeyList, [
        byUser,
        queryParameter('is_active', 'Only revoked or only other ones', Type.Boolean()),
      ]),
      POST: describeChange('Create an API key for a user', [400, 404, 422], {
        body: apiKeyCreateModel,
        answer: userApiKeyCreatedModel,
      }),
    },
    methods: {
      GET: answersList(listAllApiKeys, (context) => ({
        user_id: userIdParameter(context),
        is_active: booleanParameter(context, 'is_active'),
      })),
      POST: answersNew(createApiKeyFor),
    },
  },
  {
    pattern: '/admin/api-keys/{key_id}',
    ...adminDoor,
    describes: { DELETE: describeChange('Revoke an API key', [404, 422]) },
    methods: {
      DELETE: answersDone(revokeAnyApiKey, 'key_id'),
    },
  },
  {
    pattern: '/admin/sessions',
    ...adminDoor,
    describes: {
      GET: describeList('List the browser sessions of all users', sessionModel, sessionList(0), [
        byUser,
      ]),
    },
    methods: {
      GET: answersList(listAllSessions, (context) => ({ user_id: userIdParameter(context) })),
    },
  },
  {
    pattern: '/admin/sessions/{session_id}',
    ...adminDoor,
    describes: { DELETE: describeChange('End a browser session', [404, 422]) },
    methods: {
      DELETE: answersDone(endSession, 'session_id'),
    },
  },
];

import { Elysia } from 'elysia';
import { AppError } from '../../base/errors.ts';
import {
  changePassword,
  hasLocalPassword,
  listSessions,
  revokeSession,
} from '../../operations/accounts.ts';
import {
  createApiKey,
  listApiKeys,
  type NewApiKeyView,
  revokeApiKey,
} from '../../operations/api-keys.ts';
import { hasOwnToken, revokeOwnToken } from '../../operations/tokens.ts';
import type { Context } from '../../http/context.ts';
import { idOf, keyRequest, problemText } from '../form-request.ts';
import { pageReply } from '../page-reply.ts';
import { profilePage } from '../views/profile.tsx';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { door } from '../../http/door.ts';
import type { RouteRules } from '../../http/route.ts';
import { endSession } from '../../http/hooks/session-cookie.ts';

const NOTICES: Readonly<Record<string, string>> = {
  'end-session': 'The session is over.',
  'revoke-key': 'The key no longer works.',
  'revoke-token': 'The token no longer works.',
};

const checks = { access: 'user', refusesScopedKeys: true } as const satisfies RouteRules;

export const profileRoute = new Elysia({ name: 'profile' })
  .use(door)
  .get('/profile', ({ ask }) => profile(ask, { notice: NOTICES[ask.queryValue('done') ?? ''] }), {
    checks,
    describes: {
      summary: 'Show your profile',
      tag: 'auth',
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
      errors: [403],
    },
  })
  .post('/profile', ({ ask }) => postProfile(ask), {
    checks,
    describes: {
      summary: 'Take a form of your profile',
      tag: 'auth',
      body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
      answers: {
        200: { description: 'The new API key, once', mediaType: 'text/html', schema: null },
        303: { description: 'Done; back to the page', schema: null },
      },
      errors: [400, 404],
    },
  });

interface Shown {
  readonly notice?: string | undefined;
  readonly newKey?: NewApiKeyView;
  readonly error?: AppError;
}

async function profile(context: Context, { notice, newKey, error }: Shown): Promise<Reply> {
  const { services, user } = context;
  const view = {
    username: user.username,
    isSuperuser: user.isSuperuser,
    isReadOnly: services.config.readonly,
    hasPassword: await hasLocalPassword(services, user),
    sessions: await listSessions(services, user),
    keys: await listApiKeys(services, user),
    hasToken: await hasOwnToken(services, user),
    newKey: newKey ?? null,
    notice: notice ?? null,
    problem: error === undefined ? null : problemText(error),
  };
  return pageReply(context, profilePage, view, { status: error?.status, headers: error?.headers });
}

async function postProfile(context: Context): Promise<Reply> {
  const fields = (await context.form()) ?? new Map<string, string>();
  try {
    return await act(context, fields);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    return profile(context, { error });
  }
}

async function act(context: Context, fields: ReadonlyMap<string, string>): Promise<Reply> {
  const { services, user, origin } = context;
  const field = (name: string): string => fields.get(name) ?? '';
  const action = field('action');
  switch (action) {
    case 'change-password':
      await changePassword(services, user, origin, Object.fromEntries(fields));
      endSession(context);
      return redirectReply('/auth/login', 303);
    case 'end-session':
      await revokeSession(services, user, origin, idOf(field('id')));
      break;
    case 'revoke-key':
      await revokeApiKey(services, user, origin, idOf(field('id')));
      break;
    case 'revoke-token':
      await revokeOwnToken(services, user, origin);
      break;
    case 'create-key': {
      const newKey = await createApiKey(services, user, origin, keyRequest(field));
      return profile(context, { newKey, notice: 'The key is made.' });
    }
    default:
      throw new AppError('bad-request', 'The form names no action');
  }
  return redirectReply(`/profile?done=${action}`, 303);
}

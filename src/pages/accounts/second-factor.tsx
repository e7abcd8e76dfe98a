/** @jsxImportSource @kitajs/html */
/** The step of a sign-in after the password, for accounts with a second factor. */
import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { messageModel } from '../../api/accounts/account-models.ts';
import { finishSecond, siteIn } from '../../api/accounts/second-factors.ts';
import { AppError } from '../../base/errors.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { safeNext } from '../../http/hooks/session.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { pageReply } from '../page-reply.ts';
import { PostForm } from '../parts/forms.tsx';
import { Problem } from '../parts/messages.tsx';
import type { Page } from '../frame.tsx';
import { PasskeyButton } from './passkey-button.tsx';

export const secondFactorRoute = new Elysia({ name: 'second-factor', prefix: '/auth' })
  .use(lifecycle)
  .guard({
    checks: {
      access: 'public',
      neverRedirects: true,
      requiresOwnOrigin: true,
      isExemptFromReadOnly: true,
      admitsUnproven: true,
    },
  })
  .get('/second', ({ ask }) => secondPage(ask), {
    describes: {
      summary: 'Show the page that asks for the second factor',
      tag: 'auth',
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
    },
  })
  .post('/second', ({ ask }) => postSecond(ask), {
    describes: {
      summary: 'Finish signing in with a second factor',
      description: 'With the cookie that the form of the password left.',
      tag: 'auth',
      body: {
        schema: Type.Object({
          code: Type.Optional(Type.String()),
          credential: Type.Optional(Type.Object({}, { additionalProperties: true })),
        }),
        required: true,
      },
      answers: {
        200: { description: 'Signed in; the session is in a cookie', schema: messageModel },
        303: { description: 'Signed in, after a form', schema: null },
      },
      errors: [401, 422, 429],
    },
  });

async function postSecond(context: Context): Promise<Reply> {
  try {
    return await finishSecond(context);
  } catch (error) {
    const isShown = error instanceof AppError && [401, 422, 429].includes(error.status);
    if (!isShown || !context.wantsHtml) throw error;
    return secondPage(context, error);
  }
}

function secondPage(context: Context, error?: AppError): Reply {
  const next = safeNext(context.queryValue('next'));
  if (context.cookie('svc_second') === null) {
    return redirectReply(`/auth/login?next=${encodeURIComponent(next)}`);
  }
  const problem = error === undefined ? null : error.message;
  const view = { next, problem, hasPasskeys: siteIn(context) !== null };
  return pageReply(context, secondFactorPage, view, {
    status: error?.status,
    headers: error?.headers,
  });
}

interface SecondFactorView {
  /** Already checked to be on this server. */
  readonly next: string;
  readonly problem: string | null;
  /** The server is asked by a host name. */
  readonly hasPasskeys: boolean;
}

export const secondFactorPage: Page<SecondFactorView> = {
  name: 'second-factor',
  layout: 'card',
  title: () => 'One more step',
  scripts: ['passkey.js'],
  content: ({ next, problem, hasPasskeys }, frame) => (
    <>
      <Problem text={problem} />
      <PostForm
        class="stack"
        frame={frame}
        to={`/auth/second?next=${encodeURIComponent(next)}`}
        fields={[['next', next]]}
      >
        <label>
          Code
          <input name="code" inputmode="text" autocomplete="one-time-code" autofocus required />
          <small>The six digits your authenticator app shows, or a recovery code.</small>
        </label>
        <button type="submit">Sign in</button>
        {hasPasskeys && <PasskeyButton address="/auth/second" next={next} label="Use a passkey" />}
      </PostForm>
      <p class="fine">
        Lost all of them? An administrator can remove your second factors.{' '}
        <a href="/auth/login">Sign in as somebody else</a>
      </p>
    </>
  ),
};

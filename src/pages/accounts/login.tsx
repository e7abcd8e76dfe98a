/** @jsxImportSource @kitajs/html */
import { Elysia } from 'elysia';
import { siteIn } from '../../api/accounts/second-factors.ts';
import { loginModel, messageModel } from '../../api/accounts/account-models.ts';
import { ANY_CHALLENGE } from '../../accounts/identity/refusal.ts';
import { AppError } from '../../base/errors.ts';
import { isForm } from '../../http/body/form-body.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { browserOf, safeNext, signedIn } from '../../http/hooks/session.ts';
import { type Reply, redirectReply } from '../../http/reply/reply.ts';
import { login, parseLogin, requireLocalLogin } from '../../operations/accounts/sessions.ts';
import { pageReply } from '../page-reply.ts';
import { PasskeyButton } from './passkey-button.tsx';
import { PostForm, UserNameBox } from '../parts/forms.tsx';
import { Problem } from '../parts/messages.tsx';
import type { Page } from '../frame.tsx';

export const loginRoute = new Elysia({ name: 'login', prefix: '/auth' })
  .use(lifecycle)
  .guard({
    checks: {
      access: 'public',
      neverRedirects: true,
      admitsUnproven: true,
      requiresOwnOrigin: true,
      isExemptFromReadOnly: true,
    },
  })
  .get(
    '/login',
    async ({ ask }) => {
      const isFirstRun = await ask.services.firstRun.isOpen();
      return loginForm(ask, { next: safeNext(ask.queryValue('next')), isFirstRun });
    },
    {
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
  });

async function postLogin(context: Context): Promise<Reply> {
  requireLocalLogin(context.services);
  const isFormBody = isForm(context.body);
  const body = await context.formOrJson();
  const next = safeNext(textMember(body, 'next') ?? context.queryValue('next'));
  try {
    const started = await login(context.services, browserOf(context), parseLogin(body));
    if ('token' in started) return signedIn(context, started, isFormBody ? next : null);
    if (!isFormBody || !context.wantsHtml) throw codeNeeded();
    context.setCookie('svc_second', started.challenge);
    return redirectReply(`/auth/second?next=${encodeURIComponent(next)}`, 303);
  } catch (error) {
    const isShown = error instanceof AppError && SHOWN_IN_FORM.has(error.status);
    if (!isShown || !context.wantsHtml) throw error;
    const username = textMember(body, 'username') ?? '';
    return loginForm(context, { next, username, error });
  }
}

function codeNeeded(): AppError {
  const headers = { 'WWW-Authenticate': ANY_CHALLENGE };
  const text = 'This account has a second factor: send its code as `code`';
  return new AppError('invalid-credentials', text, { headers });
}

/** Failures that the form itself can correct. */
const SHOWN_IN_FORM: ReadonlySet<number> = new Set([401, 422, 429, 503]);

function textMember(body: unknown, name: string): string | null {
  if (body === null || typeof body !== 'object' || !Object.hasOwn(body, name)) return null;
  const value = (body as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : null;
}

interface LastAttempt {
  /** A safe path. */
  readonly next: string;
  readonly username?: string;
  readonly error?: AppError;
  /** Nobody has an account yet. */
  readonly isFirstRun?: boolean;
}

export function loginForm(context: Context, last: LastAttempt): Reply {
  const { next, username = '', error, isFirstRun = false } = last;
  const { localLogin, oidc } = context.services;
  const view = {
    next,
    username,
    problem: error === undefined ? null : problemText(error),
    hasPasswordForm: localLogin.isEnabled,
    hasOidc: oidc !== null,
    hasPasskeys: siteIn(context) !== null,
    isFirstRun,
  };
  return pageReply(context, loginPage, view, { status: error?.status, headers: error?.headers });
}

function problemText(error: AppError): string {
  return error.issues === undefined ? error.message : 'Enter a user name and a password.';
}

interface LoginView {
  /** Already checked to be on this server. */
  readonly next: string;
  /** Null on the first visit. */
  readonly problem: string | null;
  readonly username: string;
  /** False while only the identity provider signs people in. */
  readonly hasPasswordForm: boolean;
  readonly hasOidc: boolean;
  /** The server is asked by a host name. */
  readonly hasPasskeys: boolean;
  /** The server printed a link to make the first account. */
  readonly isFirstRun: boolean;
}

export const loginPage: Page<LoginView> = {
  name: 'login',
  layout: 'card',
  scripts: ['passkey.js'],
  title: () => 'Sign in',
  content: (view, frame) => {
    const { next, problem, username, hasPasswordForm, hasOidc, hasPasskeys, isFirstRun } = view;
    return (
      <>
        {isFirstRun && (
          <p class="notice">
            Nobody has an account yet. The server printed a link for the first one when it started;
            or run <code>svc addsuperuser</code>.
          </p>
        )}
        {frame.username !== null && (
          <p class="notice">
            You are signed in as <strong safe>{frame.username}</strong>
            {next === '/' ? '. ' : ', who may not open that page. '}
            Sign in as somebody else, or <a href="/">go to the start page</a>.
          </p>
        )}
        <Problem text={problem} />
        {hasPasswordForm ? (
          <PostForm class="stack" frame={frame} to="/auth/login" fields={[['next', next]]}>
            <UserNameBox value={username} autofocus={username === ''} />
            <label>
              Password
              <input
                name="password"
                type="password"
                autocomplete="current-password"
                autofocus={username !== ''}
                required
              />
            </label>
            <button type="submit">Sign in</button>
            {hasPasskeys && (
              <PasskeyButton address="/auth/passkey" next={next} label="Sign in with a passkey" />
            )}
          </PostForm>
        ) : (
          <p>Signing in with a password is switched off on this site.</p>
        )}
        {hasOidc && hasPasswordForm && (
          <p class="or fine" aria-hidden="true">
            or
          </p>
        )}
        {hasOidc && (
          <p class="alternative">
            <a
              class={hasPasswordForm ? 'button quiet' : 'button'}
              href={`/auth/oidc/login?next=${encodeURIComponent(next)}`}
            >
              Sign in with your organisation
            </a>
          </p>
        )}
      </>
    );
  },
};

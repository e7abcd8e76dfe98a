/** @jsxImportSource @kitajs/html */
/**
 * A plain form that works without scripts.
 */
import { PostForm } from '../parts/forms.tsx';
import type { Page } from './frame.tsx';
import { Problem } from '../parts/messages.tsx';

interface LoginView {
  /** Where to go afterwards: a path already checked to be on this server. */
  readonly next: string;
  /** Why the last attempt failed; null on the first visit. */
  readonly problem: string | null;
  readonly username: string;
  /** False while only the identity provider signs people in. */
  readonly hasPasswordForm: boolean;
  readonly hasOidc: boolean;
  /** There is no account yet, and the server printed a link to make the first one. */
  readonly isFirstRun: boolean;
}

export const loginPage: Page<LoginView> = {
  name: 'login',
  layout: 'card',
  title: () => 'Sign in',
  content: ({ next, problem, username, hasPasswordForm, hasOidc, isFirstRun }, frame) => (
    <>
      {isFirstRun && (
        <p class="notice">
          Nobody has an account yet. The server printed a link for the first one when it started; or
          run <code>svc addsuperuser</code>.
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
          <label>
            User name
            <input
              name="username"
              value={username}
              autocomplete="username"
              autocapitalize="none"
              spellcheck="false"
              autofocus={username === ''}
              required
            />
          </label>
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
  ),
};

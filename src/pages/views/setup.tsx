/** @jsxImportSource @kitajs/html */
/**
 * Makes the first superuser, on a server that has none yet.
 */
import { MAX_NAME_CHARACTERS } from '../../accounts/identity/names.ts';
import { MAX_PASSWORD_LENGTH } from '../../accounts/identity/passwords.ts';
import type { Page } from './frame.tsx';
import { Problem } from '../parts/messages.tsx';
import { HiddenFields, PASSWORD_RULE, PostForm } from '../parts/forms.tsx';

export interface SetupView {
  /** The token of the address; `''`: the person types it. */
  readonly token: string;
  readonly problem: string | null;
  readonly username: string;
}

export const setupPage: Page<SetupView> = {
  name: 'setup',
  layout: 'card',
  title: () => 'Welcome',
  content: ({ token, problem, username }, frame) => (
    <>
      <p>Create the first account. It may do everything, including adding other people.</p>
      <Problem text={problem} />
      <PostForm class="stack" frame={frame} to="/auth/setup">
        {token === '' ? (
          <label>
            Setup token
            <input name="token" autocomplete="off" spellcheck="false" required />
            <small>It stands in the address the server printed when it started.</small>
          </label>
        ) : (
          <HiddenFields fields={[['token', token]]} />
        )}
        <label>
          User name
          <input
            name="username"
            value={username}
            autocomplete="username"
            autocapitalize="none"
            spellcheck="false"
            maxlength={MAX_NAME_CHARACTERS}
            autofocus
            required
          />
        </label>
        <label>
          Password
          <input
            name="password"
            type="password"
            autocomplete="new-password"
            minlength={10}
            maxlength={MAX_PASSWORD_LENGTH}
            aria-describedby="password-rule"
            required
          />
          <small id="password-rule">{PASSWORD_RULE}</small>
        </label>
        <button type="submit">Create account</button>
      </PostForm>
    </>
  ),
};

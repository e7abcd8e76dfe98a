/** @jsxImportSource @kitajs/html */
import { Elysia } from 'elysia';
import { MAX_NAME_CHARACTERS } from '../../accounts/identity/names.ts';
import { MAX_PASSWORD_LENGTH } from '../../accounts/identity/passwords.ts';
import { AppError } from '../../base/errors.ts';
import { isForm } from '../../http/body/form-body.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { browserOf, signedIn } from '../../http/hooks/session.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { createFirstSuperuser } from '../../operations/accounts/setup.ts';
import { pageReply } from '../page-reply.ts';
import { HiddenFields, PASSWORD_RULE, PostForm, UserNameBox } from '../parts/forms.tsx';
import { Problem } from '../parts/messages.tsx';
import type { Page } from '../frame.tsx';

const ANOTHER_TOKEN =
  'It is good for fifteen minutes. Start the server again for another, or run svc addsuperuser.';

export const setupRoute = new Elysia({ name: 'setup' })
  .use(lifecycle)
  .guard({
    checks: {
      access: 'public',
      isExemptFromReadOnly: true,
      isOn: ({ firstRun }) => firstRun.isOpen(),
    },
  })
  .get('/auth/setup', ({ ask }) => {
    const token = ask.queryValue('token') ?? '';
    return token === '' ? setupForm(ask, EMPTY) : opened(ask, token);
  })
  .post('/auth/setup', ({ ask }) => postSetup(ask));

const EMPTY: SetupView = { token: '', problem: null, username: '' };

function opened(context: Context, token: string): Reply {
  try {
    context.services.firstRun.check(token);
  } catch (error) {
    if (!context.wantsHtml || !(error instanceof AppError)) throw error;
    return setupForm(context, { ...EMPTY, problem: problemText(error) }, error.status);
  }
  return setupForm(context, { ...EMPTY, token });
}

async function postSetup(context: Context): Promise<Reply> {
  const { services } = context;
  const isFormBody = isForm(context.body);
  const body = await context.formOrJson();
  try {
    const started = await createFirstSuperuser(
      services,
      services.firstRun,
      browserOf(context),
      body,
    );
    return signedIn(context, started, isFormBody ? '/' : null);
  } catch (error) {
    const isShown = isFormBody && context.wantsHtml && error instanceof AppError;
    if (!isShown || error.status >= 500) throw error;
    const { token = '', username = '' } = body as Record<string, string>;
    const view = { token, username, problem: problemText(error) };
    return setupForm(context, view, error.status);
  }
}

function setupForm(context: Context, view: SetupView, status = 200): Reply {
  return pageReply(context, setupPage, view, { status });
}

function problemText(error: AppError): string {
  if (error.code === 'permission-denied') return `${error.message}. ${ANOTHER_TOKEN}`;
  if (error.code === 'weak-password') return `${error.message}. ${error.hint ?? ''}`;
  return error.issues?.map(({ msg }) => `${msg}.`).join(' ') ?? error.message;
}

interface SetupView {
  /** `''`: the person types it. */
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
        <UserNameBox value={username} maxlength={MAX_NAME_CHARACTERS} autofocus />
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

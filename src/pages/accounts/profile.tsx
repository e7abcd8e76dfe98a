/** @jsxImportSource @kitajs/html */
/** Plain forms, which all return to the page. */
import { Elysia } from 'elysia';
import { MAX_KEY_DAYS } from '../../accounts/identity/api-keys.ts';
import { AppError } from '../../base/errors.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { endSession } from '../../http/hooks/session.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import {
  changePassword,
  hasLocalPassword,
  listSessions,
  revokeSession,
  type SessionView,
} from '../../operations/accounts/sessions.ts';
import {
  type ApiKeyView,
  createApiKey,
  listApiKeys,
  type NewApiKeyView,
  revokeApiKey,
} from '../../operations/accounts/api-keys.ts';
import { renderSVG } from 'uqr';
import { siteIn } from '../../api/accounts/second-factors.ts';
import {
  beginApp,
  confirmApp,
  describeFactors,
  removeFactor,
  renewRecoveryCodes,
} from '../../operations/accounts/second-factors.ts';
import { type Enrolment, type FactorsShown, SecondFactors } from './second-factors.tsx';
import { hasOwnToken, revokeOwnToken } from '../../operations/accounts/tokens.ts';
import { browserName } from '../browser-name.ts';
import { idOf, keyRequest, problemText } from '../form-request.ts';
import { pageReply } from '../page-reply.ts';
import { browser, cell, strength, text } from '../parts/cells.tsx';
import { CreatedKey, PostButton, PostForm } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { type Column, Rows } from '../parts/table.tsx';
import { UtcTime } from '../parts/values.tsx';
import type { FrameView, Page } from '../frame.tsx';

const NOTICES: Readonly<Record<string, string>> = {
  'end-session': 'The session is over.',
  'revoke-key': 'The key no longer works.',
  'revoke-token': 'The token no longer works.',
  'confirm-app': 'The app is added.',
  'remove-factor': 'It is removed.',
  passkey: 'The passkey is added.',
};

export const profileRoute = new Elysia({ name: 'profile' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', refusesScopedKeys: true, admitsUnproven: true } })
  .get('/profile', ({ ask }) => profile(ask, { notice: NOTICES[ask.queryValue('done') ?? ''] }), {
    describes: {
      summary: 'Show your profile',
      tag: 'auth',
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
      errors: [403],
    },
  })
  .post('/profile', ({ ask }) => postProfile(ask), {
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
  readonly enrolment?: Enrolment;
  readonly recoveryCodes?: readonly string[];
  readonly error?: AppError;
}

async function profile(context: Context, shown: Shown): Promise<Reply> {
  const { services, user } = context;
  const { notice, newKey, error, enrolment = null, recoveryCodes = null } = shown;
  const view = {
    username: user.username,
    isSuperuser: user.isSuperuser,
    isReadOnly: services.config.readonly,
    hasPassword: await hasLocalPassword(services, user),
    sessions: await listSessions(services, user),
    keys: await listApiKeys(services, user),
    hasToken: await hasOwnToken(services, user),
    factors: {
      ...(await describeFactors(services, user)),
      enrolment,
      recoveryCodes,
      hasPasskeys: siteIn(context) !== null,
    },
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
    case 'begin-app': {
      const asked = { password: field('password'), name: field('name') };
      const { secret, uri } = await beginApp(services, user, origin, asked);
      return profile(context, { enrolment: { secret, uri, picture: renderSVG(uri) } });
    }
    case 'confirm-app': {
      const codes = await confirmApp(services, user, origin, field('code'));
      if (codes === null) break;
      return profile(context, { recoveryCodes: codes, notice: NOTICES[action] });
    }
    case 'new-recovery-codes': {
      const codes = await renewRecoveryCodes(services, user, origin, field('password'));
      return profile(context, { recoveryCodes: codes });
    }
    case 'remove-factor':
      await removeFactor(services, user, origin, idOf(field('id')), field('password'));
      break;
    default:
      throw new AppError('bad-request', 'The form names no action');
  }
  return redirectReply(`/profile?done=${action}`, 303);
}

interface ProfileView {
  readonly username: string;
  readonly isSuperuser: boolean;
  readonly isReadOnly: boolean;
  /** False for accounts of the identity provider. */
  readonly hasPassword: boolean;
  readonly sessions: readonly SessionView[];
  readonly keys: readonly ApiKeyView[];
  readonly hasToken: boolean;
  readonly factors: FactorsShown;
  /** Right after the key is made: its value is shown once. */
  readonly newKey: NewApiKeyView | null;
  readonly notice: string | null;
  readonly problem: string | null;
}

export const profilePage: Page<ProfileView> = {
  name: 'profile',
  layout: 'wide',
  title: () => 'Your profile',
  styles: ['profile.css'],
  scripts: ['passkey.js'],
  content: (view, frame) => (
    <>
      <p>
        Signed in as <strong safe>{view.username}</strong>
        {view.isSuperuser ? ', who may do everything here.' : '.'}
      </p>
      {view.isReadOnly && (
        <p class="notice">
          This site is read-only for now: keys, sessions and passwords stay as they are.
        </p>
      )}
      <Problem text={view.problem} />
      <Notice text={view.notice} />
      {view.newKey !== null && <CreatedKey label="Your new API key" value={view.newKey.key} />}
      <Keys view={view} frame={frame} />
      <Token view={view} frame={frame} />
      <Sessions view={view} frame={frame} />
      {view.hasPassword && (
        <SecondFactors factors={view.factors} isReadOnly={view.isReadOnly} frame={frame} />
      )}
      {!view.isReadOnly && <Password view={view} frame={frame} />}
    </>
  ),
};

interface Around {
  readonly frame: FrameView;
  readonly isReadOnly: boolean;
}

function endForm(frame: FrameView, does: string, id: number, label: string, about: string) {
  const button = { label, name: `${label} ${about}`, look: 'quiet small danger' };
  return <PostButton {...{ frame, does }} to="/profile" fields={[['id', id]]} {...button} />;
}

const keyColumns: readonly Column<ApiKeyView, Around>[] = [
  text('For', ({ id, description }) => description ?? `key ${id}`),
  text('Rights', ({ scopes }) => scopes?.join(', ') ?? 'all of yours'),
  cell('Made', (key) => <UtcTime at={key.created_at} />),
  cell('Last used', (key) => <UtcTime at={key.last_used_at} />),
  cell('Expires', (key) => <UtcTime at={key.expires_at} />),
  {
    ...cell('Revoke', ({ id, description, is_active: isActive }, { frame, isReadOnly }) => {
      if (!isActive) return 'revoked';
      if (isReadOnly) return '';
      return endForm(frame, 'revoke-key', id, 'Revoke', description ?? `key ${id}`);
    }),
    look: 'hidden',
  },
];

const sessionColumns: readonly Column<SessionView, Around>[] = [
  browser('user_agent'),
  text('Address', 'ip_address'),
  strength(),
  cell('Signed in', (session) => <UtcTime at={session.created_at} />),
  cell('Last seen', (session) => <UtcTime at={session.last_active_at} />),
  {
    ...cell('End', ({ id, current, user_agent: agent }, { frame, isReadOnly }) => {
      if (current) return 'this one';
      if (isReadOnly) return '';
      return endForm(frame, 'end-session', id, 'End', `session of ${browserName(agent)}`);
    }),
    look: 'hidden',
  },
];

function Keys({ view, frame }: { view: ProfileView; frame: FrameView }) {
  return (
    <section>
      <h2 id="keys">API keys</h2>
      {view.keys.length === 0 ? (
        <p class="empty">A program uses an API key to act as you, with all your rights or fewer.</p>
      ) : (
        <Rows
          label="API keys"
          columns={keyColumns}
          items={view.keys}
          lookOf={({ is_active: isActive }) => (isActive ? undefined : 'over')}
          around={{ frame, isReadOnly: view.isReadOnly }}
        />
      )}
      {!view.isReadOnly && <NewKey frame={frame} />}
    </section>
  );
}

function NewKey({ frame }: { frame: FrameView }) {
  return (
    <PostForm class="panel new-key" frame={frame} to="/profile" does="create-key">
      <label>
        What it is for
        <input name="description" maxlength={MAX_DESCRIPTION_CHARACTERS} autocomplete="off" />
        <small>So that you know it again.</small>
      </label>
      <label>
        Days until it expires
        <input name="expires_in_days" type="number" min="1" max={MAX_KEY_DAYS} />
        <small safe>{`1 to ${MAX_KEY_DAYS}; empty: never.`}</small>
      </label>
      <label>
        Rights
        <input name="scopes" autocomplete="off" spellcheck="false" />
        <small>
          Empty: all of yours. Else some of them, such as <code>read:reports/*</code>{' '}
          <code>write:inbox</code>.
        </small>
      </label>
      <p class="actions">
        <button type="submit">Make a key</button>
      </p>
    </PostForm>
  );
}

function Token({ view, frame }: { view: ProfileView; frame: FrameView }) {
  return (
    <section>
      <h2>Token of event clients</h2>
      <p class="fine">
        Programs that send events may ask for a token with your name and password at{' '}
        <code>/api-token-auth/</code>. It has your rights on events, and does not expire.
        {view.hasToken ? '' : ' None has been asked for.'}
      </p>
      {view.hasToken && !view.isReadOnly && (
        <PostButton
          frame={frame}
          to="/profile"
          does="revoke-token"
          label="Revoke the token"
          look="quiet small danger"
        />
      )}
    </section>
  );
}

function Sessions({ view, frame }: { view: ProfileView; frame: FrameView }) {
  return (
    <section>
      <h2 id="sessions">Where you are signed in</h2>
      <Rows
        label="Where you are signed in"
        columns={sessionColumns}
        items={view.sessions}
        around={{ frame, isReadOnly: view.isReadOnly }}
      />
    </section>
  );
}

function Password({ view, frame }: { view: ProfileView; frame: FrameView }) {
  const { username, hasPassword } = view;
  if (!hasPassword) {
    return (
      <section>
        <h2>Password</h2>
        <p class="fine">You sign in with your organisation, which keeps your password.</p>
      </section>
    );
  }
  return (
    <section>
      <h2>Change your password</h2>
      <PostForm class="stack narrow" frame={frame} to="/profile" does="change-password">
        {/* Tells a password manager whose password it is. */}
        <input hidden name="username" autocomplete="username" value={username} readonly />
        <label>
          Present password
          <input name="current_password" type="password" autocomplete="current-password" required />
        </label>
        <label>
          New password
          <input name="new_password" type="password" autocomplete="new-password" required />
          <small>All your sessions end, this one too. API keys stay.</small>
        </label>
        <button type="submit">Change it</button>
      </PostForm>
    </section>
  );
}

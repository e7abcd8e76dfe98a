/** @jsxImportSource @kitajs/html */
/**
 * A user's own page. Plain forms, which all come back to it.
 */
import { MAX_KEY_DAYS } from '../../accounts/identity/api-keys.ts';
import { MAX_DESCRIPTION_CHARACTERS } from '../../base/json/input.ts';
import type { ApiKeyView, NewApiKeyView } from '../../operations/api-keys.ts';
import type { SessionView } from '../../operations/accounts.ts';
import { browserName } from '../browser-name.ts';
import type { FrameView, Page } from './frame.tsx';
import { CsrfField } from './frame.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { UtcTime } from '../parts/utc-time.tsx';
import { CreatedKey } from '../parts/created-key.tsx';

interface ProfileView {
  readonly username: string;
  readonly isSuperuser: boolean;
  readonly isReadOnly: boolean;
  /** False for accounts that sign in only at the identity provider. */
  readonly hasPassword: boolean;
  readonly sessions: readonly SessionView[];
  readonly keys: readonly ApiKeyView[];
  /** An event client has asked for a token. */
  readonly hasToken: boolean;
  /** Set right after the key is made, the only time its value is shown. */
  readonly newKey: NewApiKeyView | null;
  readonly notice: string | null;
  readonly problem: string | null;
}

export const profilePage: Page<ProfileView> = {
  name: 'profile',
  layout: 'wide',
  title: () => 'Your profile',
  styles: ['profile.css'],
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
      {!view.isReadOnly && <Password view={view} frame={frame} />}
    </>
  ),
};

function Keys({ view, frame }: { view: ProfileView; frame: FrameView }) {
  return (
    <section>
      <h2 id="keys">API keys</h2>
      {view.keys.length === 0 ? (
        <p class="empty">A program uses an API key to act as you, with all your rights or fewer.</p>
      ) : (
        <div class="scroll" tabindex="0" role="region" aria-labelledby="keys">
          <table>
            <thead>
              <tr>
                <th scope="col">For</th>
                <th scope="col">Rights</th>
                <th scope="col">Made</th>
                <th scope="col">Last used</th>
                <th scope="col">Expires</th>
                <th scope="col">
                  <span class="visually-hidden">Revoke</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {view.keys.map((key) => (
                <Key entry={key} isReadOnly={view.isReadOnly} frame={frame} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {!view.isReadOnly && <NewKey frame={frame} />}
    </section>
  );
}

function NewKey({ frame }: { frame: FrameView }) {
  return (
    <form class="panel new-key" method="post" action="/profile">
      <CsrfField frame={frame} />
      <input type="hidden" name="action" value="create-key" />
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
    </form>
  );
}

interface KeyProps {
  readonly entry: ApiKeyView;
  readonly isReadOnly: boolean;
  readonly frame: FrameView;
}

function Key({ entry, isReadOnly, frame }: KeyProps) {
  const name = entry.description ?? `key ${entry.id}`;
  return (
    <tr class={entry.is_active ? undefined : 'over'}>
      <td safe>{name}</td>
      <td safe>{entry.scopes?.join(', ') ?? 'all of yours'}</td>
      <td>
        <UtcTime at={entry.created_at} />
      </td>
      <td>
        <UtcTime at={entry.last_used_at} />
      </td>
      <td>
        <UtcTime at={entry.expires_at} />
      </td>
      <td>
        {!entry.is_active ? (
          'revoked'
        ) : isReadOnly ? (
          ''
        ) : (
          <Act frame={frame} action="revoke-key" id={entry.id} label="Revoke" about={name} />
        )}
      </td>
    </tr>
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
        <form method="post" action="/profile">
          <CsrfField frame={frame} />
          <input type="hidden" name="action" value="revoke-token" />
          <button class="quiet small danger" type="submit">
            Revoke the token
          </button>
        </form>
      )}
    </section>
  );
}

function Sessions({ view, frame }: { view: ProfileView; frame: FrameView }) {
  return (
    <section>
      <h2 id="sessions">Where you are signed in</h2>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="sessions">
        <table>
          <thead>
            <tr>
              <th scope="col">Browser</th>
              <th scope="col">Address</th>
              <th scope="col">Signed in</th>
              <th scope="col">Last seen</th>
              <th scope="col">
                <span class="visually-hidden">End</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {view.sessions.map((session) => (
              <tr>
                <td title={session.user_agent ?? ''} safe>
                  {browserName(session.user_agent)}
                </td>
                <td safe>{session.ip_address ?? ''}</td>
                <td>
                  <UtcTime at={session.created_at} />
                </td>
                <td>
                  <UtcTime at={session.last_active_at} />
                </td>
                <td>
                  {session.current ? (
                    'this one'
                  ) : view.isReadOnly ? (
                    ''
                  ) : (
                    <Act
                      frame={frame}
                      action="end-session"
                      id={session.id}
                      label="End"
                      about={`session of ${browserName(session.user_agent)}`}
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
      <form class="stack narrow" method="post" action="/profile">
        <CsrfField frame={frame} />
        <input type="hidden" name="action" value="change-password" />
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
      </form>
    </section>
  );
}

interface ActProps {
  readonly frame: FrameView;
  readonly action: string;
  readonly id: number;
  readonly label: string;
  /** The object acted on, for screen readers. */
  readonly about: string;
}

function Act({ frame, action, id, label, about }: ActProps) {
  return (
    <form method="post" action="/profile">
      <CsrfField frame={frame} />
      <input type="hidden" name="action" value={action} />
      <input type="hidden" name="id" value={String(id)} />
      <button class="quiet small danger" type="submit" aria-label={`${label} ${about}`} safe>
        {label}
      </button>
    </form>
  );
}

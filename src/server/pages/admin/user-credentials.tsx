/**
 * What one account signs in with: keys, token, sessions. Two sections of its page.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import { formatScopes } from '../../../auth/scopes.ts';
import { browserName } from '../../browser-name.ts';
import type { UserPartProps } from './user.tsx';
import { Moment, keyName } from './cells.tsx';
import { Act } from './forms.tsx';
import { ADMIN_PAGES } from './layout.tsx';
import { Rows } from './listing.tsx';

/** API keys and the token of event clients. */
export function UserKeys({ data, state, frame }: UserPartProps) {
  const { user, keys, hasToken } = data;
  const around = { state, frame };
  const query = new URLSearchParams({ user: user.username });
  return (
    <section>
      <h2>API keys</h2>
      {keys.length === 0 ? (
        <p class="empty">None.</p>
      ) : (
        <Rows
          label="API keys"
          columns={[
            { label: 'For' },
            { label: 'Rights' },
            { label: 'Last used' },
            { label: 'Revoke', isHidden: true },
          ]}
        >
          {keys.map((key) => (
            <tr>
              <td safe>{keyName(key)}</td>
              <td safe>
                {key.scopes === null ? 'all of the user' : formatScopes(key.scopes).join(', ')}
              </td>
              <td>
                <Moment at={key.lastUsedAt} />
              </td>
              <td>
                {key.isActive ? (
                  <Act
                    {...around}
                    action="revoke-key"
                    label="Revoke"
                    about={keyName(key)}
                    fields={{ key_id: key.id }}
                    asks
                  />
                ) : (
                  'revoked'
                )}
              </td>
            </tr>
          ))}
        </Rows>
      )}
      <p class="actions tight">
        <a class="button quiet small" href={`${ADMIN_PAGES}/api-keys?${query}`}>
          API keys of this user
        </a>
        {hasToken ? (
          <Act
            {...around}
            action="revoke-token"
            label="Revoke the token"
            about={`of ${user.username}`}
            fields={{}}
            asks
          />
        ) : (
          ''
        )}
      </p>
    </section>
  );
}

/** Where the user is signed in. */
export function UserSessions({ data, state, frame }: UserPartProps) {
  const around = { state, frame };
  return (
    <section>
      <h2>Sessions</h2>
      {data.sessions.length === 0 ? (
        <p class="empty">Not signed in anywhere.</p>
      ) : (
        <Rows
          label="Sessions"
          columns={[
            { label: 'Browser' },
            { label: 'Address' },
            { label: 'Last seen' },
            { label: 'End', isHidden: true },
          ]}
        >
          {data.sessions.map((session) => (
            <tr>
              <td title={session.userAgent ?? ''} safe>
                {browserName(session.userAgent)}
              </td>
              <td safe>{session.ipAddress ?? ''}</td>
              <td>
                <Moment at={session.lastActiveAt} />
              </td>
              <td>
                {session.id === data.currentSession ? (
                  'this one'
                ) : (
                  <Act
                    {...around}
                    action="end-session"
                    label="End"
                    about={`session ${session.id} of ${data.user.username}`}
                    fields={{ session_id: session.id }}
                    asks
                  />
                )}
              </td>
            </tr>
          ))}
        </Rows>
      )}
    </section>
  );
}

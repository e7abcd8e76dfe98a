/** @jsxImportSource @kitajs/html */
import type { ApiKey } from '../../accounts/identity/api-keys.ts';
import type { Group } from '../../accounts/rights/groups.ts';
import { formatScopes } from '../../accounts/rights/scopes.ts';
import type { Session } from '../../accounts/identity/sessions.ts';
import type { UserWithBelongings } from '../../operations/users.ts';
import { browserName } from '../browser-name.ts';
import { AuditLink, Moment, keyName } from './cells.tsx';
import { Act } from './forms.tsx';
import { ADMIN_PAGES, type Surroundings } from './layout.tsx';
import { type Listing, ListTable } from './listing.tsx';

export interface UserData extends Pick<UserWithBelongings, 'user' | 'hasToken'> {
  readonly groups: Listing<Group>;
  readonly keys: Listing<Omit<ApiKey, 'keyHash'>>;
  readonly sessions: Listing<Session>;
  /** It is the viewer's own account. */
  readonly isSelf: boolean;
  /** The viewer's session. */
  readonly currentSession: number | null;
  readonly groupNames: readonly string[];
}

export interface UserPartProps extends Surroundings {
  readonly data: UserData;
}

export function UserKeys({ data, state, frame }: UserPartProps) {
  const { user, keys, hasToken } = data;
  const around = { state, frame };
  const query = new URLSearchParams({ user: user.username });
  return (
    <section>
      <h2>API keys</h2>
      <ListTable
        listing={keys}
        nouns={['key', 'keys']}
        empty="None."
        columns={[
          { label: 'For' },
          { label: 'Rights' },
          { label: 'Last used' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {keys.items.map((key) => (
          <tr>
            <td safe>{keyName(key)}</td>
            <td safe>
              {key.scopes === null ? 'all of the user' : formatScopes(key.scopes).join(', ')}
            </td>
            <td>
              <Moment at={key.lastUsedAt} />
            </td>
            <td class="acts">
              <AuditLink
                query={{ resource: 'apikey', q: `user ${user.username}` }}
                about={`keys of ${user.username}`}
              />
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
                <span class="kind off">revoked</span>
              )}
            </td>
          </tr>
        ))}
      </ListTable>
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

export function UserSessions({ data, state, frame }: UserPartProps) {
  const around = { state, frame };
  return (
    <section>
      <h2>Sessions</h2>
      <ListTable
        listing={data.sessions}
        nouns={['session', 'sessions']}
        empty="Not signed in anywhere."
        columns={[
          { label: 'Browser' },
          { label: 'Address' },
          { label: 'Last seen' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {data.sessions.items.map((session) => (
          <tr>
            <td title={session.userAgent ?? ''} safe>
              {browserName(session.userAgent)}
            </td>
            <td safe>{session.ipAddress ?? ''}</td>
            <td>
              <Moment at={session.lastActiveAt} />
            </td>
            <td class="acts">
              <AuditLink
                query={{ user: data.user.username, resource: 'auth' }}
                about={`sign-ins of ${data.user.username}`}
              />
              {session.id === data.currentSession ? (
                <span>this one</span>
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
      </ListTable>
    </section>
  );
}

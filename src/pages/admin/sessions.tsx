/** @jsxImportSource @kitajs/html */
import { browserName } from '../browser-name.ts';
import { Moment, AuditLink, UserLink } from './cells.tsx';
import { Act } from './forms.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable } from './listing.tsx';

export interface SessionRow {
  readonly id: number;
  readonly user_id: number;
  readonly username: string;
  readonly created_at: string;
  readonly last_active_at: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  /** The session that views the page. */
  readonly isOwn: boolean;
}

interface SessionsData {
  readonly listing: Listing<SessionRow>;
}

export const sessionsPage = adminPage<SessionsData>({
  name: 'admin-sessions',
  title: () => 'Sessions',
  content: ({ listing }, around) => (
    <>
      <FilterForm path={`${ADMIN_PAGES}/sessions`} listing={listing}>
        <FilterBox name="q" label="Browser or address contains" listing={listing} />
        <FilterBox name="user" label="User" listing={listing} />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['session', 'sessions']}
        empty="Nobody is signed in."
        columns={[
          { label: 'User', sort: 'user_id' },
          { label: 'Browser' },
          { label: 'Address' },
          { label: 'Signed in', sort: 'created_at' },
          { label: 'Last seen', sort: 'last_active_at' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {listing.items.map((session) => (
          <tr>
            <td>
              <UserLink id={session.user_id} username={session.username} />
            </td>
            <td title={session.user_agent ?? ''} safe>
              {browserName(session.user_agent)}
            </td>
            <td safe>{session.ip_address ?? ''}</td>
            <td>
              <Moment at={session.created_at} />
            </td>
            <td>
              <Moment at={session.last_active_at} />
            </td>
            <td class="acts">
              <AuditLink
                query={{ user: session.username, resource: 'auth' }}
                about={`sign-ins of ${session.username}`}
              />
              {session.isOwn ? (
                <span>this one</span>
              ) : (
                <Act
                  {...around}
                  action="end-session"
                  label="End"
                  about={`session of ${session.username}`}
                  fields={{ id: session.id, username: session.username }}
                  asks
                />
              )}
            </td>
          </tr>
        ))}
      </ListTable>
    </>
  ),
});

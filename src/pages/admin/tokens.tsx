/** @jsxImportSource @kitajs/html */
import { Moment, AuditLink, UserLink } from './cells.tsx';
import { Act } from './forms.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable } from './listing.tsx';

export interface TokenRow {
  readonly user_id: number;
  readonly username: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

interface TokensData {
  readonly listing: Listing<TokenRow>;
}

export const tokensPage = adminPage<TokensData>({
  name: 'admin-tokens',
  title: () => 'Tokens',
  content: ({ listing }, around) => (
    <>
      <p class="fine">
        Event clients get a token for a name and password at <code>/api-token-auth/</code>. A
        revoked one is dead; the next request for one makes another.
      </p>
      <FilterForm path={`${ADMIN_PAGES}/tokens`} listing={listing}>
        <FilterBox name="q" label="User name contains" listing={listing} />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['token', 'tokens']}
        empty="Nobody has asked for a token yet."
        wayOn={{ label: 'What tokens are for', href: '/docs/guide/permissions' }}
        columns={[
          { label: 'User', sort: 'user_id' },
          { label: 'Made', sort: 'created_at' },
          { label: 'Last used', sort: 'last_used_at' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {listing.items.map(({ user_id: id, username, created_at: made, last_used_at: used }) => (
          <tr>
            <td>
              <UserLink {...{ id, username }} />
            </td>
            <td>
              <Moment at={made} />
            </td>
            <td>
              <Moment at={used} />
            </td>
            <td class="acts">
              <AuditLink
                query={{ resource: 'token', q: username }}
                about={`the token of ${username}`}
              />
              <Act
                {...around}
                action="revoke-token"
                label="Revoke"
                about={`token of ${username}`}
                fields={{ id, username }}
                asks
              />
            </td>
          </tr>
        ))}
      </ListTable>
    </>
  ),
});

/** @jsxImportSource @kitajs/html */
import type { NewUserApiKeyView } from '../../operations/api-keys.ts';
import { CreatedKey } from '../parts/created-key.tsx';
import { PurposeBox, ExpiryBox } from './boxes.tsx';
import { Moment, AuditLink, UserLink, keyName } from './cells.tsx';
import { AdminForm, Act, Fold } from './forms.tsx';
import { ADMIN_PAGES, adminPage, type Surroundings } from './layout.tsx';
import { FilterBox, FilterForm, FilterChoice, type Listing, ListTable } from './listing.tsx';

export interface KeyRow {
  readonly id: number;
  readonly user_id: number;
  readonly username: string;
  readonly description: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly is_active: boolean;
  readonly scopes?: readonly string[];
}

export interface KeysData {
  readonly listing: Listing<KeyRow>;
  /** Set right after the key is made, the only time its value is shown. */
  readonly created: NewUserApiKeyView | null;
}

export const apiKeysPage = adminPage<KeysData>({
  name: 'admin-api-keys',
  title: () => 'API keys',
  content: ({ listing, created }, around) => (
    <>
      {created === null ? '' : <CreatedKey label="The new API key" value={created.key} />}
      <NewKey {...around} owner={listing.filters['user'] ?? ''} />
      <FilterForm path={`${ADMIN_PAGES}/api-keys`} listing={listing}>
        <FilterBox name="q" label="Purpose contains" listing={listing} />
        <FilterBox name="user" label="User" listing={listing} />
        <FilterChoice
          name="status"
          label="Status"
          listing={listing}
          choices={[
            ['', 'All'],
            ['active', 'Working'],
            ['revoked', 'Revoked'],
          ]}
        />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['key', 'keys']}
        empty="Programs use API keys to act as a user. There are none yet."
        wayOn={{ label: 'Make one for yourself', href: '/profile#keys' }}
        columns={[
          { label: 'For', sort: 'description' },
          { label: 'User' },
          { label: 'Rights' },
          { label: 'Made', sort: 'created_at' },
          { label: 'Last used', sort: 'last_used_at' },
          { label: 'Expires', sort: 'expires_at' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {listing.items.map((entry) => (
          <Key entry={entry} {...around} />
        ))}
      </ListTable>
    </>
  ),
});

function NewKey({ state, frame, owner }: Surroundings & { owner: string }) {
  if (!state.mayChange) return '';
  const { entered } = state;
  return (
    <Fold label="New key" isOpen={entered['action'] === 'create-key'}>
      <AdminForm state={state} frame={frame} action="create-key" class="stack narrow">
        <label>
          User name
          <input name="username" value={entered['username'] ?? owner} required autocomplete="off" />
        </label>
        <PurposeBox value={entered['description'] ?? ''} />
        <ExpiryBox value={entered['expires_in_days'] ?? ''} />
        <label>
          Rights
          <input
            name="scopes"
            value={entered['scopes'] ?? ''}
            placeholder="all of the user, or: read:reports/*"
            autocomplete="off"
            spellcheck="false"
          />
        </label>
        <button type="submit">Make the key</button>
      </AdminForm>
    </Fold>
  );
}

function Key({ entry, state, frame }: Surroundings & { entry: KeyRow }) {
  const name = keyName(entry);
  return (
    <tr>
      <td safe>{name}</td>
      <td>
        <UserLink id={entry.user_id} username={entry.username} />
      </td>
      <td safe>{entry.scopes?.join(', ') ?? 'all of the user'}</td>
      <td>
        <Moment at={entry.created_at} />
      </td>
      <td>
        <Moment at={entry.last_used_at} />
      </td>
      <td>
        <Moment at={entry.expires_at} />
      </td>
      <td class="acts">
        <AuditLink
          query={{ resource: 'apikey', q: `user ${entry.username}` }}
          about={`keys of ${entry.username}`}
        />
        {entry.is_active ? (
          <Act
            state={state}
            frame={frame}
            action="revoke-key"
            label="Revoke"
            about={name}
            fields={{ id: entry.id, name, username: entry.username }}
            asks
          />
        ) : (
          <span class="kind off">revoked</span>
        )}
      </td>
    </tr>
  );
}

/** @jsxImportSource @kitajs/html */
import type { UserView } from '../../operations/users.ts';
import { NameBox } from './boxes.tsx';
import { Moment, AuditLink, UserLink, UserMarks, GroupLinks, type GroupName } from './cells.tsx';
import { AdminForm, Fold } from './forms.tsx';
import { ADMIN_PAGES, adminPage, type Surroundings } from './layout.tsx';
import { PASSWORD_RULE } from '../parts/password-rule.ts';
import { FilterBox, FilterForm, FilterChoice, type Listing, ListTable } from './listing.tsx';

interface UserRow extends UserView {
  readonly groups: readonly GroupName[];
}

export interface UsersData {
  readonly listing: Listing<UserRow>;
  /** The form for a new account is open. */
  readonly isNew: boolean;
  readonly created: string | null;
}

export const usersPage = adminPage<UsersData>({
  name: 'admin-users',
  title: () => 'Users',
  content: ({ listing, isNew, created }, around) => (
    <>
      {created === null ? '' : <Created username={created} />}
      <NewUser {...around} isOpen={isNew} />
      <FilterForm path={`${ADMIN_PAGES}/users`} listing={listing}>
        <FilterBox name="q" label="Name contains" listing={listing} />
        <FilterChoice
          name="status"
          label="Status"
          listing={listing}
          choices={[
            ['', 'All'],
            ['active', 'Active'],
            ['inactive', 'Deactivated'],
            ['superuser', 'Superusers'],
          ]}
        />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['user', 'users']}
        empty="There are no users yet."
        columns={[
          { label: 'Name', sort: 'username' },
          { label: 'Groups' },
          { label: 'Made', sort: 'created_at' },
          { label: 'Audit', isHidden: true },
        ]}
      >
        {listing.items.map((user) => (
          <User user={user} />
        ))}
      </ListTable>
    </>
  ),
});

function Created({ username }: { username: string }) {
  const who = new URLSearchParams({ username });
  return (
    <p>
      <strong safe>{username}</strong> may see nothing yet:{' '}
      <a href={`${ADMIN_PAGES}/share?${who}`}>give access to a file or folder</a>.
    </p>
  );
}

function NewUser({ state, frame, isOpen }: Surroundings & { isOpen: boolean }) {
  if (!state.mayChange) return '';
  const { entered } = state;
  return (
    <Fold label="New user" isOpen={isOpen || entered['action'] === 'create-user'}>
      <AdminForm state={state} frame={frame} action="create-user" class="stack narrow">
        <NameBox name="username" label="User name" value={entered['username'] ?? ''} />
        <label>
          Password
          <input name="password" type="password" autocomplete="new-password" required />
          <small>
            {PASSWORD_RULE} Tell it to the person, who can change it under “Your profile”.
          </small>
        </label>
        <label class="check">
          <input
            type="checkbox"
            name="is_superuser"
            value="yes"
            checked={entered['is_superuser'] === 'yes'}
          />
          Superuser: may do and see everything
        </label>
        <button type="submit">Create the user</button>
      </AdminForm>
    </Fold>
  );
}

function User({ user }: { user: UserRow }) {
  return (
    <tr>
      <td>
        <UserLink {...user} /> <UserMarks user={user} />
      </td>
      <td>
        <GroupLinks groups={user.groups} moreHref={`${ADMIN_PAGES}/users/${user.id}`} />
      </td>
      <td>
        <Moment at={user.created_at} />
      </td>
      <td>
        <AuditLink query={{ q: user.username }} about={user.username} />
      </td>
    </tr>
  );
}

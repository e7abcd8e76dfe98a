/** @jsxImportSource @kitajs/html */
import { userList } from '../../../accounts/identity/users.ts';
import {
  createUser,
  groupsOf,
  listUsers,
  type UserView,
} from '../../../operations/accounts/users.ts';
import { PASSWORD_RULE } from '../../parts/forms.tsx';
import { cell } from '../../parts/cells.tsx';
import { audit, GroupLinks, type GroupName, markedUser, moment, NameBox } from '../cells.tsx';
import { boxValue, List, type Listing, mapItems, readListing, type Table } from '../list.tsx';
import { adminPage, FoldedForm } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';

type User = UserView & { readonly groups: readonly GroupName[] };

interface UsersData {
  readonly listing: Listing<User>;
  readonly isNew: boolean;
  readonly created: string | null;
}

const table: Table<User> = {
  nouns: ['user', 'users'],
  filters: [
    { name: 'q', label: 'Name contains' },
    {
      name: 'status',
      label: 'Status',
      choices: [
        ['', 'All'],
        ['active', 'Active'],
        ['inactive', 'Deactivated'],
        ['superuser', 'Superusers'],
      ],
    },
  ],
  empty: 'There are no users yet.',
  columns: [
    markedUser('Name'),
    cell('Groups', ({ id, groups }) => (
      <GroupLinks groups={groups} moreHref={`${ADMIN_PAGES}/users/${id}`} />
    )),
    moment('Made', 'created_at'),
    audit(({ username }) => [{ q: username }, username]),
  ],
};

const STATUSES: Readonly<Record<string, Record<string, boolean>>> = {
  active: { is_active: true },
  inactive: { is_active: false },
  superuser: { is_superuser: true },
};

export const users = adminPage<UsersData>({
  path: 'users',
  summary: 'Manage the users',
  title: 'Users',
  read: async (context, admin) => {
    const listing = await readListing<UserView>(context, table, {
      source: userList,
      read: listUsers,
      dataPath: '/admin/users',
      search: { q: ['username'] },
      exact: STATUSES[boxValue(context, 'status')] ?? {},
    });
    const ids = listing.items.map(({ id }) => id);
    const groups = await groupsOf(context.services, admin, ids);
    return {
      listing: mapItems(listing, (user) => ({ ...user, groups: groups.get(user.id) ?? [] })),
      isNew: boxValue(context, 'new') !== '',
      created: null,
    };
  },
  content: ({ listing, isNew, created: username }, around) => (
    <>
      {username !== null && (
        <p>
          <strong safe>{username}</strong> may see nothing yet:{' '}
          <a href={`${ADMIN_PAGES}/share?${new URLSearchParams({ to: username })}`}>
            give access to a file or folder
          </a>
          .
        </p>
      )}
      <FoldedForm
        {...around}
        action="create-user"
        label="New user"
        button="Create the user"
        isOpen={isNew}
      >
        <NameBox name="username" label="User name" value={around.state.entered['username'] ?? ''} />
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
            checked={around.state.entered['is_superuser'] === 'yes'}
          />
          Superuser: may do and see everything
        </label>
      </FoldedForm>
      <List {...{ table, listing, around }} />
    </>
  ),
  notices: { 'delete-user': 'The user was deleted.' },
  actions: {
    'create-user': {
      done: 'The user was created.',
      run: async ({ services, admin, field }) => {
        const { username } = await createUser(services, admin, {
          username: field('username'),
          password: field('password'),
          is_superuser: field('is_superuser') === 'yes',
        });
        return { created: username, isNew: false };
      },
    },
  },
});

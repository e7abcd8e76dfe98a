import { userList } from '../../../accounts/identity/users.ts';
import { createUser, groupsOf, listUsers, type UserView } from '../../../operations/users.ts';
import { type UsersData, usersPage } from '../users.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, containing, readListing } from './page-list.ts';

const STATUSES: Readonly<Record<string, Record<string, boolean>>> = {
  active: { is_active: true },
  inactive: { is_active: false },
  superuser: { is_superuser: true },
};

export const usersRoute: Route = adminPageRoute<UsersData>({
  path: 'users',
  summary: 'Manage the users',
  page: usersPage,
  read: async (context, admin) => {
    const { services } = context;
    const request = {
      boxes: ['q', 'status'],
      parts: [containing(boxValue(context, 'q'), 'username')],
      exact: STATUSES[boxValue(context, 'status')] ?? {},
      source: userList,
      dataPath: '/admin/users',
    };
    const listing = await readListing<UserView>(context, request, (asked) =>
      listUsers(services, admin, asked),
    );
    const groups = await groupsOf(
      services,
      admin,
      listing.items.map(({ id }) => id),
    );
    const items = listing.items.map((user) => ({ ...user, groups: groups.get(user.id) ?? [] }));
    return {
      listing: { ...listing, items },
      isNew: boxValue(context, 'new') !== '',
      created: null,
    };
  },
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

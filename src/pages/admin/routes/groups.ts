import { type Group, groupList } from '../../../accounts/rights/groups.ts';
import { createGroup, listGroups, sizesOf } from '../../../operations/groups.ts';
import { groupsPage } from '../groups.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, containing, readListing } from './page-list.ts';

export const groupsRoute: Route = adminPageRoute({
  path: 'groups',
  summary: 'Manage the groups',
  page: groupsPage,
  read: async (context, admin) => {
    const { services } = context;
    const request = {
      boxes: ['q'],
      parts: [containing(boxValue(context, 'q'), 'name', 'description')],
      source: groupList,
      dataPath: '/admin/groups',
    };
    const listing = await readListing<Group>(context, request, (asked) =>
      listGroups(services, admin, asked),
    );
    const sizes = await sizesOf(
      services,
      admin,
      listing.items.map(({ id }) => id),
    );
    const nothing = { members: 0, permissions: 0 };
    const items = listing.items.map((group) => ({ ...group, ...(sizes.get(group.id) ?? nothing) }));
    return { listing: { ...listing, items } };
  },
  notices: { 'delete-group': 'The group was deleted.' },
  actions: {
    'create-group': {
      done: 'The group was created. Open it to give it rights and members.',
      run: async ({ services, admin, field }) => {
        const description = field('description').trim();
        await createGroup(services, admin, {
          name: field('name'),
          ...(description !== '' && { description }),
        });
      },
    },
  },
});

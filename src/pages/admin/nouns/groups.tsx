/** @jsxImportSource @kitajs/html */
import { type Group, groupList, type GroupSize } from '../../../accounts/rights/groups.ts';
import { createGroup, listGroups, sizesOf } from '../../../operations/accounts/groups.ts';
import { cell, text } from '../../parts/cells.tsx';
import { audit, GroupLink, NameBox, number, PurposeBox } from '../cells.tsx';
import { List, mapItems, readListing, type Table } from '../list.tsx';
import { adminPage, FoldedForm } from '../page.tsx';

const table: Table<Group & GroupSize> = {
  nouns: ['group', 'groups'],
  filters: [{ name: 'q', label: 'Name or purpose contains' }],
  empty: 'Make a group, give it a right, add people: that is how somebody comes to see a folder.',
  columns: [
    cell('Name', (group) => <GroupLink {...group} />, 'name'),
    text('For', 'description'),
    number('Members', 'members'),
    number('Rights', 'permissions'),
    audit(({ name }) => [{ q: name }, name]),
  ],
};

export const groups = adminPage({
  path: 'groups',
  summary: 'Manage the groups',
  title: 'Groups',
  read: async (context, admin) => {
    const listing = await readListing<Group>(context, table, {
      source: groupList,
      read: listGroups,
      dataPath: '/admin/groups',
      search: { q: ['name', 'description'] },
    });
    const ids = listing.items.map(({ id }) => id);
    const sizes = await sizesOf(context.services, admin, ids);
    const nothing = { members: 0, permissions: 0 };
    const sized = mapItems(listing, (group) => ({ ...group, ...(sizes.get(group.id) ?? nothing) }));
    return { listing: sized };
  },
  content: ({ listing }, around) => (
    <>
      <FoldedForm {...around} action="create-group" label="New group" button="Create the group">
        <NameBox name="name" label="Name" value={around.state.entered['name'] ?? ''} />
        <PurposeBox value={around.state.entered['description'] ?? ''} />
      </FoldedForm>
      <List {...{ table, listing, around }} />
    </>
  ),
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

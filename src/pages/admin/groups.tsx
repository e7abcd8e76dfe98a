/** @jsxImportSource @kitajs/html */
import type { Group, GroupSize } from '../../accounts/rights/groups.ts';
import { NameBox, PurposeBox } from './boxes.tsx';
import { Count } from '../parts/count.tsx';
import { AuditLink, GroupLink } from './cells.tsx';
import { AdminForm, Fold } from './forms.tsx';
import { ADMIN_PAGES, adminPage, type Surroundings } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable } from './listing.tsx';

interface GroupsData {
  readonly listing: Listing<Group & GroupSize>;
}

export const groupsPage = adminPage<GroupsData>({
  name: 'admin-groups',
  title: () => 'Groups',
  content: ({ listing }, around) => (
    <>
      <NewGroup {...around} />
      <FilterForm path={`${ADMIN_PAGES}/groups`} listing={listing}>
        <FilterBox name="q" label="Name or purpose contains" listing={listing} />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['group', 'groups']}
        empty="Make a group, give it a right, add people: that is how somebody comes to see a folder."
        columns={[
          { label: 'Name', sort: 'name' },
          { label: 'For', sort: 'description' },
          { label: 'Members', isNumber: true },
          { label: 'Rights', isNumber: true },
          { label: 'Audit', isHidden: true },
        ]}
      >
        {listing.items.map((group) => (
          <tr>
            <td>
              <GroupLink {...group} />
            </td>
            <td safe>{group.description ?? ''}</td>
            <td class="number">
              <Count value={group.members} />
            </td>
            <td class="number">
              <Count value={group.permissions} />
            </td>
            <td>
              <AuditLink query={{ q: group.name }} about={group.name} />
            </td>
          </tr>
        ))}
      </ListTable>
    </>
  ),
});

function NewGroup({ state, frame }: Surroundings) {
  if (!state.mayChange) return '';
  return (
    <Fold label="New group" isOpen={state.entered['action'] === 'create-group'}>
      <AdminForm state={state} frame={frame} action="create-group" class="stack narrow">
        <NameBox name="name" label="Name" value={state.entered['name'] ?? ''} />
        <PurposeBox value={state.entered['description'] ?? ''} />
        <button type="submit">Create the group</button>
      </AdminForm>
    </Fold>
  );
}

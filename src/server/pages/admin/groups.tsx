/**
 * The groups: find, make, go to one.
 *
 * @jsxImportSource @kitajs/html (for a start from another folder, where Bun does not find tsconfig.json)
 */
import type { Group, GroupSize } from '../../../auth/groups.ts';
import {
  ADMIN_PAGES,
  AdminForm,
  adminPage,
  AuditLink,
  Count,
  Fold,
  type Surroundings,
} from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable } from './listing.tsx';

/** What the page shows. */
export interface GroupsData {
  readonly listing: Listing<Group & GroupSize>;
}

/** `/admin/ui/groups`. */
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
          { label: 'Members' },
          { label: 'Rights' },
          { label: 'Audit', isHidden: true },
        ]}
      >
        {listing.items.map((group) => (
          <tr>
            <td>
              <a href={`${ADMIN_PAGES}/groups/${group.id}`} safe>
                {group.name}
              </a>
            </td>
            <td safe>{group.description ?? ''}</td>
            <td>
              <Count value={group.members} />
            </td>
            <td>
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
        <label>
          Name
          <input
            name="name"
            value={state.entered['name'] ?? ''}
            required
            maxlength="150"
            autocomplete="off"
          />
        </label>
        <label>
          What it is for
          <input
            name="description"
            value={state.entered['description'] ?? ''}
            maxlength="1024"
            autocomplete="off"
          />
        </label>
        <button type="submit">Create the group</button>
      </AdminForm>
    </Fold>
  );
}

/** @jsxImportSource @kitajs/html */
import type { Permission } from '../../accounts/rights/permissions.ts';
import { VERBS } from '../../accounts/rights/principal.ts';
import { PurposeBox, ResourceBox, ActionBox } from './boxes.tsx';
import { AuditLink, GroupLinks, WhoMayLink, resourceText, type GroupName } from './cells.tsx';
import { AdminForm, Act, Fold } from './forms.tsx';
import { ADMIN_PAGES, adminPage, type Surroundings } from './layout.tsx';
import { FilterBox, FilterForm, FilterChoice, type Listing, ListTable } from './listing.tsx';

interface PermissionRow extends Permission {
  readonly groups: readonly GroupName[];
}

interface PermissionsData {
  readonly listing: Listing<PermissionRow>;
}

export const permissionsPage = adminPage<PermissionsData>({
  name: 'admin-permissions',
  title: () => 'Permissions',
  content: ({ listing }, around) => (
    <>
      <NewPermission {...around} />
      <FilterForm path={`${ADMIN_PAGES}/permissions`} listing={listing}>
        <FilterBox name="q" label="Resource or purpose contains" listing={listing} />
        <FilterChoice
          name="right"
          label="Right"
          listing={listing}
          choices={[['', 'All'], ...VERBS.map((verb) => [verb, verb] as const)]}
        />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['permission', 'permissions']}
        empty="There are none yet. The page of a group makes them as they are given."
        wayOn={{ label: 'Groups', href: `${ADMIN_PAGES}/groups` }}
        columns={[
          { label: 'Resource', sort: 'resource' },
          { label: 'Right', sort: 'action' },
          { label: 'For', sort: 'description' },
          { label: 'Held by' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {listing.items.map((permission) => (
          <Row permission={permission} {...around} />
        ))}
      </ListTable>
    </>
  ),
});

function NewPermission({ state, frame }: Surroundings) {
  if (!state.mayChange) return '';
  const { entered } = state;
  return (
    <Fold label="New permission" isOpen={entered['action'] === 'create-permission'}>
      <AdminForm state={state} frame={frame} action="create-permission" class="stack narrow">
        <ResourceBox value={entered['resource'] ?? ''} />
        <ActionBox value={entered['right'] ?? 'read'} />
        <PurposeBox value={entered['description'] ?? ''} />
        <button type="submit">Create the permission</button>
      </AdminForm>
    </Fold>
  );
}

function Row({ permission, state, frame }: Surroundings & { permission: PermissionRow }) {
  const { id, resource, action, description, groups } = permission;
  const about = `${action} on ${resourceText(resource)}`;
  return (
    <tr>
      <td safe>{resourceText(resource)}</td>
      <td>
        <span class="kind" safe>
          {action}
        </span>
      </td>
      <td safe>{description ?? ''}</td>
      <td>
        <GroupLinks
          groups={groups}
          moreHref={`${ADMIN_PAGES}/explain?${new URLSearchParams({ resource, right: action })}`}
        />
      </td>
      <td class="acts">
        <WhoMayLink action={action} resource={resource} />
        <AuditLink query={{ q: `permission ${action} on ${resource}` }} about={about} />
        <Act
          state={state}
          frame={frame}
          action="delete-permission"
          label="Delete"
          about={about}
          fields={{ id }}
          asks
        />
      </td>
    </tr>
  );
}

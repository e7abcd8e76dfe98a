/** @jsxImportSource @kitajs/html */
import { type Permission, permissionList } from '../../../accounts/rights/permissions.ts';
import { VERBS } from '../../../accounts/rights/principal.ts';
import {
  createPermission,
  deletePermission,
  groupsThatHold,
  listPermissions,
  readPermission,
} from '../../../operations/accounts/permissions.ts';
import { cell, text } from '../../parts/cells.tsx';
import {
  act,
  ActionBox,
  acts,
  auditLink,
  GroupLinks,
  type GroupName,
  PurposeBox,
  ResourceBox,
  right,
  resourceText,
  whoMayLink,
} from '../cells.tsx';
import { boxValue, List, mapItems, readListing, type Table } from '../list.tsx';
import { adminPage, FoldedForm } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';

const table: Table<Permission & { readonly groups: readonly GroupName[] }> = {
  nouns: ['permission', 'permissions'],
  filters: [
    { name: 'q', label: 'Resource or purpose contains' },
    {
      name: 'right',
      label: 'Right',
      choices: [['', 'All'], ...VERBS.map((verb) => [verb, verb] as const)],
    },
  ],
  empty: 'There are none yet. The page of a group makes them as they are given.',
  wayOn: { label: 'Groups', href: `${ADMIN_PAGES}/groups` },
  columns: [
    text('Resource', ({ resource }) => resourceText(resource), { sort: 'resource' }),
    right('action'),
    text('For', 'description'),
    cell('Held by', ({ resource, action, groups }) => (
      <GroupLinks
        groups={groups}
        moreHref={`${ADMIN_PAGES}/explain?${new URLSearchParams({ resource, right: action })}`}
      />
    )),
    acts(({ id, resource, action }, around) => {
      const about = `${action} on ${resourceText(resource)}`;
      return [
        whoMayLink({ action, resource }),
        auditLink({ q: `permission ${action} on ${resource}` }, about),
        act(around, 'delete-permission', 'Delete', about, { id }),
      ];
    }),
  ],
};

export const permissions = adminPage({
  path: 'permissions',
  summary: 'Manage the permissions',
  title: 'Permissions',
  read: async (context, admin) => {
    const right = boxValue(context, 'right');
    const listing = await readListing<Permission>(context, table, {
      source: permissionList,
      read: listPermissions,
      dataPath: '/admin/permissions',
      search: { q: ['resource', 'description'] },
      parts: [right === '' ? undefined : { action: right }],
    });
    const ids = listing.items.map(({ id }) => id);
    const groups = await groupsThatHold(context.services, admin, ids);
    return {
      listing: mapItems(listing, (one) => ({ ...one, groups: groups.get(one.id) ?? [] })),
    };
  },
  content: ({ listing }, around) => (
    <>
      <FoldedForm
        {...around}
        action="create-permission"
        label="New permission"
        button="Create the permission"
      >
        <ResourceBox value={around.state.entered['resource'] ?? ''} />
        <ActionBox value={around.state.entered['right'] ?? 'read'} />
        <PurposeBox value={around.state.entered['description'] ?? ''} />
      </FoldedForm>
      <List {...{ table, listing, around }} />
    </>
  ),
  actions: {
    'create-permission': {
      done: 'The permission was created. Groups can hold it now.',
      run: async ({ services, admin, field }) => {
        const description = field('description').trim();
        await createPermission(services, admin, {
          resource: field('resource'),
          action: field('right'),
          ...(description !== '' && { description }),
        });
      },
    },
    'delete-permission': {
      done: 'The permission was deleted.',
      asks: async ({ services, admin, id }) => {
        const { id: found, action, resource } = await readPermission(services, admin, id());
        const held = await groupsThatHold(services, admin, [found]);
        const names = (held.get(found) ?? []).map(({ name }) => name).join(', ');
        return {
          title: `Delete the permission ${action} on ${resourceText(resource)}?`,
          effects: [names === '' ? 'No group holds it.' : `These groups lose it: ${names}.`],
          button: 'Delete the permission',
        };
      },
      run: ({ services, admin, id }) => deletePermission(services, admin, id()),
    },
  },
});

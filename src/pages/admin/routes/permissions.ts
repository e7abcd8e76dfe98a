import { type Permission, permissionList } from '../../../accounts/rights/permissions.ts';
import {
  createPermission,
  deletePermission,
  groupsThatHold,
  listPermissions,
  readPermission,
} from '../../../operations/permissions.ts';
import { resourceText } from '../cells.tsx';
import { permissionsPage } from '../permissions.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, containing, readListing } from './page-list.ts';

export const permissionsRoute: Route = adminPageRoute({
  path: 'permissions',
  summary: 'Manage the permissions',
  page: permissionsPage,
  read: async (context, admin) => {
    const { services } = context;
    const right = boxValue(context, 'right');
    const request = {
      boxes: ['q', 'right'],
      parts: [
        containing(boxValue(context, 'q'), 'resource', 'description'),
        right === '' ? undefined : { action: right },
      ],
      source: permissionList,
      dataPath: '/admin/permissions',
    };
    const listing = await readListing<Permission>(context, request, (asked) =>
      listPermissions(services, admin, asked),
    );
    const groups = await groupsThatHold(
      services,
      admin,
      listing.items.map(({ id }) => id),
    );
    const items = listing.items.map((permission) => ({
      ...permission,
      groups: groups.get(permission.id) ?? [],
    }));
    return { listing: { ...listing, items } };
  },
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
        const permission = await readPermission(services, admin, id());
        const held = await groupsThatHold(services, admin, [permission.id]);
        const names = (held.get(permission.id) ?? []).map(({ name }) => name);
        return {
          title: `Delete the permission ${permission.action} on ${resourceText(permission.resource)}?`,
          effects:
            names.length === 0
              ? ['No group holds it.']
              : [`These groups lose it: ${names.join(', ')}.`],
          button: 'Delete the permission',
        };
      },
      run: ({ services, admin, id }) => deletePermission(services, admin, id()),
    },
  },
});

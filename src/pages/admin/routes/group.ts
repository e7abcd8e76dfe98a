import { AppError } from '../../../base/errors.ts';
import {
  addMember,
  deleteGroup,
  type GroupWithUsers,
  grantToGroup,
  listPermissionsOfGroup,
  readGroup,
  removeMember,
  revokeFromGroup,
} from '../../../operations/groups.ts';
import { ensurePermission, readPermission } from '../../../operations/permissions.ts';
import { findUserByName, usernames } from '../../../operations/users.ts';
import { groupPage } from '../group.tsx';
import { ADMIN_PAGES } from '../layout.tsx';
import { resourceText } from '../cells.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute, type Deed } from './admin-page.ts';
import { counted } from './counted.ts';
import { boxHolds, sliceListing } from './page-list.ts';

export const groupRoute: Route = adminPageRoute({
  path: 'groups/{group_id}',
  summary: 'Manage a group',
  page: groupPage,
  read: async (context, admin) => {
    const { services } = context;
    const id = context.intParameter('group_id');
    const { users, ...group } = await readGroup(services, admin, id);
    const rights = await listPermissionsOfGroup(services, admin, id);
    const [isMember, isRight] = [boxHolds(context, 'member'), boxHolds(context, 'held')];
    return {
      group,
      permissions: sliceListing(
        context,
        rights.filter(({ action, resource }) => isRight(resource, action)),
        { part: 'rights', boxes: ['held'], sortBy: { resource: (one) => one.resource } },
      ),
      members: sliceListing(
        context,
        users.filter(({ username }) => isMember(username)),
        { part: 'members', boxes: ['member'], sortBy: { username: (one) => one.username } },
      ),
      usernames: await usernames(services, admin),
    };
  },
  actions: {
    'give-right': {
      done: 'The members have the right now.',
      run: async (deed) => {
        const { services, admin, field } = deed;
        const asked = { resource: field('resource'), action: field('right') };
        const permission = await ensurePermission(services, admin, asked);
        await grantToGroup(services, admin, groupIdOf(deed), permission.id);
      },
    },
    'revoke-right': {
      done: 'The members no longer have the right from this group.',
      asks: async (deed) => {
        const { services, admin } = deed;
        const group = await readGroup(services, admin, groupIdOf(deed));
        const { action, resource } = await readPermission(
          services,
          admin,
          deed.id('permission_id'),
        );
        return {
          title: `Take ${action} on ${resourceText(resource)} from group ${group.name}?`,
          effects: [`${membersLose(group)} it, unless another group gives it.`],
          button: 'Take it away',
        };
      },
      run: (deed) =>
        revokeFromGroup(deed.services, deed.admin, groupIdOf(deed), deed.id('permission_id')),
    },
    'add-member': {
      done: 'The user is a member now.',
      run: async (deed) => {
        const { services, admin, field } = deed;
        const user = await findUserByName(services, admin, field('username'));
        await addMember(services, admin, groupIdOf(deed), user.id);
      },
    },
    'remove-member': {
      done: 'The user is no longer a member.',
      asks: async (deed) => {
        const group = await readGroup(deed.services, deed.admin, groupIdOf(deed));
        const user = group.users.find(({ id }) => id === deed.id('user_id'));
        if (user === undefined) throw new AppError('not-found', 'That user is no member');
        return {
          title: `Remove ${user.username} from group ${group.name}?`,
          effects: [`${user.username} loses the rights that come from ${group.name}.`],
          button: 'Remove',
        };
      },
      run: async (deed) => {
        await removeMember(deed.services, deed.admin, groupIdOf(deed), deed.id('user_id'));
      },
    },
    'delete-group': {
      done: 'The group was deleted.',
      leadsTo: `${ADMIN_PAGES}/groups`,
      asks: async (deed) => {
        const { services, admin } = deed;
        const group = await readGroup(services, admin, groupIdOf(deed));
        const rights = await listPermissionsOfGroup(services, admin, group.id);
        return {
          title: `Delete group ${group.name}?`,
          effects: [
            `${membersLose(group)} the ${counted(rights.length, 'right')} it holds, unless another group gives ${rights.length === 1 ? 'it' : 'them'}.`,
            'This cannot be undone.',
          ],
          button: `Delete group ${group.name}`,
        };
      },
      run: (deed) => deleteGroup(deed.services, deed.admin, groupIdOf(deed)),
    },
  },
});

function membersLose({ users }: GroupWithUsers): string {
  return `${counted(users.length, 'member')} ${users.length === 1 ? 'loses' : 'lose'}`;
}

function groupIdOf({ context }: Deed): number {
  return context.intParameter('group_id');
}

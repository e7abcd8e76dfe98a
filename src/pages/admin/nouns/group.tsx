/** @jsxImportSource @kitajs/html */
import type { Permission } from '../../../accounts/rights/permissions.ts';
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
} from '../../../operations/accounts/groups.ts';
import { ensurePermission, readPermission } from '../../../operations/accounts/permissions.ts';
import { findUserByName, usernames, type UserView } from '../../../operations/accounts/users.ts';
import { text } from '../../parts/cells.tsx';
import {
  act,
  ActionBox,
  acts,
  auditLink,
  ChooseBox,
  counted,
  markedUser,
  ResourceBox,
  right,
  resourceText,
} from '../cells.tsx';
import { boxHolds, List, sliceListing, type Table } from '../list.tsx';
import { AdminForm, adminPage, type Submission } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';

const rightsTable: Table<Permission> = {
  nouns: ['right', 'rights'],
  filters: [{ name: 'held', label: 'Resource contains' }],
  few: 10,
  empty: 'Nothing yet.',
  columns: [
    right(),
    text('Resource', ({ resource }) => resourceText(resource), { sort: 'resource' }),
    acts(({ id, action, resource }, around) => {
      const about = `${action} on ${resourceText(resource)}`;
      return [
        auditLink({ q: `${action} on ${resource}` }, about),
        act(around, 'revoke-right', 'Take away', about, { permission_id: id }),
      ];
    }),
  ],
};

const membersTable = (group: string): Table<UserView> => ({
  nouns: ['member', 'members'],
  filters: [{ name: 'member', label: 'Name contains' }],
  few: 10,
  empty: 'Nobody yet.',
  columns: [
    markedUser('User'),
    acts(({ id, username }, around) => [
      auditLink({ q: `user ${username} ` }, `what happened to ${username}`),
      act(around, 'remove-member', 'Remove', `${username} from ${group}`, { user_id: id }),
    ]),
  ],
});

export const group = adminPage({
  path: 'groups/:group_id',
  name: 'admin-group',
  summary: 'Manage a group',
  trail: [{ label: 'Groups', href: `${ADMIN_PAGES}/groups` }],
  read: async (context, admin) => {
    const { services } = context;
    const id = context.intParameter('group_id');
    const { users, ...found } = await readGroup(services, admin, id);
    const rights = await listPermissionsOfGroup(services, admin, id);
    const [isMember, isRight] = [boxHolds(context, 'member'), boxHolds(context, 'held')];
    return {
      group: found,
      permissions: sliceListing(
        context,
        rightsTable,
        rights.filter(({ action, resource }) => isRight(resource, action)),
        { part: 'rights', sortBy: { resource: (one) => one.resource } },
      ),
      members: sliceListing(
        context,
        membersTable(found.name),
        users.filter(({ username }) => isMember(username)),
        { part: 'members', sortBy: { username: (one) => one.username } },
      ),
      usernames: await usernames(services, admin),
    };
  },
  title: (data) => data.group.name,
  content: ({ group: { name, description }, permissions, members, usernames: names }, around) => (
    <>
      <p>
        <span safe>{description ?? ''}</span> {auditLink({ q: name }, name)}
      </p>
      <section>
        <h2>What its members may do</h2>
        <List table={rightsTable} listing={permissions} around={around} />
        <AdminForm {...around} action="give-right" button="Give the right">
          <ResourceBox value={around.state.entered['resource'] ?? ''} />
          <ActionBox value={around.state.entered['right'] ?? 'read'} />
        </AdminForm>
        {around.state.mayChange && (
          <p class="fine">
            A file is named as in its address, a folder as <code>reports/*</code>, everything as{' '}
            <code>*</code>, an event index as <code>@events/app</code>. Left empty it is the
            document root: <em>write</em> on it allows uploads. <em>write</em> does not include{' '}
            <em>read</em>.
          </p>
        )}
      </section>
      <section>
        <h2>Members</h2>
        <List table={membersTable(name)} listing={members} around={around} />
        <AdminForm {...around} action="add-member" button="Add">
          <ChooseBox
            name="username"
            label="User name"
            names={names}
            source="users"
            value={around.state.entered['username'] ?? ''}
          />
        </AdminForm>
      </section>
      <div class="acts">{act(around, 'delete-group', 'Delete the group', name)}</div>
    </>
  ),
  actions: {
    'give-right': {
      done: 'The members have the right now.',
      run: async (sent) => {
        const { services, admin, field } = sent;
        const asked = { resource: field('resource'), action: field('right') };
        const permission = await ensurePermission(services, admin, asked);
        await grantToGroup(services, admin, groupIdOf(sent), permission.id);
      },
    },
    'revoke-right': {
      done: 'The members no longer have the right from this group.',
      asks: async (sent) => {
        const { services, admin } = sent;
        const found = await readGroup(services, admin, groupIdOf(sent));
        const right = await readPermission(services, admin, sent.id('permission_id'));
        return {
          title: `Take ${right.action} on ${resourceText(right.resource)} from group ${found.name}?`,
          effects: [`${membersLose(found)} it, unless another group gives it.`],
          button: 'Take it away',
        };
      },
      run: (sent) =>
        revokeFromGroup(sent.services, sent.admin, groupIdOf(sent), sent.id('permission_id')),
    },
    'add-member': {
      done: 'The user is a member now.',
      run: async (sent) => {
        const { services, admin, field } = sent;
        const user = await findUserByName(services, admin, field('username'));
        await addMember(services, admin, groupIdOf(sent), user.id);
      },
    },
    'remove-member': {
      done: 'The user is no longer a member.',
      asks: async (sent) => {
        const found = await readGroup(sent.services, sent.admin, groupIdOf(sent));
        const user = found.users.find(({ id }) => id === sent.id('user_id'));
        if (user === undefined) throw new AppError('not-found', 'That user is no member');
        return removalQuestion(user.username, found.name);
      },
      run: async (sent) => {
        await removeMember(sent.services, sent.admin, groupIdOf(sent), sent.id('user_id'));
      },
    },
    'delete-group': {
      done: 'The group was deleted.',
      leadsTo: `${ADMIN_PAGES}/groups`,
      asks: async (sent) => {
        const { services, admin } = sent;
        const found = await readGroup(services, admin, groupIdOf(sent));
        const rights = await listPermissionsOfGroup(services, admin, found.id);
        const it = rights.length === 1 ? 'it' : 'them';
        return {
          title: `Delete group ${found.name}?`,
          effects: [
            `${membersLose(found)} the ${counted(rights.length, 'right')} it holds, unless another group gives ${it}.`,
            'This cannot be undone.',
          ],
          button: `Delete group ${found.name}`,
        };
      },
      run: (sent) => deleteGroup(sent.services, sent.admin, groupIdOf(sent)),
    },
  },
});

export function removalQuestion(username: string, groupName: string) {
  return {
    title: `Remove ${username} from group ${groupName}?`,
    effects: [`${username} loses the rights that come from ${groupName}.`],
    button: 'Remove',
  };
}

function membersLose({ users }: GroupWithUsers): string {
  return `${counted(users.length, 'member')} ${users.length === 1 ? 'loses' : 'lose'}`;
}

function groupIdOf({ context }: Submission): number {
  return context.intParameter('group_id');
}

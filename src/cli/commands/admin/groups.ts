import type { Group } from '../../../accounts/rights/groups.ts';
import type { Permission } from '../../../accounts/rights/permissions.ts';
import type { UserView } from '../../../operations/users.ts';
import {
  checkedFlag,
  describeAdmin,
  everything,
  permissionText,
  required,
  requireGroupNamed,
  requireUserNamed,
  withAccounts,
} from '../../administration.ts';
import { AppError } from '../../../base/errors.ts';
import type { Command, Invocation } from '../../command.ts';
import { plain } from '../../text-table.ts';
import { describeJson, printAnswer } from '../../json-output.ts';

interface GroupDetails extends Group {
  readonly permissions: readonly Permission[];
  readonly users: readonly UserView[];
}

export const listGroups: Command = {
  name: 'list-groups',
  summary: 'List the groups with their permissions and members.',
  describe: (parser) => {
    describeAdmin(parser);
    describeJson(parser);
  },
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const groups = await import('../../../operations/groups.ts');
      const items = await everything<Group>((query) =>
        groups.listGroups(accounts, operator, { query }),
      );
      const details: GroupDetails[] = [];
      for (const { id } of items) {
        const group = await groups.readGroup(accounts, operator, id);
        const permissions = await groups.listPermissionsOfGroup(accounts, operator, id);
        details.push({ ...group, permissions });
      }
      printAnswer(invocation, details, (found) =>
        found.length === 0 ? 'No groups.\n' : found.map(groupText).join(''),
      );
      return 0;
    }),
};

function groupText({ name, description, permissions, users }: GroupDetails): string {
  const listed = (texts: readonly string[]) => plain(texts.join(', ')) || '-';
  return [
    description === null || description === '' ? plain(name) : plain(`${name}: ${description}`),
    `  permissions: ${listed(permissions.map(permissionText))}`,
    `  members: ${listed(users.map(({ username }) => username))}`,
    '',
  ].join('\n');
}

export const createGroup: Command = {
  name: 'create-group',
  summary: 'Create a group.',
  describe: (parser) => {
    describeName(parser);
    parser.option('--description <text>', 'What it is for.');
  },
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const groups = await import('../../../operations/groups.ts');
      const { checkGroupName, findGroup } = await import('../../../accounts/rights/groups.ts');
      const name = await checkedFlag('--name', () => checkGroupName(required(invocation, 'name')));
      if ((await findGroup(accounts.db, name)) !== null) {
        throw new AppError('conflict', `Group '${name}' already exists`);
      }
      const description = invocation.options['description'] ?? null;
      const group = await checkedFlag('--description', () =>
        groups.createGroup(accounts, operator, { name, description }),
      );
      invocation.outside.out(`Created group '${group.name}'\n`);
      return 0;
    }),
};

export const deleteGroup: Command = {
  name: 'delete-group',
  summary: 'Delete a group; its members lose what it gave them.',
  describe: describeName,
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const groups = await import('../../../operations/groups.ts');
      const { id, name } = await requireGroupNamed(accounts, required(invocation, 'name'));
      await groups.deleteGroup(accounts, operator, id);
      invocation.outside.out(`Deleted group '${name}'\n`);
      return 0;
    }),
};

export const addToGroup: Command = {
  name: 'add-to-group',
  summary: 'Make a user a member of a group.',
  describe: describeMembership,
  run: async (invocation) => {
    const { isChanged, user, group } = await setMembership(invocation, true);
    invocation.outside.out(
      isChanged
        ? `Added '${user}' to group '${group}'\n`
        : `'${user}' is already a member of group '${group}'\n`,
    );
    return 0;
  },
};

export const removeFromGroup: Command = {
  name: 'remove-from-group',
  summary: 'Take a user out of a group.',
  describe: describeMembership,
  run: async (invocation) => {
    const { isChanged, user, group } = await setMembership(invocation, false);
    invocation.outside.out(
      isChanged
        ? `Removed '${user}' from group '${group}'\n`
        : `'${user}' is not a member of group '${group}'\n`,
    );
    return 0;
  },
};

async function setMembership(
  invocation: Invocation,
  isMember: boolean,
): Promise<{ isChanged: boolean; user: string; group: string }> {
  const { addMember, removeMember } = await import('../../../operations/groups.ts');
  return withAccounts(invocation, async (accounts, operator) => {
    const user = await requireUserNamed(accounts, required(invocation, 'username'));
    const group = await requireGroupNamed(accounts, required(invocation, 'group'));
    const change = isMember ? addMember : removeMember;
    const isChanged = await change(accounts, operator, group.id, user.id);
    return { isChanged, user: user.username, group: group.name };
  });
}

function describeName(parser: Parameters<Command['describe']>[0]): void {
  describeAdmin(parser);
  parser.requiredOption('--name <name>', 'Name of the group (required).');
}

function describeMembership(parser: Parameters<Command['describe']>[0]): void {
  describeAdmin(parser);
  parser
    .requiredOption('--username <name>', 'Name of the user (required).')
    .requiredOption('--group <name>', 'Name of the group (required).');
}

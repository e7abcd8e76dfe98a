import { checkGroupName, findGroup, type Group } from '../../../accounts/rights/groups.ts';
import type { Permission } from '../../../accounts/rights/permissions.ts';
import { AppError } from '../../../base/errors.ts';
import * as operations from '../../../operations/accounts/groups.ts';
import { type AdminCall, type AdminWork, onAccounts } from '../../administration.ts';
import {
  checkedFlag,
  everything,
  permissionText,
  requireGroupNamed,
  requireUserNamed,
} from './named.ts';
import { answerText, plain } from '../../printer.ts';

interface GroupDetails extends operations.GroupWithUsers {
  readonly permissions: readonly Permission[];
}

const listGroups: AdminWork = async ({ accounts, operator, invocation }) => {
  const items = await everything<Group>((query) =>
    operations.listGroups(accounts, operator, { query }),
  );
  const details: GroupDetails[] = [];
  for (const { id } of items) {
    const group = await operations.readGroup(accounts, operator, id);
    const permissions = await operations.listPermissionsOfGroup(accounts, operator, id);
    details.push({ ...group, permissions });
  }
  return answerText(invocation, details, () => details.map(groupText).join('') || 'No groups.\n');
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

const createGroup: AdminWork = async ({ accounts, operator, invocation, text }) => {
  const name = await checkedFlag('--name', () => checkGroupName(text('name')));
  if ((await findGroup(accounts.db, name)) !== null) {
    throw new AppError('conflict', `Group '${name}' already exists`);
  }
  const description = invocation.options['description'] ?? null;
  const group = await checkedFlag('--description', () =>
    operations.createGroup(accounts, operator, { name, description }),
  );
  return `Created group '${group.name}'\n`;
};

const deleteGroup: AdminWork = async ({ accounts, operator, text }) => {
  const { id, name } = await requireGroupNamed(accounts, text('name'));
  await operations.deleteGroup(accounts, operator, id);
  return `Deleted group '${name}'\n`;
};

const addToGroup: AdminWork = async (call) => {
  const { isChanged, user, group } = await change(call, operations.addMember);
  return isChanged
    ? `Added '${user}' to group '${group}'\n`
    : `'${user}' is already a member of group '${group}'\n`;
};

const removeFromGroup: AdminWork = async (call) => {
  const { isChanged, user, group } = await change(call, operations.removeMember);
  return isChanged
    ? `Removed '${user}' from group '${group}'\n`
    : `'${user}' is not a member of group '${group}'\n`;
};

async function change({ accounts, operator, text }: AdminCall, make: typeof operations.addMember) {
  const user = await requireUserNamed(accounts, text('username'));
  const group = await requireGroupNamed(accounts, text('group'));
  const isChanged = await make(accounts, operator, group.id, user.id);
  return { isChanged, user: user.username, group: group.name };
}

export const groups = onAccounts({
  'list-groups': listGroups,
  'create-group': createGroup,
  'delete-group': deleteGroup,
  'add-to-group': addToGroup,
  'remove-from-group': removeFromGroup,
});

import { checkUsername, findUser } from '../../../accounts/identity/users.ts';
import { AppError } from '../../../base/errors.ts';
import { resetFactorsOf } from '../../../operations/accounts/second-factors.ts';
import * as operations from '../../../operations/accounts/users.ts';
import { type AdminCall, type AdminWork, onAccounts } from '../../administration.ts';
import { newPassword } from '../../password-prompt.ts';
import { checkedFlag, everything, requireUserNamed } from './named.ts';
import { answerText, plain } from '../../printer.ts';

const listUsers: AdminWork = async ({ accounts, operator, invocation }) => {
  const items = await everything<operations.UserView>((query) =>
    operations.listUsers(accounts, operator, { query }),
  );
  return answerText(invocation, items, () => items.map(userLine).join('') || 'No users.\n');
};

function userLine({ username, is_superuser, is_active }: operations.UserView): string {
  const traits = [...(is_superuser ? ['superuser'] : []), is_active ? 'active' : 'inactive'];
  return `${plain(username)} (${traits.join(', ')})\n`;
}

const createUser: AdminWork = async (call) =>
  `Created user '${await makeUser(call, call.invocation.options['superuser'] === true)}'\n`;

const createSuperuser: AdminWork = async (call) =>
  `Created superuser '${await makeUser(call, true)}'\n`;

async function makeUser(
  { accounts, operator, invocation, text }: AdminCall,
  isSuperuser: boolean,
): Promise<string> {
  const { options, outside } = invocation;
  const username = await checkedFlag('--username', () => checkUsername(text('username')));
  // Before asking for the password, so that nobody types one in vain.
  if ((await findUser(accounts.db, username)) !== null) {
    throw new AppError('conflict', `User '${username}' already exists`);
  }
  const password = await newPassword({ username, options, input: outside.input });
  const body = { username, password, is_superuser: isSuperuser };
  return (await operations.createUser(accounts, operator, body, { acceptsWeak: true })).username;
}

const deleteUser: AdminWork = async ({ accounts, operator, text }) => {
  const { id, username } = await requireUserNamed(accounts, text('username'));
  await operations.deleteUser(accounts, operator, id);
  return `Deleted user '${username}'\n`;
};

const changePassword: AdminWork = async ({ accounts, operator, invocation, text }) => {
  const { options, outside } = invocation;
  const { id, username } = await requireUserNamed(accounts, text('username'));
  const readBody = async () => ({
    new_password: await newPassword({ username, options, input: outside.input }),
  });
  await operations.resetPassword(accounts, operator, id, readBody, { acceptsWeak: true });
  return `Changed password for '${username}'\n`;
};

const activateUser: AdminWork = async (call) =>
  `Activated user '${(await setStatus(call, true)).username}'\n`;

const deactivateUser: AdminWork = async (call) => {
  const { username, ended } = await setStatus(call, false);
  return `Deactivated user '${username}' (${ended} session(s) revoked)\n`;
};

const resetFactors: AdminWork = async ({ accounts, operator, text }) => {
  const { id, username } = await requireUserNamed(accounts, text('username'));
  const count = await resetFactorsOf(accounts, operator, id);
  return `Removed ${count} second factor(s) of '${username}'\n`;
};

async function setStatus({ accounts, operator, text }: AdminCall, isActive: boolean) {
  const { id, username } = await requireUserNamed(accounts, text('username'));
  const body = async () => ({ is_active: isActive });
  const { sessions_revoked: ended } = await operations.setUserStatus(accounts, operator, id, body);
  return { username, ended };
}

export const users = onAccounts({
  'list-users': listUsers,
  'create-user': createUser,
  'create-superuser': createSuperuser,
  'delete-user': deleteUser,
  'change-password': changePassword,
  'activate-user': activateUser,
  'deactivate-user': deactivateUser,
  'reset-second-factors': resetFactors,
});

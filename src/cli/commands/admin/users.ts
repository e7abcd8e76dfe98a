import type { UserView } from '../../../operations/users.ts';
import {
  checkedFlag,
  describeAdmin,
  everything,
  required,
  requireUserNamed,
  withAccounts,
} from '../../administration.ts';
import { AppError } from '../../../base/errors.ts';
import type { Command, Invocation } from '../../command.ts';
import { describePassword, newPassword } from '../../password-prompt.ts';
import { plain } from '../../text-table.ts';
import { describeJson, printAnswer } from '../../json-output.ts';

export const listUsers: Command = {
  name: 'list-users',
  summary: 'List the users.',
  describe: (parser) => {
    describeAdmin(parser);
    describeJson(parser);
  },
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const users = await import('../../../operations/users.ts');
      const items = await everything<UserView>((query) =>
        users.listUsers(accounts, operator, { query }),
      );
      printAnswer(invocation, items, (found) =>
        found.length === 0 ? 'No users.\n' : found.map(userLine).join(''),
      );
      return 0;
    }),
};

function userLine({ username, is_superuser, is_active }: UserView): string {
  const traits = [...(is_superuser ? ['superuser'] : []), is_active ? 'active' : 'inactive'];
  return `${plain(username)} (${traits.join(', ')})\n`;
}

export const createUser: Command = {
  name: 'create-user',
  summary: 'Create a user.',
  describe: (parser) => {
    describeUser(parser);
    parser.option('--superuser', 'The user may do everything.');
    describePassword(parser);
  },
  run: async (invocation) => {
    const isSuperuser = invocation.options['superuser'] === true;
    invocation.outside.out(`Created user '${await makeUser(invocation, isSuperuser)}'\n`);
    return 0;
  },
};

export async function makeUser(invocation: Invocation, isSuperuser: boolean): Promise<string> {
  const { options, outside } = invocation;
  const { checkUsername, findUser } = await import('../../../accounts/identity/users.ts');
  const { createUser: create } = await import('../../../operations/users.ts');
  const username = await checkedFlag('--username', () =>
    checkUsername(required(invocation, 'username')),
  );
  return withAccounts(invocation, async (accounts, operator) => {
    // Before asking for the password, so that nobody types one in vain.
    if ((await findUser(accounts.db, username)) !== null) {
      throw new AppError('conflict', `User '${username}' already exists`);
    }
    const password = await newPassword({ username, options, input: outside.input });
    const body = { username, password, is_superuser: isSuperuser };
    return (await create(accounts, operator, body, { acceptsWeak: true })).username;
  });
}

export const deleteUser: Command = {
  name: 'delete-user',
  summary: 'Delete a user with his sessions, keys and memberships.',
  describe: describeUser,
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const users = await import('../../../operations/users.ts');
      const { id, username } = await requireUserNamed(accounts, required(invocation, 'username'));
      await users.deleteUser(accounts, operator, id);
      invocation.outside.out(`Deleted user '${username}'\n`);
      return 0;
    }),
};

export const changePassword: Command = {
  name: 'change-password',
  summary: 'Give a user a new password and end his sessions.',
  describe: (parser) => {
    describeUser(parser);
    describePassword(parser);
  },
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const { options, outside } = invocation;
      const { resetPassword } = await import('../../../operations/users.ts');
      const { id, username } = await requireUserNamed(accounts, required(invocation, 'username'));
      const readBody = async () => ({
        new_password: await newPassword({ username, options, input: outside.input }),
      });
      await resetPassword(accounts, operator, id, readBody, { acceptsWeak: true });
      outside.out(`Changed password for '${username}'\n`);
      return 0;
    }),
};

export const activateUser: Command = {
  name: 'activate-user',
  summary: 'Let a deactivated user in again.',
  describe: describeUser,
  run: async (invocation) => {
    const { username } = await setStatus(invocation, true);
    invocation.outside.out(`Activated user '${username}'\n`);
    return 0;
  },
};

export const deactivateUser: Command = {
  name: 'deactivate-user',
  summary: 'Keep a user out and end his sessions; his keys stay stored.',
  describe: describeUser,
  run: async (invocation) => {
    const { username, ended } = await setStatus(invocation, false);
    invocation.outside.out(`Deactivated user '${username}' (${ended} session(s) revoked)\n`);
    return 0;
  },
};

async function setStatus(
  invocation: Invocation,
  isActive: boolean,
): Promise<{ username: string; ended: number }> {
  const { setUserStatus } = await import('../../../operations/users.ts');
  return withAccounts(invocation, async (accounts, operator) => {
    const { id, username } = await requireUserNamed(accounts, required(invocation, 'username'));
    const body = async () => ({ is_active: isActive });
    const { sessions_revoked: ended } = await setUserStatus(accounts, operator, id, body);
    return { username, ended };
  });
}

function describeUser(parser: Parameters<Command['describe']>[0]): void {
  describeAdmin(parser);
  parser.requiredOption('--username <name>', 'Name of the user (required).');
}

/** `svc addsuperuser`: works while a server runs. Fails when the name is taken. */
import { adminCommand, withAccounts } from '../administration.ts';
import type { Command } from '../command.ts';
import { PASSWORD_FLAGS } from '../password-prompt.ts';

export const addsuperuser: Command = adminCommand(
  'addsuperuser',
  'Create a user who may do everything.',
  async () => {
    const { users } = await import('./admin/users.ts');
    return (invocation) => withAccounts(invocation, users['create-superuser']);
  },
  [['--username <name>', 'Name of the new user (required).'], ...PASSWORD_FLAGS],
);

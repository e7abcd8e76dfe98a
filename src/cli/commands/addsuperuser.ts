/** `svc addsuperuser`: the first account, or another one with every right; works while a server runs (DS-200). */
import { AppError } from '../../base/errors.ts';
import type { Command } from '../command.ts';
import { commandLog, describeConfiguration, loadInvocation } from '../configuration.ts';
import { describePassword, newPassword } from '../password-prompt.ts';

/** Creates an active superuser; exit 1 when the name is taken. */
export const addsuperuser: Command = {
  name: 'addsuperuser',
  summary: 'Create a user who may do everything.',
  describe: (parser) => {
    describeConfiguration(parser);
    parser.requiredOption('--username <name>', 'Name of the new user (required).');
    describePassword(parser);
  },
  run: async (invocation) => {
    const { outside, options } = invocation;
    const { config } = await loadInvocation(invocation);
    const { checkUsername, createUser, findUser } = await import('../../auth/users.ts');
    const { hashPassword } = await import('../../auth/passwords.ts');
    const { openAccounts } = await import('../../app.ts');
    const username = checkedFlag('--username', () => checkUsername(String(options['username'])));
    const accounts = await openAccounts(config, commandLog(config, outside));
    try {
      const taken = new AppError('conflict', `User '${username}' already exists`);
      // Asked before the password is, so that nobody types one in vain.
      if ((await findUser(accounts.db, username)) !== null) throw taken;
      const password = await newPassword({ username, options, input: outside.input });
      const passwordHash = await hashPassword(password);
      const user = await createUser(accounts.db, {
        username,
        passwordHash,
        isSuperuser: true,
        now: Date.now(),
      });
      await accounts.audit.record({
        userId: null,
        action: 'create_user',
        resource: 'user',
        details: `Created user ${user.username}`,
        ipAddress: null,
      });
      outside.out(`Created superuser '${user.username}'\n`);
      return 0;
    } finally {
      await accounts.close();
    }
  },
};

/** The result of `check`, with what it refuses reported as a wrong flag. */
function checkedFlag<T>(flag: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof AppError) throw new AppError('usage', `${flag}: ${error.message}`);
    throw error;
  }
}

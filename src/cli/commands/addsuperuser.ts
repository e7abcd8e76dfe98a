/** `svc addsuperuser`: the first account, or another one with every right; works while a server runs (DS-200). */
import type { Command } from '../command.ts';
import { describeConfiguration } from '../configuration.ts';
import { describePassword } from '../password-prompt.ts';
import { makeUser } from './admin/users.ts';

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
    invocation.outside.out(`Created superuser '${await makeUser(invocation, true)}'\n`);
    return 0;
  },
};

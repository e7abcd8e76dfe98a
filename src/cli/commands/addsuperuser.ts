/** `svc addsuperuser`: works while a server runs. Fails when the name is taken. */
import type { Command } from '../command.ts';
import { describeConfiguration } from '../configuration.ts';
import { describePassword } from '../password-prompt.ts';
import { makeUser } from './admin/users.ts';

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

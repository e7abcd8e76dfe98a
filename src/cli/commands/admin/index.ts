import {
  type Command,
  command,
  type Flag,
  JSON_FLAG,
  ROOT_FLAG,
  type Work,
} from '../../command.ts';
import { describeConfiguration } from '../../configuration.ts';
import { PASSWORD_FLAGS } from '../../password-prompt.ts';

/** Commands by the works of a module. */
function commandsOf<Name extends string>(load: () => Promise<Readonly<Record<Name, Work>>>) {
  return (name: Name, summary: string, ...flags: readonly Flag[]): Command =>
    command(
      name,
      summary,
      async () => (await load())[name],
      describeConfiguration,
      ROOT_FLAG,
      ...flags,
    );
}

const users = commandsOf(async () => (await import('./users.ts')).users);
const groups = commandsOf(async () => (await import('./groups.ts')).groups);
const permissions = commandsOf(async () => (await import('./permissions.ts')).permissions);
const apiKeys = commandsOf(async () => (await import('./api-keys.ts')).apiKeys);
const links = commandsOf(async () => (await import('./links.ts')).links);
const files = commandsOf(async () => (await import('./files.ts')).files);
const creation = commandsOf(async () => (await import('./create-permissions.ts')).creation);

const alerts = commandsOf(async () => (await import('./alerts.ts')).alerts);
const findings = commandsOf(async () => (await import('./findings.ts')).findings);

const USER: Flag = ['--username <name>', 'Name of the user (required).'];
const NAME: Flag = ['--name <name>', 'Name of the group (required).'];
const GROUP: Flag = ['--group <name>', 'Name of the group (required).'];
const RESOURCE: Flag = [
  '--resource <name>',
  'A resource, a pattern such as reports/*, * for all, or __root__ for uploads (required).',
];
const ACTION: Flag = ['--action <verb>', 'read or write (required).'];
const ALERT: Flag = ['--id <id>', 'Number of the alert (required).'];
const FINDING: Flag = ['--id <id>', 'Number of the finding (required).'];
const DESCRIPTION: Flag = ['--description <text>', 'What it is for.'];

export const admin: Command = {
  name: 'admin',
  summary: 'Administer users, groups and rights.',
  describe: (parser) => {
    parser.addHelpText(
      'after',
      '\nEvery command takes [root] or --root <path>, --config <file> and --state-dir <path>, and\n' +
        'works while a server runs: what it changes takes effect at once.',
    );
  },
  commands: [
    users('list-users', 'List the users.', JSON_FLAG),
    users(
      'create-user',
      'Create a user.',
      USER,
      ['--superuser', 'The user may do everything.'],
      ...PASSWORD_FLAGS,
    ),
    users('delete-user', 'Delete a user with his sessions, keys and memberships.', USER),
    users(
      'change-password',
      'Give a user a new password and end his sessions.',
      USER,
      ...PASSWORD_FLAGS,
    ),
    users('activate-user', 'Let a deactivated user in again.', USER),
    users('deactivate-user', 'Keep a user out and end his sessions; his keys stay stored.', USER),
    users('reset-second-factors', 'Remove the second factors of a user who has lost them.', USER),
    groups('list-groups', 'List the groups with their permissions and members.', JSON_FLAG),
    groups('create-group', 'Create a group.', NAME, DESCRIPTION),
    groups('delete-group', 'Delete a group; its members lose what it gave them.', NAME),
    groups('add-to-group', 'Make a user a member of a group.', USER, GROUP),
    groups('remove-from-group', 'Take a user out of a group.', USER, GROUP),
    permissions('list-permissions', 'List the permissions.', JSON_FLAG),
    creation(
      'create-permissions',
      'Create read and write permissions on resources, and groups that hold them.',
      ['[resources...]', 'Names of resources, or __all__ for all there are.'],
      ['--all-group <name>', 'Start of the name of the group with every right.', 'all_resources'],
      ['--read-group <name>', 'Start of the name of the group that reads.', 'read_resources'],
    ),
    permissions('delete-permission', 'Delete a permission everywhere.', RESOURCE, ACTION),
    permissions(
      'grant',
      'Give a group a permission, which is made when there is none.',
      RESOURCE,
      ACTION,
      GROUP,
    ),
    permissions('revoke', 'Take a permission from a group.', RESOURCE, ACTION, GROUP),
    files(
      'explain',
      'Say why a user may or may not read or write something.',
      RESOURCE,
      ACTION,
      USER,
      ['--key-id <id>', 'Ask for a request with this API key of the user.'],
      JSON_FLAG,
    ),
    apiKeys(
      'list-api-keys',
      'List the API keys of all users, or of one.',
      ['--username <name>', 'Only those of this user.'],
      JSON_FLAG,
    ),
    apiKeys(
      'create-api-key',
      'Create an API key for a user; only its value is printed, and only here.',
      ['--username <name>', 'Name of the owner (required).'],
      DESCRIPTION,
      ['--expires-in-days <days>', '1 to 365; without it the key never expires.'],
      ['--scope <scope...>', 'Limit it: read, write, read:<pattern> or write:<pattern>.'],
      JSON_FLAG,
    ),
    apiKeys('revoke-api-key', 'Revoke an API key.', [
      '--id <id>',
      'Number of the key, see list-api-keys (required).',
    ]),
    links('list-links', 'List the links that open something to whoever has them.', JSON_FLAG),
    links('revoke-link', 'Withdraw a link.', [
      '--id <id>',
      'Number of the link, see list-links (required).',
    ]),
    {
      name: 'alerts',
      summary: 'List, show, run, approve and switch alerts.',
      describe: () => undefined,
      commands: [
        alerts('list', 'List the alerts.', JSON_FLAG),
        alerts('show', 'Show an alert with its last runs.', ALERT, JSON_FLAG),
        alerts('run', 'Let the running server run an alert now.', ALERT, JSON_FLAG),
        alerts('approve', "Let a file's alert run with the rights of a user.", ALERT, USER),
        alerts('enable', 'Turn an alert on.', ALERT),
        alerts('disable', 'Turn an alert off.', ALERT),
      ],
      run: async () => 2,
    },
    {
      name: 'findings',
      summary: 'List, show and change what alerts found.',
      describe: () => undefined,
      commands: [
        findings(
          'list',
          'List findings, those seen last first.',
          ['--status <words>', 'Only of this status, or open; several with commas.'],
          ['--severity <words>', 'Only of this severity; several with commas.'],
          ['--owner <name>', "Only of this user; '' for those of nobody."],
          ['--search <words>', 'Words that alert, key or notes hold.'],
          JSON_FLAG,
        ),
        findings('show', 'Show a finding with its rows and its history.', FINDING, JSON_FLAG),
        findings(
          'set',
          'Change findings, all of them or none.',
          ['--id <numbers>', 'Numbers of the findings, with commas (required).'],
          ['--status <word>', 'new, in progress, resolved or false alarm.'],
          ['--severity <word>', 'info, low, medium, high or critical.'],
          ['--owner <name>', "User who works on it; '' for nobody."],
          ['--notes <text>', 'Notes in place of those there are.'],
          JSON_FLAG,
        ),
      ],
      run: async () => 2,
    },
    files(
      'list-resources',
      'List the published resources by the names permissions give them.',
      JSON_FLAG,
    ),
  ],
  run: async () => 2,
};

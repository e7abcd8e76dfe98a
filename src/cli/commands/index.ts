/** In the order of the help. */
import type { Command as Parser } from 'commander';
import { version as build } from '../../base/version.ts';
import { type Command, command, JSON_FLAG, ROOT_FLAG } from '../command.ts';
import { describeConfiguration } from '../configuration.ts';
import { PASSWORD_FLAGS } from '../password-prompt.ts';
import { admin } from './admin/index.ts';

export const versionLine = `svc ${build}`;

const EVENT_COMMANDS: readonly Command[] = [
  command(
    'prune',
    'Delete old events by the rules of retention, or those that are selected.',
    async () => (await import('./events/prune.ts')).prune,
    describeConfiguration,
    ['--dry-run', 'Delete nothing; print what would go.'],
    ['--index <name>', 'Only events of this index, whatever the rules say.'],
    ['--older-than <days>', 'Only events older than this, such as 30d.'],
    ['--query <query>', "Only events that match, such as 'host=a | where status>499'."],
    ['--yes', 'Do not ask.'],
    JSON_FLAG,
  ),
  command(
    'import',
    'Import files of events: NDJSON or plain lines, also .gz and .zst.',
    async () => (await import('./events/import.ts')).importEvents,
    describeConfiguration,
    ['[files...]', 'Files to import, in this order; `-` for standard input.'],
    ROOT_FLAG,
    ['--index <name>', 'Index of events that name none.'],
    ['--sourcetype <name>', 'Sourcetype of events that name none.'],
    ['--source <name>', 'Source of events that name none.'],
    ['--host <name>', 'Host of events that name none.'],
    ['--lines', 'Every line is the data of an event.'],
    ['--resume', 'Go on behind the last line of each file that was stored.'],
  ),
  command(
    'explain',
    'Show the format, time, host and fields that would be found in lines.',
    async () => (await import('./events/explain.ts')).explain,
    describeConfiguration,
    ['[file]', 'A file with lines; standard input unless given.'],
    ROOT_FLAG,
    ['--sourcetype <name>', 'Sourcetype the lines would have.'],
    JSON_FLAG,
  ),
  command(
    'compact',
    'Give the space of deleted events of a large old store back to the disk.',
    async () => (await import('./events/compact.ts')).compact,
    describeConfiguration,
    JSON_FLAG,
  ),
  command(
    'stats',
    'Show the event indexes and their sizes.',
    async () => (await import('./events/stats.ts')).stats,
    describeConfiguration,
    JSON_FLAG,
  ),
];

const COMPANION_COMMANDS: readonly Command[] = [
  command(
    'show',
    'Show options and schema of a dataset.',
    async () => (await import('./companion.ts')).showCompanions,
    describeConfiguration,
    ['[dataset]', 'Its name; with one argument only, that one.'],
    ROOT_FLAG,
  ),
  command(
    'set',
    'Say how the file of a dataset is read.',
    async () => (await import('./companion.ts')).setCompanions,
    describeConfiguration,
    ['[dataset]', 'Its name; with one argument only, that one.'],
    ROOT_FLAG,
    [
      '--encoding <name>',
      'utf-8, utf-16le, utf-16be, latin1, windows-1252, cp850, windows-1250, windows-1251, iso-8859-2 or macintosh.',
    ],
    ['--delimiter <character>', 'A comma, semicolon, bar, or `tab`.'],
    ['--header-row <line>', 'Line or row with the names of the columns.'],
    ['--range <cells>', 'Of a worksheet: C3:F20, or C3 where the table begins.'],
    ['--options <json>', 'All options: a JSON object, a file with one, or null for none.'],
    ['--schema <json>', 'Types of columns: a JSON object, a file with one, or null for none.'],
  ),
  command(
    'remove',
    'Delete options and schema of a dataset.',
    async () => (await import('./companion.ts')).removeCompanions,
    describeConfiguration,
    ['[dataset]', 'Its name; with one argument only, that one.'],
    ROOT_FLAG,
  ),
];

const child = command(
  'child',
  'Worker process of a running server.',
  async () => {
    const { runWorker } = await import('../../workers.ts');
    return async ({ positionals: [role = '', socket = ''] }) => {
      await runWorker(role, socket);
      return 0;
    };
  },
  ['<role>', 'What the worker does.'],
  ['<socket>', 'Unix socket to answer on.'],
);

export const commands: readonly Command[] = [
  command(
    'serve',
    'Publish a folder (the default command).',
    async () => (await import('./serve.ts')).serve,
    (parser) => describeConfiguration(parser, 'serve'),
    ['--reload', 'Restart when the configuration file changes.'],
  ),
  command(
    'check',
    'Check the configuration, published files, history, audit and events.',
    async () => (await import('./check.ts')).check,
    describeConfiguration,
    JSON_FLAG,
  ),
  command(
    'config',
    'Show the effective configuration and where each value comes from.',
    async () => (await import('./config.ts')).showConfig,
    describeConfiguration,
    JSON_FLAG,
  ),
  command(
    'addsuperuser',
    'Create a user who may do everything.',
    async () => (await import('./admin/users.ts')).users['create-superuser'],
    describeConfiguration,
    ['--username <name>', 'Name of the new user (required).'],
    ...PASSWORD_FLAGS,
  ),
  admin,
  command(
    'backup',
    'Write accounts, rights, audit and events into one archive.',
    async () => (await import('./backup.ts')).backup,
    ['<file>', 'Archive to write, such as svc-backup.tar.gz; - for standard output.'],
    describeConfiguration,
    ['--with-docroot', 'Include every file of the document root.'],
  ),
  command(
    'restore',
    'Put a backup in place; no server may run there.',
    async () => (await import('./restore.ts')).restore,
    ['<file>', 'Archive that svc backup wrote; - for standard input.'],
    describeConfiguration,
    ['--force', 'Move aside what is there already.'],
  ),
  {
    name: 'events',
    summary: 'Look after stored events.',
    describe: (parser) => {
      parser.addHelpText('after', '\nEvery command works while a server runs.');
    },
    commands: EVENT_COMMANDS,
    run: async () => 2,
  },
  {
    name: 'companion',
    summary: 'Say how the file of a dataset is read.',
    describe: (parser) => {
      parser.addHelpText('after', '\nEvery command works while a server runs.');
    },
    commands: COMPANION_COMMANDS,
    run: async () => 2,
  },
  command(
    'history',
    'Show what was done to a dataset or file, the newest first.',
    async () => (await import('./history.ts')).showHistory,
    describeConfiguration,
    ['[name]', 'Of a dataset or file; with one argument only, that one.'],
    ROOT_FLAG,
    ['--limit <number>', 'Changes shown; 50 unless set.'],
    JSON_FLAG,
  ),
  command(
    'restore-version',
    'Make a dataset or file what it was.',
    async () => (await import('./history.ts')).restoreVersion,
    describeConfiguration,
    ['[name]', 'Of a dataset or file; with one argument only, that one.'],
    ROOT_FLAG,
    ['--to <version>', 'As right after this change, or at this time: 41, 2026-11-20T10:00:00Z.'],
    ['--skip-conflicts', 'Leave rows as they are that were changed since.'],
  ),
  command(
    'list-endpoints',
    'List the addresses of the published files.',
    async () => (await import('./list-endpoints.ts')).listEndpoints,
    describeConfiguration,
    JSON_FLAG,
  ),
  command(
    'reindex',
    'Bring the search index up to date.',
    async () => (await import('./reindex.ts')).reindex,
    describeConfiguration,
    ['--force', 'Read everything again, changed or not.'],
  ),
  command(
    'search',
    'Run a query over events and datasets.',
    async () => (await import('./search.ts')).search,
    describeConfiguration,
    ['[query]', 'The query; with one argument only, that one is the query.'],
    ['--as <user>', 'Search with the rights of this user; else those of a superuser.'],
    ['--json', 'Print the whole answer as JSON.'],
    ['--csv', 'Print the rows as CSV.'],
    describeParameters,
    ['--timezone <zone>', 'Zone of days and of times without offset: UTC, +02:00, Europe/Vienna.'],
    (parser) => {
      parser
        .helpOption(false)
        .option('-h, --help [command]', 'Show this help, or what a command of the language does.');
    },
  ),
  command(
    'sql',
    'Run a statement of SQL over datasets.',
    async () => (await import('./search.ts')).sql,
    describeConfiguration,
    ['[query]', 'The statement; with one argument only, that one is the statement.'],
    ['--as <user>', 'Read with the rights of this user; else those of a superuser.'],
    [
      '--format <format>',
      'Print the whole answer as json, ndjson or csv, or write it as xlsx or parquet.',
    ],
    ['--output <file>', 'Write it there.'],
    describeParameters,
    [
      '--with <name=query...>',
      'A table of the statement: what a query of the search language answers.',
    ],
  ),
  command('openapi', 'Print the OpenAPI document of an empty document root.', async () => {
    const { hostedDocument } = await import('../../api/openapi/api-description.ts');
    const { routes } = await import('../../routes.ts');
    return async () => `${JSON.stringify(hostedDocument(routes), null, 2)}\n`;
  }),
  command(
    'licenses',
    'Show what others wrote, and its licences.',
    async () => (await import('./licenses.ts')).licenses,
    ['[package]', 'Print the licence of this package in full.'],
    JSON_FLAG,
  ),
  command(
    'version',
    'Print the version of this build.',
    async () => async () => `${versionLine}\n`,
  ),
  { ...child, hidden: true },
];

function describeParameters(parser: Parser): void {
  const collected = (value: string, before: readonly string[] = []): string[] => [...before, value];
  parser.option('--param <n=v>', 'Value of a placeholder; may be repeated.', collected);
}

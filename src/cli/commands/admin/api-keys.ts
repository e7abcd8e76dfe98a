import { AppError } from '../../../base/errors.ts';
import {
  checkedFlag,
  describeAdmin,
  everything,
  required,
  requireUserNamed,
  withAccounts,
} from '../../administration.ts';
import type { Command } from '../../command.ts';
import { textTable } from '../../text-table.ts';
import { describeJson, printAnswer, wantsJson } from '../../json-output.ts';

interface KeyLine {
  readonly id: number;
  readonly user_id: number;
  readonly description: string | null;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly is_active: boolean;
  readonly scopes?: readonly string[];
}

export const listApiKeys: Command = {
  name: 'list-api-keys',
  summary: 'List the API keys of all users, or of one.',
  describe: (parser) => {
    describeAdmin(parser);
    parser.option('--username <name>', 'Only those of this user.');
    describeJson(parser);
  },
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const { listAllApiKeys } = await import('../../../operations/api-keys.ts');
      const { listUsers } = await import('../../../accounts/identity/users.ts');
      const username = invocation.options['username'];
      const only =
        typeof username === 'string' ? await requireUserNamed(accounts, username) : undefined;
      const items = await everything<KeyLine>((query) =>
        listAllApiKeys(accounts, operator, { query, exact: { user_id: only?.id } }),
      );
      const names = new Map((await listUsers(accounts.db)).map((user) => [user.id, user.username]));
      printAnswer(invocation, items, (keys) => keyTable(keys, names));
      return 0;
    }),
};

function keyTable(keys: readonly KeyLine[], names: ReadonlyMap<number, string>): string {
  if (keys.length === 0) return 'No API keys.\n';
  return textTable(
    ['id', 'user', 'status', 'expires', 'last used', 'scopes', 'description'],
    keys.map((key) => [
      String(key.id),
      names.get(key.user_id) ?? '',
      key.is_active ? 'active' : 'revoked',
      key.expires_at ?? 'never',
      key.last_used_at ?? 'never',
      key.scopes?.join(' ') ?? 'all',
      key.description ?? '',
    ]),
  );
}

export const createApiKey: Command = {
  name: 'create-api-key',
  summary: 'Create an API key for a user; only its value is printed, and only here.',
  describe: (parser) => {
    describeAdmin(parser);
    parser
      .requiredOption('--username <name>', 'Name of the owner (required).')
      .option('--description <text>', 'What it is for.')
      .option('--expires-in-days <days>', '1 to 365; without it the key never expires.')
      .option('--scope <scope...>', 'Limit it: read, write, read:<pattern> or write:<pattern>.');
    describeJson(parser);
  },
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const { options, outside } = invocation;
      const { createApiKeyFor } = await import('../../../operations/api-keys.ts');
      const owner = await requireUserNamed(accounts, required(invocation, 'username'));
      const days = options['expiresInDays'];
      const body = {
        user_id: owner.id,
        description: options['description'],
        expires_in_days: days === undefined ? null : daysOf(String(days)),
        scopes: options['scope'] ?? null,
      };
      const made = await checkedFlag('create-api-key', () =>
        createApiKeyFor(accounts, operator, body),
      );
      printAnswer(invocation, made, ({ key }) => `${key}\n`);
      if (!wantsJson(invocation)) {
        outside.err(`Created API key ${made.id} for '${owner.username}'\n`);
      }
      return 0;
    }),
};

function daysOf(text: string): number {
  if (/^[0-9]{1,6}$/.test(text)) return Number(text);
  throw new AppError('usage', `--expires-in-days: is a number of days, not '${text}'`);
}

export const revokeApiKey: Command = {
  name: 'revoke-api-key',
  summary: 'Revoke an API key.',
  describe: (parser) => {
    describeAdmin(parser);
    parser.requiredOption('--id <id>', 'Number of the key, see list-api-keys (required).');
  },
  run: (invocation) =>
    withAccounts(invocation, async (accounts, operator) => {
      const { revokeAnyApiKey } = await import('../../../operations/api-keys.ts');
      const text = required(invocation, 'id');
      if (!/^[0-9]{1,15}$/.test(text)) {
        throw new AppError('usage', `--id: is the number of a key, not '${text}'`);
      }
      await revokeAnyApiKey(accounts, operator, Number(text));
      invocation.outside.out(`Revoked API key ${Number(text)}\n`);
      return 0;
    }),
};

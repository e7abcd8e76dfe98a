import { AppError } from '../../../base/errors.ts';
import { listUsers } from '../../../accounts/identity/users.ts';
import {
  createApiKeyFor,
  listAllApiKeys,
  revokeAnyApiKey,
} from '../../../operations/accounts/api-keys.ts';
import type { ApiKeyView } from '../../../operations/accounts/api-keys.ts';
import { type AdminWork, onAccounts } from '../../administration.ts';
import { checkedFlag, everything, keyNumber, requireUserNamed } from './named.ts';
import { answerText, wantsJson, textTable } from '../../printer.ts';

interface KeyLine extends ApiKeyView {
  readonly user_id: number;
}

const listApiKeys: AdminWork = async ({ accounts, operator, invocation }) => {
  const username = invocation.options['username'];
  const only =
    typeof username === 'string' ? await requireUserNamed(accounts, username) : undefined;
  const items = await everything<KeyLine>((query) =>
    listAllApiKeys(accounts, operator, { query, exact: { user_id: only?.id } }),
  );
  const names = new Map((await listUsers(accounts.db)).map((user) => [user.id, user.username]));
  return answerText(invocation, items, () => keyTable(items, names));
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

const createApiKey: AdminWork = async ({ accounts, operator, invocation, text }) => {
  const { options, outside } = invocation;
  const owner = await requireUserNamed(accounts, text('username'));
  const days = options['expiresInDays'];
  const body = {
    user_id: owner.id,
    description: options['description'],
    expires_in_days: days === undefined ? null : daysOf(String(days)),
    scopes: options['scope'] ?? null,
  };
  const made = await checkedFlag('create-api-key', () => createApiKeyFor(accounts, operator, body));
  if (!wantsJson(invocation)) {
    outside.err(`Created API key ${made.id} for '${owner.username}'\n`);
  }
  return answerText(invocation, made, ({ key }) => `${key}\n`);
};

function daysOf(text: string): number {
  if (/^[0-9]{1,6}$/.test(text)) return Number(text);
  throw new AppError('usage', `--expires-in-days: is a number of days, not '${text}'`);
}

const revokeApiKey: AdminWork = async ({ accounts, operator, text }) => {
  const id = keyNumber('--id', text('id'));
  await revokeAnyApiKey(accounts, operator, id);
  return `Revoked API key ${id}\n`;
};

export const apiKeys = onAccounts({
  'list-api-keys': listApiKeys,
  'create-api-key': createApiKey,
  'revoke-api-key': revokeApiKey,
});

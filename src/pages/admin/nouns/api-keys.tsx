/** @jsxImportSource @kitajs/html */
import { apiKeyList } from '../../../accounts/identity/api-keys.ts';
import { keyRequest } from '../../form-request.ts';
import {
  createApiKeyFor,
  listAllApiKeys,
  type NewUserApiKeyView,
  revokeAnyApiKey,
} from '../../../operations/accounts/api-keys.ts';
import { findUserByName } from '../../../operations/accounts/users.ts';
import { CreatedKey } from '../../parts/forms.tsx';
import { text } from '../../parts/cells.tsx';
import {
  act,
  acts,
  auditLink,
  Box,
  ExpiryBox,
  keyName,
  moment,
  PurposeBox,
  user,
} from '../cells.tsx';
import { List, type Listing, mapItems, readOwnedListing, type Table } from '../list.tsx';
import { adminPage, FoldedForm } from '../page.tsx';

interface ApiKey {
  readonly id: number;
  readonly user_id: number;
  readonly username: string;
  readonly description: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly is_active: boolean;
  readonly scopes?: readonly string[];
}

interface ApiKeysData {
  readonly listing: Listing<ApiKey>;
  /** Right after the key is made: its value is shown once. */
  readonly created: NewUserApiKeyView | null;
}

const table: Table<ApiKey> = {
  nouns: ['key', 'keys'],
  filters: [
    { name: 'q', label: 'Purpose contains' },
    { name: 'user', label: 'User' },
    {
      name: 'status',
      label: 'Status',
      choices: [
        ['', 'All'],
        ['active', 'Working'],
        ['revoked', 'Revoked'],
      ],
    },
  ],
  empty: 'Programs use API keys to act as a user. There are none yet.',
  wayOn: { label: 'Make one for yourself', href: '/profile#keys' },
  columns: [
    text('For', keyName, { sort: 'description' }),
    user(),
    text('Rights', ({ scopes }) => scopes?.join(', ') ?? 'all of the user'),
    moment('Made', 'created_at'),
    moment('Last used', 'last_used_at'),
    moment('Expires', 'expires_at'),
    acts(({ id, username, is_active: isActive, ...key }, around) => {
      const name = keyName({ id, ...key });
      return [
        auditLink({ resource: 'apikey', q: `user ${username}` }, `keys of ${username}`),
        isActive ? (
          act(around, 'revoke-key', 'Revoke', name, { id, name, username })
        ) : (
          <span class="kind off">revoked</span>
        ),
      ];
    }),
  ],
};

export const apiKeys = adminPage<ApiKeysData>({
  path: 'api-keys',
  summary: 'Manage the API keys',
  title: 'API keys',
  read: async (context) => {
    const status = context.queryValue('status')?.trim() ?? '';
    const { listing } = await readOwnedListing<ApiKey & { readonly key_hash: string }>(
      context,
      table,
      {
        source: apiKeyList,
        read: listAllApiKeys,
        dataPath: '/admin/api-keys',
        search: { q: ['description'] },
        exact: { is_active: status === '' ? undefined : status === 'active' },
      },
    );
    // A download contains every member, and hashes do not belong there.
    const named = mapItems(listing, ({ key_hash: _, ...key }) => ({
      ...key,
      username: key.username ?? '',
    }));
    return { listing: named, created: null };
  },
  content: ({ listing, created }, around) => (
    <>
      {created !== null && <CreatedKey label="The new API key" value={created.key} />}
      <FoldedForm {...around} action="create-key" label="New key" button="Make the key">
        <Box
          label="User name"
          name="username"
          value={around.state.entered['username'] ?? listing.filters['user'] ?? ''}
          required
        />
        <PurposeBox value={around.state.entered['description'] ?? ''} />
        <ExpiryBox value={around.state.entered['expires_in_days'] ?? ''} />
        <Box
          label="Rights"
          name="scopes"
          value={around.state.entered['scopes'] ?? ''}
          placeholder="all of the user, or: read:reports/*"
          spellcheck="false"
        />
      </FoldedForm>
      <List {...{ table, listing, around }} />
    </>
  ),
  actions: {
    'create-key': {
      done: 'The key is made.',
      run: async ({ services, admin, field }) => {
        const owner = await findUserByName(services, admin, field('username'));
        const request = { user_id: owner.id, ...keyRequest(field) };
        return { created: await createApiKeyFor(services, admin, request) };
      },
    },
    'revoke-key': {
      done: 'The key no longer works.',
      asks: ({ field }) => keyQuestion(field('name'), field('username')),
      run: ({ services, admin, id }) => revokeAnyApiKey(services, admin, id()),
    },
  },
});

export function keyQuestion(name: string, username: string) {
  return {
    title: `Revoke the API key ${name} of ${username}?`,
    effects: ['Programs that use it are refused from then on.', 'This cannot be undone.'],
    button: 'Revoke the key',
  };
}

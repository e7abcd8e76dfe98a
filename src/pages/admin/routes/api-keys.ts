import { apiKeyList } from '../../../accounts/identity/api-keys.ts';
import { createApiKeyFor, listAllApiKeys, revokeAnyApiKey } from '../../../operations/api-keys.ts';
import { findUserByName } from '../../../operations/users.ts';
import { keyRequest } from '../../../http/body/form-request.ts';
import { apiKeysPage, type KeyRow, type KeysData } from '../api-keys.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, containing, readListing } from './page-list.ts';
import { userFilter, withNames } from './user-filter.ts';

export const apiKeysRoute: Route = adminPageRoute<KeysData>({
  path: 'api-keys',
  summary: 'Manage the API keys',
  page: apiKeysPage,
  read: async (context, admin) => {
    const owner = await userFilter(context, admin);
    const status = boxValue(context, 'status');
    const request = {
      boxes: ['q', 'user', 'status'],
      parts: [containing(boxValue(context, 'q'), 'description')],
      exact: { user_id: owner.id, is_active: status === '' ? undefined : status === 'active' },
      source: apiKeyList,
      dataPath: '/admin/api-keys',
    };
    const listing = await readListing<Omit<KeyRow, 'username'> & { readonly key_hash: string }>(
      context,
      request,
      (asked) => listAllApiKeys(context.services, admin, asked),
    );
    const named = await withNames(context, admin, listing);
    // A download contains every member, and hashes do not belong there.
    const items = named.items.map(({ key_hash: _, ...key }) => ({
      ...key,
      username: key.username ?? '',
    }));
    return { listing: { ...named, items }, created: null };
  },
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
      asks: async ({ field }) => ({
        title: `Revoke the API key ${field('name')} of ${field('username')}?`,
        effects: ['Programs that use it are refused from then on.', 'This cannot be undone.'],
        button: 'Revoke the key',
      }),
      run: ({ services, admin, id }) => revokeAnyApiKey(services, admin, id()),
    },
  },
});

/** @jsxImportSource @kitajs/html */
import { tokenList } from '../../../accounts/identity/tokens.ts';
import { listTokens, revokeTokenOf } from '../../../operations/accounts/tokens.ts';
import { act, acts, auditLink, moment, user } from '../cells.tsx';
import { List, readListing, type Table } from '../list.tsx';
import { adminPage } from '../page.tsx';

interface Token {
  readonly user_id: number;
  readonly username: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

const table: Table<Token> = {
  nouns: ['token', 'tokens'],
  filters: [{ name: 'q', label: 'User name contains' }],
  empty: 'Nobody has asked for a token yet.',
  wayOn: { label: 'What tokens are for', href: '/docs/guide/permissions' },
  columns: [
    user('user_id'),
    moment('Made', 'created_at'),
    moment('Last used', 'last_used_at'),
    acts(({ user_id: id, username }, around) => [
      auditLink({ resource: 'token', q: username }, `the token of ${username}`),
      act(around, 'revoke-token', 'Revoke', `token of ${username}`, { id, username }),
    ]),
  ],
};

export const tokens = adminPage({
  path: 'tokens',
  summary: 'Manage the tokens',
  title: 'Tokens',
  read: async (context) => ({
    listing: await readListing<Token>(context, table, {
      source: tokenList,
      read: listTokens,
      dataPath: '/admin/tokens',
      search: { q: ['username'] },
    }),
  }),
  content: ({ listing }, around) => (
    <>
      <p class="fine">
        Event clients get a token for a name and password at <code>/api-token-auth/</code>. A
        revoked one is dead; the next request for one makes another.
      </p>
      <List {...{ table, listing, around }} />
    </>
  ),
  actions: {
    'revoke-token': {
      done: 'The token no longer works.',
      asks: ({ field }) => tokenQuestion(field('username')),
      run: ({ services, admin, id }) => revokeTokenOf(services, admin, id()),
    },
  },
});

export function tokenQuestion(username: string) {
  return {
    title: `Revoke the token of ${username}?`,
    effects: ['Event clients that use it are refused until they ask for another one.'],
    button: 'Revoke the token',
  };
}

import { tokenList } from '../../../accounts/identity/tokens.ts';
import { listTokens, revokeTokenOf } from '../../../operations/tokens.ts';
import { type TokenRow, tokensPage } from '../tokens.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, containing, readListing } from './page-list.ts';

export const tokensRoute: Route = adminPageRoute({
  path: 'tokens',
  summary: 'Manage the tokens',
  page: tokensPage,
  read: async (context, admin) => {
    const request = {
      boxes: ['q'],
      parts: [containing(boxValue(context, 'q'), 'username')],
      source: tokenList,
      dataPath: '/admin/tokens',
    };
    const listing = await readListing<TokenRow>(context, request, (asked) =>
      listTokens(context.services, admin, asked),
    );
    return { listing };
  },
  actions: {
    'revoke-token': {
      done: 'The token no longer works.',
      asks: async ({ field }) => ({
        title: `Revoke the token of ${field('username')}?`,
        effects: ['Event clients that use it are refused until they ask for another one.'],
        button: 'Revoke the token',
      }),
      run: ({ services, admin, id }) => revokeTokenOf(services, admin, id()),
    },
  },
});

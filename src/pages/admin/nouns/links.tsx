/** @jsxImportSource @kitajs/html */
import { linkList } from '../../../accounts/rights/links.ts';
import { listAllLinks, type LinkView, revokeAnyLink } from '../../../operations/accounts/links.ts';
import { shareAddress } from '../../sharing/share-address.ts';
import { cell, text } from '../../parts/cells.tsx';
import { act, acts, auditLink, moment, number, user } from '../cells.tsx';
import { List, readListing, type Table } from '../list.tsx';
import { adminPage } from '../page.tsx';

type Link = LinkView & { readonly user_id: number };

const table: Table<Link> = {
  nouns: ['link', 'links'],
  filters: [
    { name: 'q', label: 'Resource or receiver contains' },
    { name: 'maker', label: 'Made by' },
  ],
  empty: 'Nobody has made a link yet.',
  wayOn: { label: 'What links are for', href: '/docs/guide/sharing' },
  columns: [
    cell(
      'Opens',
      ({ resource }) => (
        <a href={shareAddress(resource)} safe>
          {resource}
        </a>
      ),
      'resource',
    ),
    text('Shows', shownText),
    text('For', ({ description }) => description ?? ''),
    user('username'),
    moment('Ends', 'expires_at'),
    number('Opened', 'uses'),
    moment('Last opened', 'last_used_at'),
    acts(({ id, resource, username, revoked_at: revoked }, around) => [
      auditLink({ q: `link ${id} of ${username}` }, `link ${id}`),
      revoked === null ? (
        act(around, 'revoke-link', 'Withdraw', `link ${id} to ${resource}`, { id, resource })
      ) : (
        <span class="kind off">withdrawn</span>
      ),
    ]),
  ],
};

function shownText({ kind, view, has_password: hasPassword }: Link): string {
  const what = kind === 'upload' ? 'takes uploads' : viewText(view);
  return hasPassword ? `${what}, with a password` : what;
}

function viewText(view: LinkView['view']): string {
  if (view === null) return 'whole files';
  const isPart = view.filter !== '' || view.q !== '';
  const columns = `${view.columns.length} ${view.columns.length === 1 ? 'column' : 'columns'}`;
  return isPart ? `some rows, ${columns}` : `all rows, ${columns}`;
}

export const links = adminPage({
  path: 'links',
  summary: 'Manage the links',
  title: 'Links',
  read: async (context) => ({
    listing: await readListing<Link>(context, table, {
      source: linkList,
      read: listAllLinks,
      dataPath: '/admin/links',
      search: { q: ['resource', 'description'], maker: ['username'] },
    }),
  }),
  content: ({ listing }, around) => <List {...{ table, listing, around }} />,
  actions: {
    'revoke-link': {
      done: 'The link opens nothing any more.',
      asks: ({ field }) => ({
        title: `Withdraw the link to ${field('resource')}?`,
        effects: [
          'Whoever has it is told that it does not work any more.',
          'This cannot be undone.',
        ],
        button: 'Withdraw the link',
      }),
      run: ({ services, admin, id }) => revokeAnyLink(services, admin, id()),
    },
  },
});

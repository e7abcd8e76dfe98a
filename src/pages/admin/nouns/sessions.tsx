/** @jsxImportSource @kitajs/html */
import { sessionList, type Strength } from '../../../accounts/identity/sessions.ts';
import { browser, strength, text } from '../../parts/cells.tsx';
import { act, acts, auditLink, moment, user } from '../cells.tsx';
import { List, mapItems, readOwnedListing, type Table } from '../list.tsx';
import { adminPage } from '../page.tsx';
import { endSession, listAllSessions } from '../../../operations/accounts/sessions.ts';

interface Session {
  readonly id: number;
  readonly user_id: number;
  readonly username: string;
  readonly created_at: string;
  readonly last_active_at: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly strength: Strength;
  /** The session that views the page. */
  readonly isOwn: boolean;
}

const table: Table<Session> = {
  nouns: ['session', 'sessions'],
  filters: [
    { name: 'q', label: 'Browser or address contains' },
    { name: 'user', label: 'User' },
  ],
  empty: 'Nobody is signed in.',
  columns: [
    user('user_id'),
    browser('user_agent'),
    text('Address', 'ip_address'),
    strength(),
    moment('Signed in', 'created_at'),
    moment('Last seen', 'last_active_at'),
    acts(({ id, username, isOwn }, around) => [
      auditLink({ user: username, resource: 'auth' }, `sign-ins of ${username}`),
      isOwn ? (
        <span>this one</span>
      ) : (
        act(around, 'end-session', 'End', `session of ${username}`, { id, username })
      ),
    ]),
  ],
};

export const sessions = adminPage({
  path: 'sessions',
  summary: 'Manage the sessions',
  title: 'Sessions',
  read: async (context) => {
    const { listing } = await readOwnedListing<Omit<Session, 'username' | 'isOwn'>>(
      context,
      table,
      {
        source: sessionList(0),
        read: listAllSessions,
        dataPath: '/admin/sessions',
        search: { q: ['user_agent', 'ip_address'] },
      },
    );
    const named = mapItems(listing, (session) => ({
      ...session,
      username: session.username ?? '',
      isOwn: session.id === context.session?.id,
    }));
    return { listing: named };
  },
  content: ({ listing }, around) => <List {...{ table, listing, around }} />,
  actions: {
    'end-session': {
      done: 'The session is over.',
      asks: ({ field }) => sessionQuestion(field('username')),
      run: ({ services, admin, id }) => endSession(services, admin, id()),
    },
  },
});

export function sessionQuestion(username: string) {
  return {
    title: `End a session of ${username}?`,
    effects: [`${username} is signed out there and has to sign in again.`],
    button: 'End the session',
  };
}

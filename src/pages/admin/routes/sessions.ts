import { sessionList } from '../../../accounts/identity/sessions.ts';
import { endSession, listAllSessions } from '../../../operations/sessions.ts';
import { type SessionRow, sessionsPage } from '../sessions.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, containing, readListing } from './page-list.ts';
import { userFilter, withNames } from './user-filter.ts';

export const sessionsRoute: Route = adminPageRoute({
  path: 'sessions',
  summary: 'Manage the sessions',
  page: sessionsPage,
  read: async (context, admin) => {
    const owner = await userFilter(context, admin);
    const request = {
      boxes: ['q', 'user'],
      parts: [containing(boxValue(context, 'q'), 'user_agent', 'ip_address')],
      exact: { user_id: owner.id },
      source: sessionList(0),
      dataPath: '/admin/sessions',
    };
    const listing = await readListing<Omit<SessionRow, 'username' | 'isOwn'>>(
      context,
      request,
      (asked) => listAllSessions(context.services, admin, asked),
    );
    const named = await withNames(context, admin, listing);
    const items = named.items.map((session) => ({
      ...session,
      username: session.username ?? '',
      isOwn: session.id === context.session?.id,
    }));
    return { listing: { ...named, items } };
  },
  actions: {
    'end-session': {
      done: 'The session is over.',
      asks: async ({ field }) => ({
        title: `End a session of ${field('username')}?`,
        effects: [`${field('username')} is signed out there and has to sign in again.`],
        button: 'End the session',
      }),
      run: ({ services, admin, id }) => endSession(services, admin, id()),
    },
  },
});

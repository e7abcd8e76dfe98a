import { AppError } from '../../../base/errors.ts';
import { revokeAnyApiKey } from '../../../operations/api-keys.ts';
import {
  addMember,
  findGroupByName,
  groupNames,
  removeMember,
} from '../../../operations/groups.ts';
import { endSession } from '../../../operations/sessions.ts';
import { revokeTokenOf } from '../../../operations/tokens.ts';
import { searchesOfUser } from '../../../operations/saved-searches.ts';
import { deleteUser, readUser, resetPassword, setUserStatus } from '../../../operations/users.ts';
import { ADMIN_PAGES } from '../layout.tsx';
import { userPage } from '../user.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute, type Deed } from './admin-page.ts';
import { counted } from './counted.ts';
import { boxHolds, sliceListing } from './page-list.ts';

export const userRoute: Route = adminPageRoute({
  path: 'users/{user_id}',
  summary: 'Manage a user',
  page: userPage,
  read: async (context, admin) => {
    const { services, user } = context;
    const belongings = await readUser(services, admin, context.intParameter('user_id'));
    const isGroup = boxHolds(context, 'in');
    // A download contains every member, and hashes do not belong there.
    const keys = belongings.keys.map(({ keyHash: _, ...key }) => key);
    return {
      ...belongings,
      groups: sliceListing(
        context,
        belongings.groups.filter(({ name }) => isGroup(name)),
        { part: 'groups', boxes: ['in'], sortBy: { name: ({ name }) => name } },
      ),
      keys: sliceListing(context, keys, { part: 'keys' }),
      sessions: sliceListing(context, belongings.sessions, { part: 'sessions' }),
      currentSession: context.session?.id ?? null,
      isSelf: belongings.user.id === user.userId,
      groupNames: await groupNames(services, admin),
    };
  },
  actions: {
    'reset-password': {
      done: 'The password is set; all sessions of the user ended.',
      run: async (deed) => {
        const body = { new_password: deed.field('new_password') };
        await resetPassword(deed.services, deed.admin, userIdOf(deed), async () => body);
      },
    },
    activate: {
      done: 'The user is active and can sign in.',
      run: async (deed) => {
        await setUserStatus(deed.services, deed.admin, userIdOf(deed), async () => ({
          is_active: true,
        }));
      },
    },
    deactivate: {
      done: 'The user is deactivated and signed out everywhere.',
      asks: async (deed) => {
        const { name, sessions, keys } = await belongingsOf(deed);
        return {
          title: `Deactivate user ${name}?`,
          effects: [
            `${name} can no longer sign in.`,
            ...(sessions === 0 ? [] : [`${counted(sessions, 'session')} will end at once.`]),
            ...(keys === 0
              ? []
              : [`${counted(keys, 'API key')} will not work until ${name} is active again.`]),
          ],
          button: `Deactivate ${name}`,
        };
      },
      run: async (deed) => {
        await setUserStatus(deed.services, deed.admin, userIdOf(deed), async () => ({
          is_active: false,
        }));
      },
    },
    'delete-user': {
      done: 'The user was deleted.',
      leadsTo: `${ADMIN_PAGES}/users`,
      asks: async (deed) => {
        const { name, sessions, keys, groups, hasToken } = await belongingsOf(deed);
        const gone = [
          ...(sessions === 0 ? [] : [counted(sessions, 'session')]),
          ...(keys === 0 ? [] : [counted(keys, 'API key')]),
          ...(groups === 0 ? [] : [counted(groups, 'membership')]),
          ...(hasToken ? ['a token'] : []),
        ];
        const searches = await searchesOfUser(deed.services, deed.admin, userIdOf(deed));
        const owned = counted(searches.all, 'saved search', 'saved searches');
        if (searches.all > 0) gone.push(owned);
        return {
          title: `Delete user ${name}?`,
          effects: [
            ...(gone.length === 0 ? [] : [`With it go ${gone.join(', ')}.`]),
            ...(searches.seen === 0 ? [] : [lostText(searches.seen)]),
            'What the user did stays in the audit, without the name.',
            'This cannot be undone.',
          ],
          button: `Delete user ${name}`,
        };
      },
      run: (deed) => deleteUser(deed.services, deed.admin, userIdOf(deed)),
    },
    'join-group': {
      done: 'The user is in the group.',
      run: async (deed) => {
        const { services, admin, field } = deed;
        const group = await findGroupByName(services, admin, field('group'));
        await addMember(services, admin, group.id, userIdOf(deed));
      },
    },
    'leave-group': {
      done: 'The user is no longer in the group.',
      asks: async (deed) => {
        const { user, groups } = await readUser(deed.services, deed.admin, userIdOf(deed));
        const group = groups.find(({ id }) => id === deed.id('group_id'));
        if (group === undefined) throw new AppError('not-found', 'The user is not in that group');
        return {
          title: `Remove ${user.username} from group ${group.name}?`,
          effects: [`${user.username} loses the rights that come from ${group.name}.`],
          button: 'Remove',
        };
      },
      run: async (deed) => {
        await removeMember(deed.services, deed.admin, deed.id('group_id'), userIdOf(deed));
      },
    },
    'revoke-key': {
      done: 'The key no longer works.',
      asks: async (deed) => {
        const { user, keys } = await readUser(deed.services, deed.admin, userIdOf(deed));
        const key = keys.find(({ id }) => id === deed.id('key_id'));
        if (key === undefined) throw new AppError('not-found', 'API Key not found');
        return {
          title: `Revoke the API key ${key.description ?? key.id} of ${user.username}?`,
          effects: ['Programs that use it are refused from then on.', 'This cannot be undone.'],
          button: 'Revoke the key',
        };
      },
      run: (deed) => revokeAnyApiKey(deed.services, deed.admin, deed.id('key_id')),
    },
    'revoke-token': {
      done: 'The token no longer works.',
      asks: async (deed) => {
        const { name } = await belongingsOf(deed);
        return {
          title: `Revoke the token of ${name}?`,
          effects: ['Event clients that use it are refused until they ask for another one.'],
          button: 'Revoke the token',
        };
      },
      run: ({ context, services, admin }) =>
        revokeTokenOf(services, admin, context.intParameter('user_id')),
    },
    'end-session': {
      done: 'The session is over.',
      asks: async (deed) => {
        const { name } = await belongingsOf(deed);
        return {
          title: `End a session of ${name}?`,
          effects: [`${name} is signed out there and has to sign in again.`],
          button: 'End the session',
        };
      },
      run: (deed) => endSession(deed.services, deed.admin, deed.id('session_id')),
    },
  },
});

function userIdOf({ context }: Deed): number {
  return context.intParameter('user_id');
}

async function belongingsOf(deed: Deed): Promise<{
  readonly name: string;
  readonly sessions: number;
  readonly keys: number;
  readonly groups: number;
  readonly hasToken: boolean;
}> {
  const { user, sessions, keys, groups, hasToken } = await readUser(
    deed.services,
    deed.admin,
    userIdOf(deed),
  );
  return {
    name: user.username,
    sessions: sessions.length,
    keys: keys.filter(({ isActive }) => isActive).length,
    groups: groups.length,
    hasToken,
  };
}

function lostText(searches: number): string {
  return searches === 1
    ? 'One of these searches is shared: others lose it, and queries that use it fail.'
    : `${searches} of these searches are shared: others lose them, and queries that use them fail.`;
}

/** @jsxImportSource @kitajs/html */
import type { ApiKey } from '../../../accounts/identity/api-keys.ts';
import type { Session } from '../../../accounts/identity/sessions.ts';
import type { Group } from '../../../accounts/rights/groups.ts';
import { formatScopes } from '../../../accounts/rights/scopes.ts';
import { AppError } from '../../../base/errors.ts';
import { revokeAnyApiKey } from '../../../operations/accounts/api-keys.ts';
import {
  addMember,
  findGroupByName,
  groupNames,
  removeMember,
} from '../../../operations/accounts/groups.ts';
import { searchesOfUser } from '../../../operations/events/saved-searches.ts';
import { resetFactorsOf } from '../../../operations/accounts/second-factors.ts';
import { revokeTokenOf } from '../../../operations/accounts/tokens.ts';
import {
  deleteUser,
  readUser,
  resetPassword,
  setUserStatus,
  type UserWithBelongings,
} from '../../../operations/accounts/users.ts';
import { browser, cell, strength, text } from '../../parts/cells.tsx';
import {
  act,
  ActionBox,
  acts,
  auditLink,
  ChooseBox,
  counted,
  GroupLink,
  keyName,
  moment,
  Moment,
  ResourceBox,
  UserMarks,
} from '../cells.tsx';
import { boxHolds, List, type Listing, sliceListing, type Table } from '../list.tsx';
import { Act, adminPage, FoldedForm, AdminForm, type Submission } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';
import { keyQuestion } from './api-keys.tsx';
import { removalQuestion } from './group.tsx';
import { sessionQuestion } from './sessions.tsx';
import { tokenQuestion } from './tokens.tsx';
import { endSession } from '../../../operations/accounts/sessions.ts';

interface UserData extends Pick<UserWithBelongings, 'user' | 'hasToken' | 'hasFactor'> {
  readonly groups: Listing<Group>;
  readonly keys: Listing<Omit<ApiKey, 'keyHash'>>;
  readonly sessions: Listing<Session>;
  readonly isSelf: boolean;
  readonly currentSession: number | null;
  readonly groupNames: readonly string[];
}

const groupsTable = (username: string): Table<Group> => ({
  nouns: ['group', 'groups'],
  filters: [{ name: 'in', label: 'Group contains' }],
  few: 10,
  empty: 'Rights come from groups; this user is in none.',
  columns: [
    cell('Group', (group) => <GroupLink {...group} />, 'name'),
    text('For', 'description'),
    acts(({ id, name }, around) => [
      auditLink({ q: `group ${name}` }, `the group ${name}`),
      act(around, 'leave-group', 'Remove', `${username} from ${name}`, { group_id: id }),
    ]),
  ],
});

const keysTable = (username: string): Table<Omit<ApiKey, 'keyHash'>> => ({
  nouns: ['key', 'keys'],
  empty: 'None.',
  columns: [
    text('For', keyName),
    text('Rights', ({ scopes }) =>
      scopes === null ? 'all of the user' : formatScopes(scopes).join(', '),
    ),
    moment('Last used', 'lastUsedAt'),
    acts((key, around) => [
      auditLink({ resource: 'apikey', q: `user ${username}` }, `keys of ${username}`),
      key.isActive ? (
        act(around, 'revoke-key', 'Revoke', keyName(key), { key_id: key.id })
      ) : (
        <span class="kind off">revoked</span>
      ),
    ]),
  ],
});

const sessionsTable = (username: string, current: number | null): Table<Session> => ({
  nouns: ['session', 'sessions'],
  empty: 'Not signed in anywhere.',
  columns: [
    browser('userAgent'),
    text('Address', 'ipAddress'),
    strength(),
    moment('Last seen', 'lastActiveAt'),
    acts(({ id }, around) => [
      auditLink({ user: username, resource: 'auth' }, `sign-ins of ${username}`),
      id === current ? (
        <span>this one</span>
      ) : (
        act(around, 'end-session', 'End', `session ${id} of ${username}`, { session_id: id })
      ),
    ]),
  ],
});

export const user = adminPage<UserData>({
  path: 'users/:user_id',
  name: 'admin-user',
  summary: 'Manage a user',
  title: (data) => data.user.username,
  trail: [{ label: 'Users', href: `${ADMIN_PAGES}/users` }],
  read: async (context, admin) => {
    const { services } = context;
    const belongings = await readUser(services, admin, context.intParameter('user_id'));
    const { username, id } = belongings.user;
    const isGroup = boxHolds(context, 'in');
    // A download contains every member, and hashes do not belong there.
    const keys = belongings.keys.map(({ keyHash: _, ...key }) => key);
    const currentSession = context.session?.id ?? null;
    return {
      ...belongings,
      groups: sliceListing(
        context,
        groupsTable(username),
        belongings.groups.filter(({ name }) => isGroup(name)),
        { part: 'groups', sortBy: { name: ({ name }) => name } },
      ),
      keys: sliceListing(context, keysTable(username), keys, { part: 'keys' }),
      sessions: sliceListing(
        context,
        sessionsTable(username, currentSession),
        belongings.sessions,
        { part: 'sessions' },
      ),
      currentSession,
      isSelf: id === context.user.userId,
      groupNames: await groupNames(services, admin),
    };
  },
  content: (data, around) => {
    const { user: found, groups, keys, sessions, isSelf, hasToken, hasFactor } = data;
    const { username } = found;
    const { entered, mayChange } = around.state;
    return (
      <>
        <p>
          Made <Moment at={found.created_at} />. <UserMarks user={found} />{' '}
          {auditLink({ user: username }, `what ${username} did`)}
        </p>
        {mayChange && isSelf && (
          <p class="fine">
            This is you. Another superuser can deactivate or delete your account; you cannot.
          </p>
        )}
        {mayChange && !isSelf && (
          <div class="acts">
            {found.is_active ? (
              act(around, 'deactivate', 'Deactivate', username)
            ) : (
              <Act {...around} action="activate" label="Activate" about={username} asks={false} />
            )}
            {hasFactor && act(around, 'reset-factors', 'Remove second factors', `of ${username}`)}
            {act(around, 'delete-user', 'Delete', username)}
          </div>
        )}
        <FoldedForm
          {...around}
          action="reset-password"
          label="Set a new password"
          button="Set the password"
        >
          <input hidden name="username" autocomplete="username" value={username} readonly />
          <label>
            New password
            <input name="new_password" type="password" autocomplete="new-password" required />
            <small>All sessions of the user end. API keys stay.</small>
          </label>
        </FoldedForm>
        <section>
          <h2>Groups</h2>
          <List table={groupsTable(username)} listing={groups} around={around} />
          <AdminForm {...around} action="join-group" button="Add">
            <ChooseBox
              name="group"
              label="Add to the group"
              names={data.groupNames}
              source="groups"
              value={entered['group'] ?? ''}
            />
          </AdminForm>
        </section>
        <section>
          <h2 safe>{`What may ${username} do?`}</h2>
          <form class="filter query" method="get" action={`${ADMIN_PAGES}/explain`}>
            <input type="hidden" name="user" value={username} />
            <ResourceBox value="" />
            <ActionBox value="read" />
            <button class="quiet" type="submit">
              Explain
            </button>
          </form>
        </section>
        <section>
          <h2>API keys</h2>
          <List table={keysTable(username)} listing={keys} around={around} />
          <p class="actions tight">
            <a
              class="button quiet small"
              href={`${ADMIN_PAGES}/api-keys?${new URLSearchParams({ user: username })}`}
            >
              API keys of this user
            </a>
            {hasToken && act(around, 'revoke-token', 'Revoke the token', `of ${username}`)}
          </p>
        </section>
        <section>
          <h2>Sessions</h2>
          <List
            table={sessionsTable(username, data.currentSession)}
            listing={sessions}
            around={around}
          />
        </section>
      </>
    );
  },
  actions: {
    'reset-password': {
      done: 'The password is set; all sessions of the user ended.',
      run: async (sent) => {
        const body = { new_password: sent.field('new_password') };
        await resetPassword(sent.services, sent.admin, userIdOf(sent), async () => body);
      },
    },
    activate: {
      done: 'The user is active and can sign in.',
      run: (sent) => setActive(sent, true),
    },
    deactivate: {
      done: 'The user is deactivated and signed out everywhere.',
      asks: async (sent) => {
        const { username, sessions, keys } = await belongingsOf(sent);
        return {
          title: `Deactivate user ${username}?`,
          effects: [
            `${username} can no longer sign in.`,
            ...(sessions === 0 ? [] : [`${counted(sessions, 'session')} will end at once.`]),
            ...(keys === 0
              ? []
              : [`${counted(keys, 'API key')} will not work until ${username} is active again.`]),
          ],
          button: `Deactivate ${username}`,
        };
      },
      run: (sent) => setActive(sent, false),
    },
    'delete-user': {
      done: 'The user was deleted.',
      leadsTo: `${ADMIN_PAGES}/users`,
      asks: async (sent) => {
        const { username, sessions, keys, groups, hasToken } = await belongingsOf(sent);
        const searches = await searchesOfUser(sent.services, sent.admin, userIdOf(sent));
        const gone = [
          ...(sessions === 0 ? [] : [counted(sessions, 'session')]),
          ...(keys === 0 ? [] : [counted(keys, 'API key')]),
          ...(groups.length === 0 ? [] : [counted(groups.length, 'membership')]),
          ...(hasToken ? ['a token'] : []),
          ...(searches.all === 0 ? [] : [counted(searches.all, 'saved search', 'saved searches')]),
        ];
        return {
          title: `Delete user ${username}?`,
          effects: [
            ...(gone.length === 0 ? [] : [`With it go ${gone.join(', ')}.`]),
            ...(searches.seen === 0 ? [] : [lostText(searches.seen)]),
            'What the user did stays in the audit, without the name.',
            'This cannot be undone.',
          ],
          button: `Delete user ${username}`,
        };
      },
      run: (sent) => deleteUser(sent.services, sent.admin, userIdOf(sent)),
    },
    'reset-factors': {
      done: 'The user signs in with the password alone, and can add a second factor again.',
      asks: async (sent) => {
        const { username } = await belongingsOf(sent);
        return {
          title: `Remove the second factors of ${username}?`,
          effects: [
            'For somebody who lost them: make sure that it is them who asks.',
            `${username} signs in with the password alone until another one is added.`,
          ],
          button: 'Remove them',
        };
      },
      run: async (sent) => {
        await resetFactorsOf(sent.services, sent.admin, userIdOf(sent));
      },
    },
    'join-group': {
      done: 'The user is in the group.',
      run: async (sent) => {
        const { services, admin, field } = sent;
        const group = await findGroupByName(services, admin, field('group'));
        await addMember(services, admin, group.id, userIdOf(sent));
      },
    },
    'leave-group': {
      done: 'The user is no longer in the group.',
      asks: async (sent) => {
        const { username, groups } = await belongingsOf(sent);
        const group = groups.find(({ id }) => id === sent.id('group_id'));
        if (group === undefined) throw new AppError('not-found', 'The user is not in that group');
        return removalQuestion(username, group.name);
      },
      run: async (sent) => {
        await removeMember(sent.services, sent.admin, sent.id('group_id'), userIdOf(sent));
      },
    },
    'revoke-key': {
      done: 'The key no longer works.',
      asks: async (sent) => {
        const found = await readUser(sent.services, sent.admin, userIdOf(sent));
        const key = found.keys.find(({ id }) => id === sent.id('key_id'));
        if (key === undefined) throw new AppError('not-found', 'API Key not found');
        return keyQuestion(key.description ?? String(key.id), found.user.username);
      },
      run: (sent) => revokeAnyApiKey(sent.services, sent.admin, sent.id('key_id')),
    },
    'revoke-token': {
      done: 'The token no longer works.',
      asks: async (sent) => tokenQuestion((await belongingsOf(sent)).username),
      run: (sent) => revokeTokenOf(sent.services, sent.admin, userIdOf(sent)),
    },
    'end-session': {
      done: 'The session is over.',
      asks: async (sent) => sessionQuestion((await belongingsOf(sent)).username),
      run: (sent) => endSession(sent.services, sent.admin, sent.id('session_id')),
    },
  },
});

function userIdOf({ context }: Submission): number {
  return context.intParameter('user_id');
}

async function setActive(sent: Submission, isActive: boolean): Promise<void> {
  const body = async () => ({ is_active: isActive });
  await setUserStatus(sent.services, sent.admin, userIdOf(sent), body);
}

async function belongingsOf(sent: Submission) {
  const found = await readUser(sent.services, sent.admin, userIdOf(sent));
  return {
    username: found.user.username,
    sessions: found.sessions.length,
    keys: found.keys.filter(({ isActive }) => isActive).length,
    groups: found.groups,
    hasToken: found.hasToken,
  };
}

function lostText(searches: number): string {
  return searches === 1
    ? 'One of these searches is shared: others lose it, and queries that use it fail.'
    : `${searches} of these searches are shared: others lose them, and queries that use them fail.`;
}

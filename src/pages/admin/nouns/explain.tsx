/** @jsxImportSource @kitajs/html */
import type { GroupGrant } from '../../../accounts/rights/permissions.ts';
import type { Verb } from '../../../accounts/rights/principal.ts';
import { AppError } from '../../../base/errors.ts';
import {
  type AllowedUsers,
  explainAccess,
  type Explanation,
  listAllowed,
} from '../../../operations/accounts/access-explanations.ts';
import { receiverNames } from '../../../operations/accounts/sharing.ts';
import { shareAddress } from '../../sharing/share-address.ts';
import { Problem } from '../../parts/messages.tsx';
import { GiveForm } from '../../sharing/give-form.tsx';
import { cell, text } from '../../parts/cells.tsx';
import {
  ActionBox,
  audit,
  Box,
  GroupLink,
  type ReceiverName,
  ResourceBox,
  resourceText,
  UserLink,
} from '../cells.tsx';
import { boxHolds, boxValue, List, type Listing, sliceListing, type Table } from '../list.tsx';
import { Rows } from '../../parts/table.tsx';
import { adminPage, type Surroundings } from '../page.tsx';
import { ADMIN_PAGES } from '../sections.ts';

interface Allowed {
  readonly id: number;
  readonly username: string;
  /** Null: a superuser. */
  readonly granted_by: readonly GroupGrant[] | null;
}

interface AllowedListing extends AllowedUsers {
  readonly listing: Listing<Allowed>;
}

interface ExplainData {
  readonly user: string;
  readonly resource: string;
  readonly right: string;
  readonly key: string;
  readonly explanation: Explanation | null;
  readonly allowed: AllowedListing | null;
  readonly failure: string | null;
  /** For the remedy. */
  readonly names: readonly ReceiverName[];
}

const table: Table<Allowed> = {
  nouns: ['user', 'users'],
  filters: [{ name: 'who', label: 'Name contains' }],
  empty: 'Nobody may.',
  columns: [
    cell('User', (one) => <UserLink {...one} />),
    cell('Because', ({ granted_by: grants }) =>
      grants === null ? 'superusers may do everything' : <Because grants={grants} />,
    ),
    audit(({ username }) => [{ user: username }, `what ${username} did`]),
  ],
};

export const explain = adminPage<ExplainData>({
  path: 'explain',
  summary: 'Explain who may do what',
  title: 'Who may do what?',
  read: async (context, admin) => {
    const { services } = context;
    const [user, resource] = [boxValue(context, 'user'), boxValue(context, 'resource')];
    const key = boxValue(context, 'key');
    const right: Verb = boxValue(context, 'right') === 'write' ? 'write' : 'read';
    const names = await receiverNames(services, admin);
    const asked = {
      ...{ user, resource, right, key, names },
      ...{ explanation: null, allowed: null, failure: null },
    };
    // An empty resource means the document root, so absence means that the form was not sent.
    if (context.queryValue('resource') === null) return asked;
    if (user === '') {
      const allowed = await listAllowed(services, admin, { resource, action: right });
      const isWanted = boxHolds(context, 'who');
      const everybody = [
        ...allowed.users,
        ...allowed.superusers.map(({ id, username }) => ({ id, username, granted_by: null })),
      ].filter(({ username }) => isWanted(username));
      return {
        ...asked,
        allowed: { ...allowed, listing: sliceListing(context, table, everybody) },
      };
    }
    if (key !== '' && !/^[0-9]{1,15}$/.test(key)) {
      return { ...asked, failure: 'The id of an API key is a number; see the list of keys.' };
    }
    const question = { username: user, resource, action: right };
    try {
      const withKey = { ...question, ...(key !== '' && { keyId: Number(key) }) };
      return { ...asked, explanation: await explainAccess(services, admin, withKey) };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'not-found') throw error;
      return { ...asked, failure: error.message };
    }
  },
  content: ({ user, resource, right, key, explanation, allowed, names, failure }, around) => (
    <>
      <form class="filter query" method="get" action={`${ADMIN_PAGES}/explain`}>
        <Box
          label="User"
          name="user"
          value={user}
          placeholder="everybody"
          spellcheck="false"
          list="user-names"
          data-suggest="users"
        />
        <datalist id="user-names">
          {names.flatMap(({ name, isGroup }) =>
            isGroup ? [] : [<option value={name.replace(/^user:/, '')} />],
          )}
        </datalist>
        <ResourceBox value={resource} />
        <ActionBox value={right} />
        <Box
          label="With API key (id)"
          name="key"
          value={key}
          inputmode="numeric"
          placeholder="none"
        />
        <button type="submit">Explain</button>
      </form>
      <Problem text={failure} />
      {explanation !== null && <One {...{ explanation, names, around }} />}
      {allowed !== null && <All allowed={allowed} around={around} />}
      {explanation === null && allowed === null && failure === null && (
        <p class="empty">
          Name a resource to see who may read or write it; name a user too to see why, or why not.
        </p>
      )}
    </>
  ),
});

interface OneProps {
  readonly explanation: Explanation;
  readonly names: readonly ReceiverName[];
  readonly around: Surroundings;
}

function One({ explanation, names: receivers, around }: OneProps) {
  const { allowed, granted_by: grants, notes, scopes, names, user } = explanation;
  return (
    <section aria-live="polite">
      <p class={allowed ? 'verdict yes' : 'verdict no'} safe>
        {explanation.explanation}
      </p>
      <Notes notes={notes} />
      {explanation.reason === 'no-permission' && around.state.mayChange && (
        <GiveForm
          frame={around.frame}
          resource={explanation.resource}
          names={receivers}
          to={user.username}
          right={explanation.action}
        />
      )}
      {names.length > 1 && (
        <p class="fine" safe>
          {`A permission can name it ${names.map((name) => `“${name}”`).join(' or ')}.`}
        </p>
      )}
      {scopes !== null && <p class="fine" safe>{`The key is limited to ${scopes.join(', ')}.`}</p>}
      {grants.length > 0 && (
        <>
          <h2>Where it comes from</h2>
          <Rows<GroupGrant, unknown>
            label="Where it comes from"
            columns={[
              cell('Group', (grant) => <GroupLink id={grant.group_id} name={grant.group} />),
              text('Right', 'action'),
              text('Resource', ({ resource }) => resourceText(resource)),
            ]}
            items={grants}
            around={around}
          />
        </>
      )}
      <p>
        <a href={`${ADMIN_PAGES}/users/${user.id}`} safe>
          {`Groups of ${user.username}`}
        </a>
      </p>
    </section>
  );
}

function All({ allowed, around }: { allowed: AllowedListing; around: Surroundings }) {
  const { users, action, resource, groups, listing, notes } = allowed;
  const held = new Set(users.flatMap((user) => user.granted_by.map(({ group_id: id }) => id)));
  const empty = groups.filter(({ group_id: id }) => !held.has(id));
  return (
    <section>
      <h2 safe>{`Who may ${action} ${resourceText(resource)}?`}</h2>
      {resource !== '' && (
        <p>
          <a class="button quiet small" href={shareAddress(resource)}>
            Share
          </a>
        </p>
      )}
      <Notes notes={notes} />
      <List {...{ table, listing, around }} />
      {empty.length > 0 && (
        <p class="fine" safe>
          {`Held without an active member: ${namesText(empty.map(({ group }) => group))}.`}
        </p>
      )}
    </section>
  );
}

const SHOWN_GRANTS = 8;
const SHOWN_NAMES = 20;

function Because({ grants }: { grants: readonly GroupGrant[] }) {
  const hidden = grants.length - SHOWN_GRANTS;
  return (
    <>
      {grants.slice(0, SHOWN_GRANTS).map((grant) => (
        <>
          <GroupLink id={grant.group_id} name={grant.group} isTag />{' '}
          <span safe>{`holds ${grant.action} on ${resourceText(grant.resource)}`}</span>
          <br />
        </>
      ))}
      {hidden > 0 && <span safe>{`and ${hidden} more groups`}</span>}
    </>
  );
}

function namesText(names: readonly string[]): string {
  const hidden = names.length - SHOWN_NAMES;
  const shown = names.slice(0, SHOWN_NAMES).join(', ');
  return hidden > 0 ? `${shown} and ${hidden} more` : shown;
}

function Notes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return '';
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li safe>{note}</li>
      ))}
    </ul>
  );
}

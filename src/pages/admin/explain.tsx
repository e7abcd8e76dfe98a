/** @jsxImportSource @kitajs/html */
import type { GroupGrant } from '../../accounts/rights/permissions.ts';
import type { AllowedUsers, Explanation } from '../../operations/explanations.ts';
import { Problem } from '../parts/messages.tsx';
import { ResourceBox, ActionBox } from './boxes.tsx';
import { AuditLink, UserLink, GroupLink, resourceText } from './cells.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable, Rows } from './listing.tsx';

/** `granted_by` null: a superuser. */
interface AllowedListing extends AllowedUsers {
  readonly listing: Listing<{
    readonly id: number;
    readonly username: string;
    readonly granted_by: readonly GroupGrant[] | null;
  }>;
}

interface ExplainData {
  readonly user: string;
  readonly resource: string;
  readonly right: string;
  readonly key: string;
  readonly explanation: Explanation | null;
  readonly allowed: AllowedListing | null;
  readonly failure: string | null;
}

export const explainPage = adminPage<ExplainData>({
  name: 'admin-explain',
  title: () => 'Who may do what?',
  content: (data) => (
    <>
      <form class="filter query" method="get" action={`${ADMIN_PAGES}/explain`}>
        <label>
          User
          <input
            name="user"
            value={data.user}
            placeholder="everybody"
            autocomplete="off"
            spellcheck="false"
          />
        </label>
        <ResourceBox value={data.resource} />
        <ActionBox value={data.right} />
        <label>
          With API key (id)
          <input
            name="key"
            value={data.key}
            inputmode="numeric"
            placeholder="none"
            autocomplete="off"
          />
        </label>
        <button type="submit">Explain</button>
      </form>
      <Problem text={data.failure} />
      {data.explanation === null ? '' : <One explanation={data.explanation} />}
      {data.allowed === null ? '' : <All allowed={data.allowed} />}
      {data.explanation === null && data.allowed === null && data.failure === null ? (
        <p class="empty">
          Name a resource to see who may read or write it; name a user too to see why, or why not.
        </p>
      ) : (
        ''
      )}
    </>
  ),
});

function One({ explanation }: { explanation: Explanation }) {
  const { allowed, granted_by: grants, notes, scopes, names } = explanation;
  return (
    <section aria-live="polite">
      <p class={allowed ? 'verdict yes' : 'verdict no'} safe>
        {explanation.explanation}
      </p>
      <Notes notes={notes} />
      {names.length > 1 ? (
        <p class="fine" safe>
          {`A permission can name it ${names.map((name) => `“${name}”`).join(' or ')}.`}
        </p>
      ) : (
        ''
      )}
      {scopes === null ? (
        ''
      ) : (
        <p class="fine" safe>{`The key is limited to ${scopes.join(', ')}.`}</p>
      )}
      {grants.length === 0 ? (
        ''
      ) : (
        <>
          <h2>Where it comes from</h2>
          <Rows
            label="Where it comes from"
            columns={[{ label: 'Group' }, { label: 'Right' }, { label: 'Resource' }]}
          >
            {grants.map((grant) => (
              <tr>
                <td>
                  <GroupLink id={grant.group_id} name={grant.group} />
                </td>
                <td safe>{grant.action}</td>
                <td safe>{resourceText(grant.resource)}</td>
              </tr>
            ))}
          </Rows>
        </>
      )}
      <p>
        <a href={`${ADMIN_PAGES}/users/${explanation.user.id}`} safe>
          {`Groups of ${explanation.user.username}`}
        </a>
      </p>
    </section>
  );
}

function All({ allowed }: { allowed: AllowedListing }) {
  const { users, action, resource, groups, listing } = allowed;
  const held = new Set(users.flatMap((user) => user.granted_by.map(({ group_id: id }) => id)));
  const empty = groups.filter(({ group_id: id }) => !held.has(id));
  return (
    <section>
      <h2 safe>{`Who may ${action} ${resourceText(resource)}?`}</h2>
      <Notes notes={allowed.notes} />
      <FilterForm path={`${ADMIN_PAGES}/explain`} listing={listing}>
        <FilterBox name="who" label="Name contains" listing={listing} />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['user', 'users']}
        empty="Nobody may."
        columns={[{ label: 'User' }, { label: 'Because' }, { label: 'Audit', isHidden: true }]}
      >
        {listing.items.map(({ id, username, granted_by: grants }) => (
          <tr>
            <td>
              <UserLink {...{ id, username }} />
            </td>
            <td>
              {grants === null ? 'superusers may do everything' : <Because grants={grants} />}
            </td>
            <td>
              <AuditLink query={{ user: username }} about={`what ${username} did`} />
            </td>
          </tr>
        ))}
      </ListTable>
      {empty.length === 0 ? (
        ''
      ) : (
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
      {hidden > 0 ? <span safe>{`and ${hidden} more groups`}</span> : ''}
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

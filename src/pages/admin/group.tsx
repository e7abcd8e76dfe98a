/** @jsxImportSource @kitajs/html */
import type { Permission } from '../../accounts/rights/permissions.ts';
import type { Group } from '../../accounts/rights/groups.ts';
import type { UserView } from '../../operations/users.ts';
import { ChooseBox, ResourceBox, ActionBox } from './boxes.tsx';
import { AuditLink, UserLink, UserMarks, resourceText } from './cells.tsx';
import { AdminForm, Act } from './forms.tsx';
import { ADMIN_PAGES, adminPage, type Surroundings } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable } from './listing.tsx';

interface GroupData {
  readonly group: Group;
  readonly permissions: Listing<Permission>;
  readonly members: Listing<UserView>;
  readonly usernames: readonly string[];
}

interface PartProps extends Surroundings {
  readonly data: GroupData;
}

export const groupPage = adminPage<GroupData>({
  name: 'admin-group',
  title: ({ group }) => group.name,
  trail: [{ label: 'Groups', href: `${ADMIN_PAGES}/groups` }],
  content: (data, around) => (
    <>
      <p>
        <span safe>{data.group.description ?? ''}</span>{' '}
        <AuditLink query={{ q: data.group.name }} about={data.group.name} />
      </p>
      <Rights data={data} {...around} />
      <Members data={data} {...around} />
      <div class="acts">
        <Act
          {...around}
          action="delete-group"
          label="Delete the group"
          about={data.group.name}
          fields={{}}
          asks
        />
      </div>
    </>
  ),
});

function Rights({ data, state, frame }: PartProps) {
  const around = { state, frame };
  return (
    <section>
      <h2>What its members may do</h2>
      {isWorthFiltering(data.permissions) ? (
        <FilterForm path={pathOf(data)} listing={data.permissions}>
          <FilterBox name="held" label="Resource contains" listing={data.permissions} />
        </FilterForm>
      ) : (
        ''
      )}
      <ListTable
        listing={data.permissions}
        nouns={['right', 'rights']}
        empty="Nothing yet."
        columns={[
          { label: 'Right' },
          { label: 'Resource', sort: 'resource' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {data.permissions.items.map((permission) => (
          <tr>
            <td>
              <span class="kind" safe>
                {permission.action}
              </span>
            </td>
            <td safe>{resourceText(permission.resource)}</td>
            <td class="acts">
              <AuditLink
                query={{ q: `${permission.action} on ${permission.resource}` }}
                about={`${permission.action} on ${resourceText(permission.resource)}`}
              />
              <Act
                {...around}
                action="revoke-right"
                label="Take away"
                about={`${permission.action} on ${resourceText(permission.resource)}`}
                fields={{ permission_id: permission.id }}
                asks
              />
            </td>
          </tr>
        ))}
      </ListTable>
      <AdminForm {...around} action="give-right">
        <ResourceBox value={state.entered['resource'] ?? ''} />
        <ActionBox value={state.entered['right'] ?? 'read'} />
        <button type="submit">Give the right</button>
      </AdminForm>
      {state.mayChange ? (
        <p class="fine">
          A file is named as in its address, a folder as <code>reports/*</code>, everything as{' '}
          <code>*</code>, an event index as <code>@events/app</code>. Left empty it is the document
          root: <em>write</em> on it allows uploads. <em>write</em> does not include <em>read</em>.
        </p>
      ) : (
        ''
      )}
    </section>
  );
}

const FEW = 10;

function isWorthFiltering({ total, clearHref }: Listing<unknown>): boolean {
  return total > FEW || clearHref !== null;
}

function pathOf({ group }: GroupData): string {
  return `${ADMIN_PAGES}/groups/${group.id}`;
}

function Members({ data, state, frame }: PartProps) {
  const around = { state, frame };
  const { group, members } = data;
  return (
    <section>
      <h2>Members</h2>
      {isWorthFiltering(members) ? (
        <FilterForm path={pathOf(data)} listing={members}>
          <FilterBox name="member" label="Name contains" listing={members} />
        </FilterForm>
      ) : (
        ''
      )}
      <ListTable
        listing={members}
        nouns={['member', 'members']}
        empty="Nobody yet."
        columns={[
          { label: 'User', sort: 'username' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {members.items.map((user) => (
          <tr>
            <td>
              <UserLink {...user} /> <UserMarks user={user} />
            </td>
            <td class="acts">
              <AuditLink
                query={{ q: `user ${user.username} ` }}
                about={`what happened to ${user.username}`}
              />
              <Act
                {...around}
                action="remove-member"
                label="Remove"
                about={`${user.username} from ${group.name}`}
                fields={{ user_id: user.id }}
                asks
              />
            </td>
          </tr>
        ))}
      </ListTable>
      <AdminForm {...around} action="add-member">
        <ChooseBox
          name="username"
          label="User name"
          names={data.usernames}
          source="users"
          value={state.entered['username'] ?? ''}
        />
        <button type="submit">Add</button>
      </AdminForm>
    </section>
  );
}

/** @jsxImportSource @kitajs/html */
import { type UserData, UserKeys, type UserPartProps, UserSessions } from './user-credentials.tsx';
import { ChooseBox, ResourceBox, ActionBox } from './boxes.tsx';
import { Moment, AuditLink, UserMarks, GroupLink } from './cells.tsx';
import { AdminForm, Act, Fold } from './forms.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';
import { FilterBox, FilterForm, ListTable } from './listing.tsx';

export const userPage = adminPage<UserData>({
  name: 'admin-user',
  title: ({ user }) => user.username,
  trail: [{ label: 'Users', href: `${ADMIN_PAGES}/users` }],
  content: (data, around) => (
    <>
      <p>
        Made <Moment at={data.user.created_at} />. <UserMarks user={data.user} />{' '}
        <AuditLink query={{ user: data.user.username }} about={`what ${data.user.username} did`} />
      </p>
      <Account data={data} {...around} />
      <Groups data={data} {...around} />
      <Why data={data} />
      <UserKeys data={data} {...around} />
      <UserSessions data={data} {...around} />
    </>
  ),
});

const FEW = 10;

function Account({ data, state, frame }: UserPartProps) {
  const { user, isSelf } = data;
  const around = { state, frame };
  if (!state.mayChange) return '';
  return (
    <>
      {isSelf ? (
        <p class="fine">
          This is you. Another superuser can deactivate or delete your account; you cannot.
        </p>
      ) : (
        <div class="acts">
          {user.is_active ? (
            <Act
              {...around}
              action="deactivate"
              label="Deactivate"
              about={user.username}
              fields={{}}
              asks
            />
          ) : (
            <Act {...around} action="activate" label="Activate" about={user.username} fields={{}} />
          )}
          <Act
            {...around}
            action="delete-user"
            label="Delete"
            about={user.username}
            fields={{}}
            asks
          />
        </div>
      )}
      <Fold label="Set a new password" isOpen={state.entered['action'] === 'reset-password'}>
        <AdminForm {...around} action="reset-password" class="stack narrow">
          <input hidden name="username" autocomplete="username" value={user.username} readonly />
          <label>
            New password
            <input name="new_password" type="password" autocomplete="new-password" required />
            <small>All sessions of the user end. API keys stay.</small>
          </label>
          <button type="submit">Set the password</button>
        </AdminForm>
      </Fold>
    </>
  );
}

function Groups({ data, state, frame }: UserPartProps) {
  const around = { state, frame };
  const { user, groups } = data;
  return (
    <section>
      <h2>Groups</h2>
      {groups.total > FEW || groups.clearHref !== null ? (
        <FilterForm path={`${ADMIN_PAGES}/users/${user.id}`} listing={groups}>
          <FilterBox name="in" label="Group contains" listing={groups} />
        </FilterForm>
      ) : (
        ''
      )}
      <ListTable
        listing={groups}
        nouns={['group', 'groups']}
        empty="Rights come from groups; this user is in none."
        columns={[
          { label: 'Group', sort: 'name' },
          { label: 'For' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {groups.items.map((group) => (
          <tr>
            <td>
              <GroupLink {...group} />
            </td>
            <td safe>{group.description ?? ''}</td>
            <td class="acts">
              <AuditLink query={{ q: `group ${group.name}` }} about={`the group ${group.name}`} />
              <Act
                {...around}
                action="leave-group"
                label="Remove"
                about={`${user.username} from ${group.name}`}
                fields={{ group_id: group.id }}
                asks
              />
            </td>
          </tr>
        ))}
      </ListTable>
      <AdminForm {...around} action="join-group">
        <ChooseBox
          name="group"
          label="Add to the group"
          names={data.groupNames}
          source="groups"
          value={state.entered['group'] ?? ''}
        />
        <button type="submit">Add</button>
      </AdminForm>
    </section>
  );
}

function Why({ data }: { data: UserData }) {
  return (
    <section>
      <h2 safe>{`What may ${data.user.username} do?`}</h2>
      <form class="filter query" method="get" action={`${ADMIN_PAGES}/explain`}>
        <input type="hidden" name="user" value={data.user.username} />
        <ResourceBox value="" />
        <ActionBox value="read" />
        <button class="quiet" type="submit">
          Explain
        </button>
      </form>
    </section>
  );
}

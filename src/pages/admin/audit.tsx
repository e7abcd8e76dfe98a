/** @jsxImportSource @kitajs/html */
import { Problem } from '../parts/messages.tsx';
import { Moment, UserLink } from './cells.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable } from './listing.tsx';

export interface AuditRow {
  readonly id: number;
  readonly timestamp: string;
  readonly user_id: number | null;
  /** Null: nobody was signed in, or the account was deleted since. */
  readonly username: string | null;
  readonly action: string;
  readonly resource: string | null;
  readonly details: string | null;
  readonly ip_address: string | null;
}

interface AuditData {
  readonly listing: Listing<AuditRow>;
  readonly actions: readonly string[];
  readonly failure: string | null;
}

export const auditPage = adminPage<AuditData>({
  name: 'admin-audit',
  title: () => 'Audit',
  content: ({ listing, actions, failure }) => (
    <>
      <FilterForm path={`${ADMIN_PAGES}/audit`} listing={listing}>
        <FilterBox name="q" label="Contains" listing={listing} />
        <FilterBox name="user" label="Who" listing={listing} />
        <FilterBox name="did" label="Action" listing={listing} list="actions" />
        <FilterBox name="resource" label="Resource" listing={listing} />
        <FilterBox name="from" label="From" type="datetime-local" listing={listing} />
        <FilterBox name="to" label="To" type="datetime-local" listing={listing} />
      </FilterForm>
      <datalist id="actions">
        {actions.map((action) => (
          <option value={action} />
        ))}
      </datalist>
      <Problem text={failure} />
      <ListTable
        listing={listing}
        nouns={['entry', 'entries']}
        empty="Nothing has happened yet."
        columns={[
          { label: 'When', sort: 'timestamp' },
          { label: 'Who' },
          { label: 'Action', sort: 'action' },
          { label: 'Resource', sort: 'resource' },
          { label: 'Details' },
          { label: 'Address' },
        ]}
      >
        {listing.items.map((entry) => (
          <Entry entry={entry} />
        ))}
      </ListTable>
    </>
  ),
});

function Entry({ entry }: { entry: AuditRow }) {
  const {
    timestamp,
    user_id: id,
    username,
    action,
    resource,
    details,
    ip_address: address,
  } = entry;
  return (
    <tr>
      <td>
        <Moment at={timestamp} />
      </td>
      <td>
        {id === null || username === null ? (
          <span class="none">nobody</span>
        ) : (
          <UserLink {...{ id, username }} />
        )}
      </td>
      <td>
        <a class="kind" href={`${ADMIN_PAGES}/audit?${new URLSearchParams({ did: action })}`} safe>
          {action}
        </a>
      </td>
      <td safe>{resource ?? ''}</td>
      <td class="text" safe>
        {details ?? ''}
      </td>
      <td safe>{address ?? ''}</td>
    </tr>
  );
}

/** @jsxImportSource @kitajs/html */
import { Moment, AuditLink } from './cells.tsx';
import { Act } from './forms.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable } from './listing.tsx';

export interface LockRow {
  readonly id: number;
  readonly resource: string;
  readonly owner: string;
  readonly acquired_at: string;
  readonly expires_at: string | null;
  readonly reason: string | null;
}

interface LocksData {
  readonly listing: Listing<LockRow>;
}

export const locksPage = adminPage<LocksData>({
  name: 'admin-locks',
  title: () => 'Locks',
  content: ({ listing }, around) => (
    <>
      <p class="fine">
        Whoever changes a file holds a lock on it for that moment. One that stays is left over from
        a program that ended; it goes by itself when it expires.
      </p>
      <FilterForm path={`${ADMIN_PAGES}/locks`} listing={listing}>
        <FilterBox name="q" label="File or owner contains" listing={listing} />
      </FilterForm>
      <div class="acts">
        <Act
          {...around}
          action="clean-locks"
          label="Remove stale locks"
          about="of all files"
          fields={{}}
          asks
        />
      </div>
      <ListTable
        listing={listing}
        nouns={['lock', 'locks']}
        empty="Nobody is writing a file at the moment."
        columns={[
          { label: 'File', sort: 'resource' },
          { label: 'Owner', sort: 'owner' },
          { label: 'For', sort: 'reason' },
          { label: 'Since', sort: 'acquired_at' },
          { label: 'Expires', sort: 'expires_at' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {listing.items.map((lock) => (
          <tr>
            <td safe>{lock.resource}</td>
            <td safe>{lock.owner}</td>
            <td safe>{lock.reason ?? ''}</td>
            <td>
              <Moment at={lock.acquired_at} />
            </td>
            <td>
              <Moment at={lock.expires_at} />
            </td>
            <td class="acts">
              <AuditLink query={{ resource: lock.resource }} about={lock.resource} />
              <Act
                {...around}
                action="release-lock"
                label="Release"
                about={`lock on ${lock.resource}`}
                fields={{ id: lock.id, resource: lock.resource, owner: lock.owner }}
                asks
              />
            </td>
          </tr>
        ))}
      </ListTable>
    </>
  ),
});

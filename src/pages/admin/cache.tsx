/** @jsxImportSource @kitajs/html */
import { Moment, AuditLink } from './cells.tsx';
import { Act } from './forms.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable } from './listing.tsx';

export interface CacheRow {
  readonly key: string;
  readonly expires_at: string;
  readonly resource: string;
}

interface CacheData {
  readonly listing: Listing<CacheRow>;
}

export const cachePage = adminPage<CacheData>({
  name: 'admin-cache',
  title: () => 'Cache',
  content: ({ listing }, around) => (
    <>
      <p class="fine">
        What was worked out from a file is remembered for a while, and never longer than the file
        stays as it is.
      </p>
      <FilterForm path={`${ADMIN_PAGES}/cache`} listing={listing}>
        <FilterBox name="q" label="Key or file contains" listing={listing} />
      </FilterForm>
      <div class="acts">
        <Act
          {...around}
          action="clear-cache"
          label="Forget everything"
          about="in the cache"
          fields={{ resource: '' }}
          asks
        />
      </div>
      <ListTable
        listing={listing}
        nouns={['entry', 'entries']}
        empty="Nothing is remembered at the moment."
        columns={[
          { label: 'Key', sort: 'key' },
          { label: 'File', sort: 'resource' },
          { label: 'Expires', sort: 'expires_at' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {listing.items.map(({ key, resource, expires_at: expires }) => (
          <tr>
            <td safe>{key}</td>
            <td safe>{resource}</td>
            <td>
              <Moment at={expires} />
            </td>
            <td class="acts">
              <AuditLink
                query={{ resource: 'cache', q: resource }}
                about={`the cache of ${resource}`}
              />
              <Act
                {...around}
                action="delete-entry"
                label="Forget"
                about={key}
                fields={{ key, resource }}
                asks
              />
              <Act
                {...around}
                action="clear-cache"
                label="Forget the file"
                about={resource}
                fields={{ resource }}
                asks
              />
            </td>
          </tr>
        ))}
      </ListTable>
    </>
  ),
});

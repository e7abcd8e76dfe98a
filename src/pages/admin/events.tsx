/** @jsxImportSource @kitajs/html */
import type { RejectView, SenderCounters, UnknownView } from '../../events/intake/counters.ts';
import type { IndexView } from '../../operations/event-indexes.ts';
import { Problem } from '../parts/messages.tsx';
import { Size } from '../parts/size.tsx';
import { Count } from '../parts/count.tsx';
import { Moment, AuditLink, WhoMayLink } from './cells.tsx';
import { ADMIN_PAGES, adminPage } from './layout.tsx';
import { FilterBox, FilterForm, type Listing, ListTable, Rows } from './listing.tsx';

interface EventsData {
  /** Empty when they cannot be read; `failure` says why. */
  readonly indexes: Listing<IndexView>;
  readonly failure: string | null;
  readonly queue: {
    readonly events: number;
    readonly bytes: number;
    readonly capacity_events: number;
    readonly capacity_bytes: number;
  };
  readonly commits: { readonly per_second: number; readonly p99_ms: number };
  readonly senders: Listing<SenderCounters>;
  readonly unknown: readonly UnknownView[];
  readonly listing: Listing<RejectView>;
}

export const eventsAdminPage = adminPage<EventsData>({
  name: 'admin-events',
  title: () => 'Events',
  content: (data) => (
    <>
      <Problem text={data.failure} />
      <Queue data={data} />
      <Indexes listing={data.indexes} />
      <Senders listing={data.senders} />
      <Unknown unknown={data.unknown} />
      <Rejects listing={data.listing} />
    </>
  ),
});

function Queue({ data: { queue, commits } }: { data: EventsData }) {
  return (
    <dl class="facts">
      <div>
        <dt>Waiting to be written</dt>
        <dd>
          <Count value={queue.events} /> events,{' '}
          <span class="nowrap">
            <Size bytes={queue.bytes} />
          </span>
        </dd>
      </div>
      <div>
        <dt>Room in the queue</dt>
        <dd>
          <Count value={queue.capacity_events} /> events,{' '}
          <span class="nowrap">
            <Size bytes={queue.capacity_bytes} />
          </span>
        </dd>
      </div>
      <div>
        <dt>Commits a second</dt>
        <dd>
          <Count value={Number(commits.per_second.toFixed(1))} />
        </dd>
      </div>
      <div>
        <dt>99 of 100 commits within</dt>
        <dd safe>{`${Number(commits.p99_ms.toFixed(1))} ms`}</dd>
      </div>
    </dl>
  );
}

function Indexes({ listing }: { listing: Listing<IndexView> }) {
  return (
    <section>
      <h2>Indexes</h2>
      <FilterForm path={`${ADMIN_PAGES}/events`} listing={listing}>
        <FilterBox name="index" label="Index contains" listing={listing} />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['index', 'indexes']}
        empty="No event is stored yet."
        wayOn={{ label: 'How log shippers send them', href: '/docs/guide/shippers' }}
        columns={[
          { label: 'Index', sort: 'index' },
          { label: 'Events', sort: 'events', isNumber: true },
          { label: 'Size', sort: 'bytes', isNumber: true },
          { label: 'Oldest', sort: 'oldest' },
          { label: 'Newest', sort: 'newest' },
          { label: 'Kept' },
          { label: 'What can be done', isHidden: true },
        ]}
      >
        {listing.items.map((one) => (
          <Index one={one} />
        ))}
      </ListTable>
    </section>
  );
}

function Index({ one }: { one: IndexView }) {
  return (
    <tr>
      <td safe>{one.index}</td>
      <td class="number">
        <Count value={one.events} />
      </td>
      <td class="nowrap number">
        <Size bytes={one.bytes} />
      </td>
      <td>
        <Moment at={one.oldest} />
      </td>
      <td>
        <Moment at={one.newest} />
      </td>
      <td>
        <Retention index={one} />
      </td>
      <td class="acts">
        <WhoMayLink action="read" resource={`@events/${one.index}`} />
        <AuditLink query={{ q: `@events/${one.index}` }} about={one.index} />
      </td>
    </tr>
  );
}

function Retention({ index: { max_age_days: days, max_bytes: bytes } }: { index: IndexView }) {
  if (days === null && bytes === null) return <>for ever</>;
  return (
    <>
      {days === null ? '' : <Count value={days} />}
      {days === null ? '' : days === 1 ? ' day' : ' days'}
      {days === null || bytes === null ? '' : ', '}
      {bytes === null ? '' : 'up to '}
      {bytes === null ? '' : <Size bytes={bytes} />}
    </>
  );
}

function Senders({ listing }: { listing: Listing<SenderCounters> }) {
  return (
    <section>
      <h2>Who sends</h2>
      <FilterForm path={`${ADMIN_PAGES}/events`} listing={listing}>
        <FilterBox name="sender" label="Credential, protocol or error contains" listing={listing} />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['sender', 'senders']}
        empty="Nothing has come in yet."
        wayOn={{ label: 'How log shippers send events', href: '/docs/guide/shippers' }}
        columns={[
          { label: 'Credential', sort: 'label' },
          { label: 'Protocol' },
          { label: 'Requests', sort: 'requests', isNumber: true },
          { label: 'Stored', sort: 'accepted', isNumber: true },
          { label: 'Rejected', sort: 'rejected', isNumber: true },
          { label: 'Repeated', isNumber: true },
          { label: 'Throttled', isNumber: true },
          { label: 'Size', sort: 'bytes', isNumber: true },
          { label: 'Last', sort: 'last' },
          { label: 'Last error' },
          { label: 'Audit', isHidden: true },
        ]}
      >
        {listing.items.map((sender) => (
          <Sender sender={sender} />
        ))}
      </ListTable>
    </section>
  );
}

const KINDS: Readonly<Record<SenderCounters['kind'], string>> = {
  api_key: 'API key',
  token: 'token',
  basic: 'password',
  session: 'session',
  bearer: 'bearer token',
  listener: 'listener',
};

function Sender({ sender }: { sender: SenderCounters }) {
  return (
    <tr>
      <td>
        <span safe>{sender.label}</span>{' '}
        <span class="fine nowrap" safe>
          {KINDS[sender.kind]}
        </span>
      </td>
      <td safe>{sender.dialect}</td>
      {[sender.requests, sender.accepted, sender.rejected, sender.duplicates, sender.throttled].map(
        (value) => (
          <td class="number">
            <Count value={value} />
          </td>
        ),
      )}
      <td class="nowrap number">
        <Size bytes={sender.bytes} />
      </td>
      <td>
        <Moment at={sender.last_at} />
      </td>
      <td class="text">
        {sender.last_error === null ? (
          ''
        ) : (
          <>
            <span safe>{sender.last_error}</span>{' '}
            <span class="fine">
              <Moment at={sender.last_error_at} none="" />
            </span>
          </>
        )}
      </td>
      <td>
        <AuditLink query={{ q: sender.label }} about={sender.label} />
      </td>
    </tr>
  );
}

function Unknown({ unknown }: { unknown: readonly UnknownView[] }) {
  if (unknown.length === 0) return '';
  return (
    <section>
      <h2>Credentials nobody has</h2>
      <Rows
        label="Credentials nobody has"
        columns={[
          { label: 'Begins, as SHA-256' },
          { label: 'Times', isNumber: true },
          { label: 'From' },
          { label: 'Last' },
        ]}
      >
        {unknown.map((one) => (
          <tr>
            <td>
              <code safe>{one.hash}</code>
            </td>
            <td class="number">
              <Count value={one.count} />
            </td>
            <td safe>{one.last_address}</td>
            <td>
              <Moment at={one.last_at} />
            </td>
          </tr>
        ))}
      </Rows>
    </section>
  );
}

function Rejects({ listing }: { listing: Listing<RejectView> }) {
  return (
    <section>
      <h2>Not stored</h2>
      <FilterForm path={`${ADMIN_PAGES}/events`} listing={listing}>
        <FilterBox name="q" label="Reason, credential or content contains" listing={listing} />
      </FilterForm>
      <ListTable
        listing={listing}
        nouns={['rejected entry', 'rejected entries']}
        empty="None since the start of the server."
        columns={[
          { label: 'When' },
          { label: 'Credential' },
          { label: 'Protocol' },
          { label: 'Place' },
          { label: 'Why' },
          { label: 'Begins with' },
          { label: 'Audit', isHidden: true },
        ]}
      >
        {listing.items.map((reject) => (
          <tr>
            <td>
              <Moment at={reject.at} />
            </td>
            <td safe>{reject.credential}</td>
            <td safe>{reject.dialect}</td>
            <td safe>{reject.position}</td>
            <td class="text" safe>
              {reject.reason}
            </td>
            <td class="text">
              <code safe>{reject.sample.slice(0, 200)}</code>
            </td>
            <td>
              <AuditLink query={{ q: reject.credential }} about={reject.credential} />
            </td>
          </tr>
        ))}
      </ListTable>
    </section>
  );
}

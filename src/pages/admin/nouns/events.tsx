/** @jsxImportSource @kitajs/html */
import { AppError } from '../../../base/errors.ts';
import type { RejectView, SenderCounters, UnknownView } from '../../../events/intake/counters.ts';
import { type IndexView, listIndexes } from '../../../operations/events/indexes.ts';
import { describeIngest, listRejects } from '../../../operations/events/ingest-settings.ts';
import { Count, Fact, Size } from '../../parts/values.tsx';
import { Problem } from '../../parts/messages.tsx';
import { cell, text } from '../../parts/cells.tsx';
import { acts, audit, auditLink, Moment, moment, number, size, whoMayLink } from '../cells.tsx';
import { boxHolds, List, type Listing, sliceListing, type Table } from '../list.tsx';
import { Rows } from '../../parts/table.tsx';
import { adminPage } from '../page.tsx';

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

const indexTable: Table<IndexView> = {
  nouns: ['index', 'indexes'],
  filters: [{ name: 'index', label: 'Index contains' }],
  empty: 'No event is stored yet.',
  wayOn: { label: 'How log shippers send them', href: '/docs/guide/shippers' },
  columns: [
    text('Index', 'index'),
    number('Events', 'events'),
    size('Size', 'bytes'),
    moment('Oldest', 'oldest'),
    moment('Newest', 'newest'),
    cell('Kept', ({ max_age_days: days, max_bytes: bytes }) => (
      <>
        {days === null && bytes === null && 'for ever'}
        {days !== null && <Count value={days} />}
        {days !== null && (days === 1 ? ' day' : ' days')}
        {days !== null && bytes !== null && ', '}
        {bytes !== null && 'up to '}
        {bytes !== null && <Size bytes={bytes} />}
      </>
    )),
    acts(({ index }) => [
      whoMayLink({ action: 'read', resource: `@events/${index}` }),
      auditLink({ q: `@events/${index}` }, index),
    ]),
  ],
};

const KINDS: Readonly<Record<SenderCounters['kind'], string>> = {
  api_key: 'API key',
  token: 'token',
  basic: 'password',
  session: 'session',
  bearer: 'bearer token',
  listener: 'listener',
};

const senderTable: Table<SenderCounters> = {
  nouns: ['sender', 'senders'],
  filters: [{ name: 'sender', label: 'Credential, protocol or error contains' }],
  empty: 'Nothing has come in yet.',
  wayOn: { label: 'How log shippers send events', href: '/docs/guide/shippers' },
  columns: [
    cell(
      'Credential',
      ({ label, kind }) => (
        <>
          <span safe>{label}</span>{' '}
          <span class="fine nowrap" safe>
            {KINDS[kind]}
          </span>
        </>
      ),
      'label',
    ),
    text('Protocol', 'dialect'),
    number('Requests', 'requests'),
    number('Stored', 'accepted'),
    number('Rejected', 'rejected'),
    number('Repeated', 'duplicates'),
    number('Throttled', 'throttled'),
    size('Size', 'bytes'),
    moment('Last', 'last_at', 'last'),
    {
      label: 'Last error',
      cell: ({ last_error: error, last_error_at: at }) => (
        <td class="text">
          {error !== null && (
            <>
              <span safe>{error}</span>{' '}
              <span class="fine">
                <Moment at={at} none="" />
              </span>
            </>
          )}
        </td>
      ),
    },
    audit(({ label }) => [{ q: label }, label]),
  ],
};

const rejectTable: Table<RejectView> = {
  nouns: ['rejected entry', 'rejected entries'],
  filters: [{ name: 'q', label: 'Reason, credential or content contains' }],
  empty: 'None since the start of the server.',
  columns: [
    moment('When', 'at'),
    text('Credential', 'credential'),
    text('Protocol', 'dialect'),
    text('Place', 'position'),
    text('Why', 'reason', { isLong: true }),
    {
      label: 'Begins with',
      cell: ({ sample }) => (
        <td class="text">
          <code safe>{sample.slice(0, 200)}</code>
        </td>
      ),
    },
    audit(({ credential }) => [{ q: credential }, credential]),
  ],
};

export const events = adminPage<EventsData>({
  path: 'events',
  summary: 'Show the event indexes and what comes in',
  title: 'Events',
  read: async (context) => {
    const { services } = context;
    const ingest = await describeIngest(services);
    let failure: string | null = null;
    // A failure of the event store leaves the rest of the page usable.
    const indexes = await listIndexes(services).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      failure = error.message;
      return [];
    });
    const inIndex = boxHolds(context, 'index');
    const inSender = boxHolds(context, 'sender');
    const inReject = boxHolds(context, 'q');
    return {
      indexes: sliceListing(
        context,
        indexTable,
        indexes.filter(({ index }) => inIndex(index)),
        {
          part: 'indexes',
          sortBy: {
            index: ({ index }) => index,
            events: (one) => one.events,
            bytes: ({ bytes }) => bytes,
            oldest: ({ oldest }) => oldest ?? '',
            newest: ({ newest }) => newest ?? '',
          },
        },
      ),
      failure: ingest.problem ?? failure,
      queue: ingest.queue,
      commits: ingest.commits,
      senders: sliceListing(
        context,
        senderTable,
        ingest.credentials.filter(({ label, kind, dialect, last_error: error }) =>
          inSender(label, kind, dialect, error ?? ''),
        ),
        {
          part: 'senders',
          sortBy: {
            label: ({ label }) => label,
            requests: ({ requests }) => requests,
            accepted: ({ accepted }) => accepted,
            rejected: ({ rejected }) => rejected,
            bytes: ({ bytes }) => bytes,
            last: ({ last_at: last }) => last ?? '',
          },
        },
      ),
      unknown: ingest.unknown,
      listing: sliceListing(
        context,
        rejectTable,
        listRejects(services).filter(({ reason, credential, sample, dialect }) =>
          inReject(reason, credential, sample, dialect),
        ),
      ),
    };
  },
  content: ({ indexes, failure, queue, commits, senders, unknown, listing }, around) => (
    <>
      <Problem text={failure} />
      <dl class="facts">
        <Amount name="Waiting to be written" events={queue.events} bytes={queue.bytes} />
        <Amount
          name="Room in the queue"
          events={queue.capacity_events}
          bytes={queue.capacity_bytes}
        />
        <Fact name="Commits a second">
          <Count value={Number(commits.per_second.toFixed(1))} />
        </Fact>
        <Fact name="99 of 100 commits within">{`${Number(commits.p99_ms.toFixed(1))} ms`}</Fact>
      </dl>
      <section>
        <h2>Indexes</h2>
        <p>
          <a href="/events/explain">What would be found in a line</a>
        </p>
        <List table={indexTable} listing={indexes} around={around} />
      </section>
      <section>
        <h2>Who sends</h2>
        <List table={senderTable} listing={senders} around={around} />
      </section>
      {unknown.length > 0 && (
        <section>
          <h2>Credentials nobody has</h2>
          <Rows<UnknownView, unknown>
            label="Credentials nobody has"
            columns={[
              cell('Begins, as SHA-256', ({ hash }) => <code safe>{hash}</code>),
              number('Times', 'count'),
              text('From', 'last_address'),
              moment('Last', 'last_at'),
            ]}
            items={unknown}
            around={around}
          />
        </section>
      )}
      <section>
        <h2>Not stored</h2>
        <List table={rejectTable} listing={listing} around={around} />
      </section>
    </>
  ),
});

function Amount(props: { name: string; events: number; bytes: number }) {
  return (
    <Fact name={props.name}>
      <Count value={props.events} /> events,{' '}
      <span class="nowrap">
        <Size bytes={props.bytes} />
      </span>
    </Fact>
  );
}

import { AppError } from '../../../base/errors.ts';
import type { SenderCounters } from '../../../events/intake/counters.ts';
import { type IndexView, listIndexes } from '../../../operations/event-indexes.ts';
import { describeIngest, listRejects } from '../../../operations/ingest-settings.ts';
import type { ServerServices } from '../../../http/dependencies.ts';
import { eventsAdminPage } from '../events.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxHolds, sliceListing } from './page-list.ts';

const INDEX_ORDERS: Readonly<Record<string, (one: IndexView) => string | number>> = {
  index: ({ index }) => index,
  events: ({ events }) => events,
  bytes: ({ bytes }) => bytes,
  oldest: ({ oldest }) => oldest ?? '',
  newest: ({ newest }) => newest ?? '',
};

const SENDER_ORDERS: Readonly<Record<string, (one: SenderCounters) => string | number>> = {
  label: ({ label }) => label,
  requests: ({ requests }) => requests,
  accepted: ({ accepted }) => accepted,
  rejected: ({ rejected }) => rejected,
  bytes: ({ bytes }) => bytes,
  last: ({ last_at: last }) => last ?? '',
};

export const eventsAdminRoute: Route = adminPageRoute({
  path: 'events',
  summary: 'Show the event indexes and what comes in',
  page: eventsAdminPage,
  read: async (context) => {
    const { services } = context;
    const ingest = await describeIngest(services);
    const { indexes, failure } = await indexesOf(services);
    const inReject = boxHolds(context, 'q');
    const rejects = listRejects(services).filter(({ reason, credential, sample, dialect }) =>
      inReject(reason, credential, sample, dialect),
    );
    const inIndex = boxHolds(context, 'index');
    const inSender = boxHolds(context, 'sender');
    const senders = ingest.credentials.filter(({ label, kind, dialect, last_error: error }) =>
      inSender(label, kind, dialect, error ?? ''),
    );
    return {
      indexes: sliceListing(
        context,
        (indexes ?? []).filter(({ index }) => inIndex(index)),
        { part: 'indexes', boxes: ['index'], sortBy: INDEX_ORDERS },
      ),
      failure: ingest.problem ?? failure,
      queue: ingest.queue,
      commits: ingest.commits,
      senders: sliceListing(context, senders, {
        part: 'senders',
        boxes: ['sender'],
        sortBy: SENDER_ORDERS,
      }),
      unknown: ingest.unknown,
      listing: sliceListing(context, rejects, { boxes: ['q'] }),
    };
  },
});

/** A failure of the event store leaves the rest of the page usable. */
async function indexesOf(
  services: ServerServices,
): Promise<{ readonly indexes: readonly IndexView[] | null; readonly failure: string | null }> {
  try {
    return { indexes: await listIndexes(services), failure: null };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { indexes: null, failure: error.message };
  }
}

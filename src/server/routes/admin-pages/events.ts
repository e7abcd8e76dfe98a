/**
 * `/admin/ui/events`: indexes, what comes in, what was not stored (EV-60, EV-61, EV-104).
 */
import { AppError } from '../../../base/errors.ts';
import { type IndexView, listIndexes } from '../../../operations/event-indexes.ts';
import { describeIngest, listRejects } from '../../../operations/ingest-settings.ts';
import type { ServerServices } from '../../dependencies.ts';
import { eventsAdminPage } from '../../pages/admin/events.tsx';
import type { Route } from '../../route-table.ts';
import { adminPageRoute } from './admin-page.ts';
import { boxValue, sliceListing } from './page-list.ts';

/** Events, for those who operate the server. */
export const eventsAdminRoute: Route = adminPageRoute({
  path: 'events',
  summary: 'Show the event indexes and what comes in',
  page: eventsAdminPage,
  read: async (context) => {
    const { services } = context;
    const ingest = await describeIngest(services);
    const { indexes, failure } = await indexesOf(services);
    const q = boxValue(context, 'q').toLowerCase();
    const rejects = listRejects(services).filter((reject) =>
      [reject.reason, reject.credential, reject.sample, reject.dialect]
        .join('\n')
        .toLowerCase()
        .includes(q),
    );
    return {
      indexes,
      failure: ingest.problem ?? failure,
      queue: ingest.queue,
      commits: ingest.commits,
      senders: ingest.credentials,
      unknown: ingest.unknown,
      listing: sliceListing(context, rejects, ['q']),
    };
  },
});

/** The rest of the page is there while the events are not. */
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

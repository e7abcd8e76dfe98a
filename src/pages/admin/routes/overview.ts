import { listAllApiKeys } from '../../../operations/api-keys.ts';
import type { Administrator, ListRequest } from '../../../operations/administration.ts';
import { version } from '../../../base/version.ts';
import { listGroups } from '../../../operations/groups.ts';
import { describeIngest, listRejects } from '../../../operations/ingest-settings.ts';
import { listLocks } from '../../../operations/locks.ts';
import { listPermissions } from '../../../operations/permissions.ts';
import { describeDocroot } from '../../../operations/resources.ts';
import { describeIndex } from '../../../operations/search-index.ts';
import { listAllSessions } from '../../../operations/sessions.ts';
import { listUsers } from '../../../operations/users.ts';
import type { ListPage } from '../../../store/list-source.ts';
import type { ServerServices } from '../../../http/dependencies.ts';
import { isStateSound } from '../../../api/state-soundness.ts';
import { ADMIN_PAGES } from '../layout.tsx';
import { type Figure, overviewPage } from '../overview.tsx';
import type { Route } from '../../../http/route-table.ts';
import { adminPageRoute } from './admin-page.ts';

const SHOWN_PROBLEMS = 5;

export const overviewRoute: Route = adminPageRoute({
  path: '',
  summary: 'Show how everything is',
  page: overviewPage,
  read: async (context, admin) => {
    const { services } = context;
    const { resources } = describeDocroot(services, admin);
    const broken = resources.filter(({ problem }) => problem !== null);
    const ingest = await describeIngest(services);
    const index = describeIndex(services, admin);
    return {
      figures: await figuresOf(services, admin, resources.length),
      problems: broken
        .slice(0, SHOWN_PROBLEMS)
        .map(({ canonical, problem }) => ({ rel: canonical, problem: problem ?? '' })),
      problemCount: broken.length,
      isStateSound: await isStateSound(services),
      uptimeSeconds: (services.clock.monotonic() - services.startedAt) / 1000,
      version: version,
      searchDocuments: index.documents,
      searchPending: index.pending,
      ingest: {
        queuedEvents: ingest.queue.events,
        queuedBytes: ingest.queue.bytes,
        commitsPerSecond: ingest.commits.per_second,
        rejected: listRejects(services).length,
        problem: ingest.problem ?? null,
      },
    };
  },
});

type ReadList = (
  services: ServerServices,
  admin: Administrator,
  request: ListRequest,
) => Promise<ListPage>;

async function figuresOf(
  services: ServerServices,
  admin: Administrator,
  resources: number,
): Promise<Figure[]> {
  const figure = async (name: string, label: string, read: ReadList): Promise<Figure> => {
    const query = new URLSearchParams({ limit: '1' });
    const { total } = await read(services, admin, { query });
    return { label, value: total, href: `${ADMIN_PAGES}/${name}` };
  };
  return [
    { label: 'resources', value: resources, href: `${ADMIN_PAGES}/resources` },
    await figure('users', 'users', listUsers),
    await figure('groups', 'groups', listGroups),
    await figure('permissions', 'permissions', listPermissions),
    await figure('api-keys', 'API keys', listAllApiKeys),
    await figure('sessions', 'sessions', listAllSessions),
    await figure('locks', 'locks', listLocks),
  ];
}

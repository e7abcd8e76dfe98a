import type { Route } from '../../../http/route-table.ts';
import { apiKeysRoute } from './api-keys.ts';
import { auditRoute } from './audit.ts';
import { cacheRoute } from './cache.ts';
import { eventsAdminRoute } from './events.ts';
import { explainRoute } from './explain.ts';
import { groupRoute } from './group.ts';
import { groupsRoute } from './groups.ts';
import { locksRoute } from './locks.ts';
import { overviewRoute } from './overview.ts';
import { permissionsRoute } from './permissions.ts';
import { resourcesRoute } from './resources.ts';
import { sessionsRoute } from './sessions.ts';
import { shareRoute } from './share.ts';
import { tokensRoute } from './tokens.ts';
import { userRoute } from './user.ts';
import { usersRoute } from './users.ts';

export const adminPageRoutes: readonly Route[] = [
  overviewRoute,
  usersRoute,
  userRoute,
  groupsRoute,
  groupRoute,
  shareRoute,
  permissionsRoute,
  explainRoute,
  apiKeysRoute,
  tokensRoute,
  sessionsRoute,
  auditRoute,
  resourcesRoute,
  eventsAdminRoute,
  locksRoute,
  cacheRoute,
];

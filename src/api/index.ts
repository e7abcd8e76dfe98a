/** Every built-in route, a plugin for each noun; files have none. */
import type { AnyElysia } from 'elysia';
import { routesOf } from '../http/route.ts';
import { adminPages } from '../pages/admin/nouns/index.ts';
import { credentialRoutes } from './admin/credentials.ts';
import { groupRoutes } from './admin/groups.ts';
import { permissionRoutes } from './admin/permissions.ts';
import { upkeepRoutes } from './admin/upkeep.ts';
import { userRoutes } from './admin/users.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { assetRoutes } from '../pages/routes/assets.ts';
import { authRoutes } from './auth.ts';
import { elasticRoutes } from './elastic.ts';
import { eventAdministrationRoutes } from './event-administration.ts';
import { eventViewRoutes } from './event-views.ts';
import { eventRoutes } from './events.ts';
import { savedSearchRoutes } from './saved-searches.ts';
import { tokenRoutes } from './tokens.ts';
import { eventsPageRoute } from '../pages/routes/events-page.ts';
import { guideRoutes } from '../pages/routes/guide.ts';
import { healthRoute } from './health.ts';
import { hecRoutes } from './hec.ts';
import { landingRoute } from '../pages/routes/landing.ts';
import { mcpRoute } from './mcp.ts';
import { lokiRoute } from './loki.ts';
import { mediaRoute } from '../pages/routes/media.ts';
import { metricsRoute } from './metrics.ts';
import { oidcRoutes } from './oidc.ts';
import { openApiRoutes } from './openapi.ts';
import { savedSearchesPageRoute } from '../pages/routes/saved-searches-page.ts';
import { searchRoute } from './search.ts';
import { otlpRoute } from './otlp.ts';
import { paletteRoute } from '../pages/routes/palette.ts';
import { profileRoute } from '../pages/routes/profile.ts';
import { searchLanguagePageRoute } from '../pages/routes/search-language.ts';
import { searchLanguageRoutes } from './searches.ts';
import { setupRoute } from '../pages/routes/setup.ts';
import { uploadsRoute } from './uploads.ts';

/** In any order: a path matches at most one. */
export const plugins: readonly AnyElysia[] = [
  landingRoute,
  healthRoute,
  metricsRoute,
  mediaRoute,
  mcpRoute,
  authRoutes,
  oidcRoutes,
  searchRoute,
  profileRoute,
  searchLanguageRoutes,
  searchLanguagePageRoute,
  guideRoutes,
  setupRoute,
  apiKeyRoutes,
  eventRoutes,
  eventViewRoutes,
  savedSearchRoutes,
  tokenRoutes,
  eventAdministrationRoutes,
  hecRoutes,
  elasticRoutes,
  otlpRoute,
  lokiRoute,
  uploadsRoute,
  userRoutes,
  groupRoutes,
  permissionRoutes,
  credentialRoutes,
  upkeepRoutes,
  ...adminPages.map(({ route }) => route),
  assetRoutes,
  paletteRoute,
  eventsPageRoute,
  savedSearchesPageRoute,
  openApiRoutes,
];

export const routes = routesOf(plugins);

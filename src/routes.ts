/** Every built-in route, a plugin for each noun; files have none. */
import type { AnyElysia } from 'elysia';
import { routesOf } from './http/route.ts';
import { adminPages } from './pages/admin/nouns/index.ts';
import { credentialRoutes } from './api/admin/credentials.ts';
import { groupRoutes } from './api/admin/groups.ts';
import { permissionRoutes } from './api/admin/permissions.ts';
import { upkeepRoutes } from './api/admin/upkeep.ts';
import { userRoutes } from './api/admin/users.ts';
import { alertRoutes } from './api/alerts.ts';
import { apiKeyRoutes } from './api/accounts/api-keys.ts';
import { changeHookRoutes } from './api/files/change-hooks.ts';
import { changesRoutes } from './api/files/changes.ts';
import { companionRoutes } from './api/files/companions.ts';
import { dashboardRoutes } from './api/files/dashboards.ts';
import { davRoutes } from './api/dav/dav.ts';
import { fileRoutes } from './api/files/files.ts';
import { historyRoutes } from './api/files/history.ts';
import { authRoutes } from './api/accounts/auth.ts';
import { elasticRoutes } from './api/events/elastic.ts';
import { eventAdministrationRoutes } from './api/events/administration.ts';
import { eventViewRoutes } from './api/events/views.ts';
import { eventRoutes } from './api/events/events.ts';
import { secondFactorRoutes } from './api/accounts/second-factors.ts';
import { savedSearchRoutes } from './api/saved-searches.ts';
import { tokenRoutes } from './api/accounts/tokens.ts';
import { eventPageRoute } from './pages/events/event-page.tsx';
import { eventsPageRoute } from './pages/events/events.tsx';
import { guideRoutes } from './pages/docs/guide.tsx';
import { findingRoutes } from './api/findings.ts';
import { alertPageRoute } from './pages/alerts/alert.tsx';
import { alertsPageRoute } from './pages/alerts/alerts.tsx';
import { findingPageRoute } from './pages/findings/finding.tsx';
import { findingsPageRoute } from './pages/findings/findings.tsx';
import { healthRoute } from './api/health.ts';
import { hecRoutes } from './api/events/hec.ts';
import { landingRoute } from './pages/files/landing.tsx';
import { mcpRoute } from './mcp/route.ts';
import { journaldRoute } from './api/events/journald.ts';
import { lokiRoute, otlpRoute } from './api/events/otlp.ts';
import { mediaRoute } from './pages/files/media.tsx';
import { metricsRoute } from './api/metrics.ts';
import { oidcRoutes } from './pages/accounts/oidc.ts';
import { docsRoute } from './pages/docs/docs.tsx';
import { lineFormatsRoute } from './pages/events/line-formats.tsx';
import { shareRoute } from './pages/sharing/share.tsx';
import { linkFrontRoute } from './pages/sharing/link-front.tsx';
import { linkRoutes } from './api/accounts/links.ts';
import { loginRoute } from './pages/accounts/login.tsx';
import { openApiRoute } from './api/openapi.ts';
import { savedSearchesPageRoute } from './pages/events/saved-searches.tsx';
import { searchRoute } from './pages/search.tsx';
import { paletteRoute } from './pages/palette.ts';
import { secondFactorRoute } from './pages/accounts/second-factor.tsx';
import { profileRoute } from './pages/accounts/profile.tsx';
import { searchLanguagePageRoute } from './pages/events/search-language.tsx';
import { searchLanguageRoutes } from './api/searches.ts';
import { sqlRoute } from './api/sql.ts';
import { setupRoute } from './pages/accounts/setup.tsx';
import { trashRoute } from './pages/files/trash.tsx';
import { uploadsRoute } from './pages/files/uploads.tsx';
import { assetRoutes } from './pages/assets.ts';

/** In any order: a path matches at most one. */
export const plugins: readonly AnyElysia[] = [
  landingRoute,
  healthRoute,
  metricsRoute,
  mediaRoute,
  mcpRoute,
  loginRoute,
  authRoutes,
  secondFactorRoutes,
  secondFactorRoute,
  oidcRoutes,
  searchRoute,
  profileRoute,
  searchLanguageRoutes,
  sqlRoute,
  searchLanguagePageRoute,
  guideRoutes,
  setupRoute,
  apiKeyRoutes,
  eventRoutes,
  eventViewRoutes,
  savedSearchRoutes,
  findingRoutes,
  alertPageRoute,
  alertsPageRoute,
  findingsPageRoute,
  findingPageRoute,
  tokenRoutes,
  eventAdministrationRoutes,
  hecRoutes,
  elasticRoutes,
  otlpRoute,
  lokiRoute,
  journaldRoute,
  uploadsRoute,
  linkFrontRoute,
  shareRoute,
  linkRoutes,
  userRoutes,
  groupRoutes,
  permissionRoutes,
  credentialRoutes,
  upkeepRoutes,
  ...adminPages.map(({ route }) => route),
  assetRoutes,
  alertRoutes,
  companionRoutes,
  dashboardRoutes,
  davRoutes,
  fileRoutes,
  trashRoute,
  historyRoutes,
  changesRoutes,
  changeHookRoutes,
  paletteRoute,
  eventsPageRoute,
  eventPageRoute,
  lineFormatsRoute,
  savedSearchesPageRoute,
  openApiRoute,
  docsRoute,
];

export const routes = routesOf(plugins);

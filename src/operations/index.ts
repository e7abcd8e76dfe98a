/**
 * A file for each noun, an exported function for each verb. HTTP, MCP, pages and command line all call these, so that
 * rights are checked and changes audited in one place.
 */
import * as access from './access.ts';
import * as accounts from './accounts.ts';
import * as administration from './administration.ts';
import * as apiKeys from './api-keys.ts';
import * as audit from './audit.ts';
import * as backups from './backups.ts';
import * as cache from './cache.ts';
import * as companions from './companions.ts';
import * as content from './content.ts';
import * as datasetSummaries from './dataset-summaries.ts';
import * as datasets from './datasets.ts';
import * as eventAccess from './event-access.ts';
import * as eventIndexes from './event-indexes.ts';
import * as eventTails from './event-tails.ts';
import * as events from './events.ts';
import * as explanations from './access-explanations.ts';
import * as groups from './groups.ts';
import * as handlers from './handlers.ts';
import * as ingestSettings from './ingest-settings.ts';
import * as locks from './locks.ts';
import * as oidcSignIn from './oidc-sign-in.ts';
import * as permissions from './permissions.ts';
import * as resources from './resources.ts';
import * as savedSearchRequest from './saved-search-request.ts';
import * as savedSearches from './saved-searches.ts';
import * as sessions from './sessions.ts';
import * as search from './search.ts';
import * as searchRequest from './search-request.ts';
import * as searchIndex from './search-index.ts';
import * as searches from './searches.ts';
import * as setup from './setup.ts';
import * as syslog from './syslog.ts';
import * as tokens from './tokens.ts';
import * as uploads from './uploads.ts';
import * as users from './users.ts';

/** `access` and `administration` are the checks that the others share. */
export const operations = {
  access,
  accounts,
  administration,
  apiKeys,
  audit,
  backups,
  cache,
  companions,
  content,
  datasetSummaries,
  datasets,
  eventAccess,
  eventIndexes,
  eventTails,
  events,
  explanations,
  groups,
  handlers,
  ingestSettings,
  locks,
  oidcSignIn,
  permissions,
  resources,
  savedSearchRequest,
  savedSearches,
  sessions,
  search,
  searchIndex,
  searchRequest,
  searches,
  setup,
  syslog,
  tokens,
  uploads,
  users,
} as const;

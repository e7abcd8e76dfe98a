import type { Caller } from '../../accounts/rights/principal.ts';
import { AppError } from '../../base/errors.ts';
import type { Tool } from '../tool.ts';
import { handlerTools } from './handler-tools.ts';
import { savedSearchTools } from './saved-search-tools.ts';
import { listFindings, updateFinding } from './findings.ts';
import { getHistory, restoreVersion } from './history.ts';
import { getSchema } from './get-schema.ts';
import { listResources } from './list-resources.ts';
import { listSavedSearches } from './list-saved-searches.ts';
import { readResource } from './read-resource.ts';
import { runSql, searchEvents } from './search-events.ts';
import { search } from './search.ts';
import { writeResource } from './write-resource.ts';
import type { ServerServices } from '../../http/context.ts';

export const tools: readonly Tool[] = [
  listResources,
  getSchema,
  readResource,
  writeResource,
  search,
  searchEvents,
  runSql,
  listSavedSearches,
  listFindings,
  updateFinding,
  getHistory,
  restoreVersion,
];

/** Those the configuration adds for a caller: saved searches and handlers. */
export async function ownTools(services: ServerServices, caller: Caller): Promise<Tool[]> {
  if (caller === null) return [];
  const [searches, handlers] = await Promise.all([
    savedSearchTools(services, caller).catch(noneWhenDenied),
    handlerTools(services, caller),
  ]);
  return [...searches, ...handlers];
}

/** Who may use no saved searches has no tools of them. */
function noneWhenDenied(error: unknown): Tool[] {
  if (error instanceof AppError && error.code === 'permission-denied') return [];
  throw error;
}

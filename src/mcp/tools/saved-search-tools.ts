import {
  BUILT_IN_PLACEHOLDERS,
  markPlaceholders,
  placeholdersIn,
} from '../../language/syntax/placeholder.ts';
import {
  getSavedSearch,
  listSavedSearches,
  type SavedSearchView,
} from '../../operations/events/saved-searches.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { toolName } from '../tool-name.ts';
import { MAX_TOOLS, type Tool } from '../tool.ts';
import { isSql } from '../../language/syntax/sql-statement.ts';
import { namedParameters } from '../../language/sql/statement.ts';
import { runSql, searchEvents } from './search-events.ts';
import type { ServerServices } from '../../http/context.ts';

const MAX_QUERY_SHOWN = 500;

/** The saved searches of the caller as tools of their own, where `mcp.saved_searches` is on. */
export async function savedSearchTools(
  services: ServerServices,
  caller: Principal,
): Promise<Tool[]> {
  if (!services.config.mcp.saved_searches) return [];
  const found = await listSavedSearches(services, caller, { search: '' }, MAX_TOOLS);
  return found.map(({ view }) => toolOf(view));
}

function toolOf({ id, name, query }: SavedSearchView): Tool {
  // Braces of SQL are placeholders only in the queries that its comments name.
  const asked = isSql(query) ? (query.match(/^--.*$/gm) ?? []).join('\n') : query;
  const values = [...new Set(placeholdersIn(markPlaceholders(asked)))].filter(
    (one) => !BUILT_IN_PLACEHOLDERS.some(({ name: known }) => known === one),
  );
  if (isSql(query)) values.push(...new Set(namedParameters(query)));
  const { outputSchema, annotations } = searchEvents.description;
  return {
    description: {
      name: toolName(['saved', name], String(id)),
      title: name,
      description: `The saved search "${name}": ${query.slice(0, MAX_QUERY_SHOWN)}`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          values.map((value) => [
            value,
            {
              type: ['string', 'number', 'boolean'],
              description: `Value of ${isSql(query) ? `:${value}` : `{${value}}`} in the query`,
            },
          ]),
        ),
        required: values,
        additionalProperties: false,
      },
      outputSchema,
      annotations: { ...annotations, title: name },
    },
    call: async (call) => {
      // As it is now: the list may be older.
      const { query: now } = await getSavedSearch(call.services, call.caller, id);
      const params = call.arguments;
      return isSql(now)
        ? runSql.call({ ...call, arguments: { sql: now, params } })
        : searchEvents.call({ ...call, arguments: { query: now, params } });
    },
  };
}

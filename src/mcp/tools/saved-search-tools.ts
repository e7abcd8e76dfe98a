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
import type { Tool } from '../tool.ts';
import { searchEvents } from './search-events.ts';
import type { ServerServices } from '../../http/context.ts';

/** More tools than this only confuse whoever chooses among them. */
const MAX_TOOLS = 100;
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
  const values = [...new Set(placeholdersIn(markPlaceholders(query)))].filter(
    (one) => !BUILT_IN_PLACEHOLDERS.some(({ name: known }) => known === one),
  );
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
              description: `Value of {${value}} in the query`,
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
      return searchEvents.call({ ...call, arguments: { query: now, params: call.arguments } });
    },
  };
}

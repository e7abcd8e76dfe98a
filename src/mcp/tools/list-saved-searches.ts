import { listSavedSearches as list } from '../../operations/events/saved-searches.ts';
import { MAX_NAME } from '../named-resource.ts';
import { jsonResult, READER, type Tool } from '../tool.ts';

/** A longer list helps nobody choose; the word filters it. */
const MAX_LISTED = 1_000;

/** Answers as `GET /api/savedsearches/`; the texts are for `search_events`. */
export const listSavedSearches: Tool = {
  description: {
    name: 'list_saved_searches',
    title: 'List saved searches',
    description: `The saved queries you may use, by name, at most ${MAX_LISTED}; run one by giving its query to search_events, or to run_sql where it is SQL.`,
    inputSchema: {
      type: 'object',
      properties: {
        search: {
          type: ['string', 'null'],
          maxLength: MAX_NAME,
          default: null,
          description: 'Words that name or query must hold',
        },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        saved_searches: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              id: { type: 'integer' },
              name: { type: 'string' },
              query: { type: 'string' },
              is_public: { type: 'boolean' },
            },
            required: ['id', 'name', 'query'],
            additionalProperties: true,
          },
        },
      },
      required: ['saved_searches'],
    },
    annotations: { title: 'List saved searches', ...READER },
  },
  call: async ({ services, caller, arguments: { search } }) => {
    const words = typeof search === 'string' ? search : '';
    const found = await list(services, caller, { search: words }, MAX_LISTED);
    return jsonResult({ saved_searches: found.map(({ view }) => view) }, found.length);
  },
};

import {
  docrootAnswer,
  MAX_RESULTS,
  parseDocrootQuery,
  searchDocroot,
} from '../../operations/files/search.ts';
import { integerText } from '../json-text.ts';
import { MAX_QUERY } from '../named-resource.ts';
import { jsonResult, READER, type Tool } from '../tool.ts';

/** Full text over everything the caller may read, as `GET /search`. */
export const search: Tool = {
  description: {
    name: 'search',
    title: 'Search everything',
    description:
      'Full-text search over rows, documents, media and handlers you may read. All words must occur, the last one may be a ' +
      'beginning. Snippets are HTML with hits in <mark>; a result with row_id is one row of its resource.',
    inputSchema: {
      type: 'object',
      properties: {
        q: { type: 'string', maxLength: MAX_QUERY, description: 'Words' },
        limit: { type: 'integer', minimum: 1, maximum: MAX_RESULTS, default: 20 },
        offset: { type: 'integer', minimum: 0, default: 0 },
        resource_type: {
          type: ['string', 'null'],
          maxLength: MAX_QUERY,
          default: null,
          description: 'Comma list of csv, excel, parquet, markdown, html, file, media, handler',
        },
      },
      required: ['q'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        count: { type: 'integer', minimum: 0, description: 'Results in this answer' },
        has_more: { type: 'boolean' },
        results: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              resource: { type: 'string' },
              type: { type: 'string' },
              title: { type: 'string' },
              snippet: { type: 'string' },
              score: { type: 'number', description: 'Higher is better' },
              ui_url: { type: 'string' },
              api_url: { type: 'string' },
              row_id: { type: 'integer' },
            },
            required: ['resource', 'type', 'title', 'snippet', 'score', 'ui_url'],
          },
        },
      },
      required: ['query', 'count', 'has_more', 'results'],
    },
    annotations: { title: 'Search everything', ...READER },
  },
  call: async ({ services, caller, arguments: given }) => {
    const query = new URLSearchParams();
    const { q, limit, offset, resource_type: type } = given;
    for (const [name, value] of Object.entries({ q, limit, offset, type })) {
      if (value === undefined || value === null) continue;
      query.set(name, typeof value === 'string' ? value : integerText(value));
    }
    const results = await searchDocroot(services, caller, parseDocrootQuery(query));
    return jsonResult(docrootAnswer(results, services.config.public_url), results.results.length);
  },
};

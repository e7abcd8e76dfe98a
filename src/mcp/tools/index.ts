import type { Tool } from '../tool.ts';
import { getSchema } from './get-schema.ts';
import { listResources } from './list-resources.ts';
import { listSavedSearches } from './list-saved-searches.ts';
import { readResource } from './read-resource.ts';
import { searchEvents } from './search-events.ts';
import { search } from './search.ts';
import { writeResource } from './write-resource.ts';

export const tools: readonly Tool[] = [
  listResources,
  getSchema,
  readResource,
  writeResource,
  search,
  searchEvents,
  listSavedSearches,
];

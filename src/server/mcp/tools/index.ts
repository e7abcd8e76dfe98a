/**
 * Every tool, in the order clients get them (DS-179). A new one is a file beside this and one more line at the end.
 */
import type { Tool } from '../tool.ts';
import { getSchema } from './get-schema.ts';
import { listResources } from './list-resources.ts';
import { listSavedSearches } from './list-saved-searches.ts';
import { readResource } from './read-resource.ts';
import { searchEvents } from './search-events.ts';
import { search } from './search.ts';
import { writeResource } from './write-resource.ts';

/** The five of the contract, then what was added since. */
export const tools: readonly Tool[] = [
  listResources,
  getSchema,
  readResource,
  writeResource,
  search,
  searchEvents,
  listSavedSearches,
];

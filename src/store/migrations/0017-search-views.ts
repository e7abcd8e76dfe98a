/** How a saved search is shown: parameters of the page of events, such as `chart=line&log=1`. */
import type { Migration } from '../migrate.ts';

export const searchViews: Migration = {
  version: 17,
  name: '0017-search-views',
  statements: ["ALTER TABLE saved_searches ADD COLUMN view TEXT NOT NULL DEFAULT ''"],
};

/**
 * Which readers of a saved search its owner named. Those given by id are not shown to the owner by name: ids can be
 * enumerated, names cannot.
 */
import type { Migration } from '../migrate.ts';

export const namedReaders: Migration = {
  version: 6,
  name: '0006-named-readers',
  statements: [
    `ALTER TABLE saved_search_shares ADD COLUMN by_name INTEGER NOT NULL DEFAULT 0
     CHECK (by_name IN (0, 1))`,
  ],
};

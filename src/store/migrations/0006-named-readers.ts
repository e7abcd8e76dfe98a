/**
 * Which readers of a saved search its owner named, so that those given by id are not told to the owner by name: ids can
 * be counted up, names cannot.
 */
import type { Migration } from '../migrate.ts';

/** Version 6. */
export const namedReaders: Migration = {
  version: 6,
  name: '0006-named-readers',
  statements: [
    `ALTER TABLE saved_search_shares ADD COLUMN by_name INTEGER NOT NULL DEFAULT 0
     CHECK (by_name IN (0, 1))`,
  ],
};

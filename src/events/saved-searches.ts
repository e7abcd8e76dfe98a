import { timestamp } from '../base/clock.ts';
import type { Database, SqlValue } from '../store/database.ts';

/** Times are RFC 3339. */
export interface SavedSearch {
  readonly id: number;
  readonly ownerId: number;
  readonly name: string;
  readonly query: string;
  /** Parameters of the page that shows it; `''`: as it suits the result. */
  readonly view: string;
  readonly isPublic: boolean;
  readonly sharedWith: readonly number[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface SavedSearchInput {
  readonly name: string;
  readonly query: string;
  readonly view: string;
  readonly isPublic: boolean;
  readonly sharedWith: readonly number[];
  /** Users the owner named in this request; those named before stay named. */
  readonly named?: readonly number[];
}

interface SearchRow {
  readonly id: number;
  readonly owner_id: number;
  readonly name: string;
  readonly query: string;
  readonly view: string;
  readonly is_public: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Ids joined by commas; null when none. */
  readonly shared: string | null;
}

const SELECT = `SELECT saved_searches.*, (SELECT group_concat(user_id) FROM saved_search_shares
  WHERE search_id = saved_searches.id) AS shared FROM saved_searches`;

function searchOf(row: SearchRow): SavedSearch {
  return {
    id: row.id,
    ownerId: row.owner_id,
    name: row.name,
    query: row.query,
    view: row.view,
    isPublic: row.is_public === 1,
    sharedWith: (row.shared ?? '')
      .split(',')
      .filter(Boolean)
      .map(Number)
      .sort((a, b) => a - b),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export interface SavedSearchPlace {
  readonly name: string;
  readonly id: number;
}

/** Own searches, those shared with the user, and public ones; with `everything` all. By name, then id. */
export async function listSavedSearches(
  db: Database,
  viewer: { readonly userId: number; readonly everything: boolean },
  { after, limit }: { readonly after: SavedSearchPlace | null; readonly limit: number },
): Promise<SavedSearch[]> {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (!viewer.everything) {
    conditions.push(`(owner_id = ? OR is_public = 1 OR id IN (
      SELECT search_id FROM saved_search_shares WHERE user_id = ?))`);
    values.push(viewer.userId, viewer.userId);
  }
  if (after !== null) {
    conditions.push('(name > ? OR (name = ? AND id > ?))');
    values.push(after.name, after.name, after.id);
  }
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const rows = await db.all<SearchRow>(`${SELECT}${where} ORDER BY name, id LIMIT ?`, [
    ...values,
    limit,
  ]);
  return rows.map(searchOf);
}

export async function getSavedSearch(db: Database, id: number): Promise<SavedSearch | null> {
  const row = await db.get<SearchRow>(`${SELECT} WHERE id = ?`, [id]);
  return row === null ? null : searchOf(row);
}

/**
 * Null when the owner has `most` already. With an id, restores the deleted search of that id; null also when it has
 * another owner.
 */
export async function createSavedSearch(
  db: Database,
  owner: { readonly id: number; readonly most: number },
  input: SavedSearchInput,
  now: number,
  id: number | null = null,
): Promise<{ readonly search: SavedSearch; readonly isNew: boolean } | null> {
  return db.transaction(async (tx) => {
    const present = id === null ? null : await getSavedSearch(tx, id);
    if (present !== null) {
      return present.ownerId === owner.id ? { search: present, isNew: false } : null;
    }
    const own = await tx.get<{ n: number }>(
      'SELECT count(*) AS n FROM saved_searches WHERE owner_id = ?',
      [owner.id],
    );
    if (own!.n >= owner.most) return null;
    const at = timestamp(now);
    const { lastId } = await tx.run(
      'INSERT INTO saved_searches (id, owner_id, name, query, view, is_public, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      [id, owner.id, input.name, input.query, input.view, input.isPublic ? 1 : 0, at, at],
    );
    await share(tx, lastId, input);
    return { search: (await getSavedSearch(tx, lastId))!, isNew: true };
  });
}

/** `change` gets the search as it is in the transaction. Null when it is gone. */
export async function updateSavedSearch(
  db: Database,
  id: number,
  change: (old: SavedSearch) => SavedSearchInput,
  now: number,
): Promise<SavedSearch | null> {
  return db.transaction(async (tx) => {
    const old = await getSavedSearch(tx, id);
    if (old === null) return null;
    const input = change(old);
    const values: SqlValue[] = [
      input.name,
      input.query,
      input.view,
      input.isPublic ? 1 : 0,
      timestamp(now),
      id,
    ];
    await tx.run(
      'UPDATE saved_searches SET name = ?, query = ?, view = ?, is_public = ?, updated_at = ? WHERE id = ?',
      values,
    );
    await share(tx, id, input);
    return getSavedSearch(tx, id);
  });
}

export async function deleteSavedSearch(db: Database, id: number): Promise<void> {
  await db.run('DELETE FROM saved_searches WHERE id = ?', [id]);
}

/** Total, and how many are visible to others. */
export async function countOwnSearches(
  db: Database,
  ownerId: number,
): Promise<{ readonly all: number; readonly seen: number }> {
  const counted = await db.get<{ all_of_them: number; seen: number }>(
    `SELECT count(*) AS all_of_them, count(*) FILTER (WHERE is_public = 1 OR EXISTS (
       SELECT 1 FROM saved_search_shares WHERE search_id = saved_searches.id)) AS seen
     FROM saved_searches WHERE owner_id = ?`,
    [ownerId],
  );
  return { all: counted!.all_of_them, seen: counted!.seen };
}

/** Ids of users the owners named, by search id; searches without any are missing. */
export async function namedReaders(
  db: Database,
  searchIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const rows = await db.all<{ search_id: number; user_id: number }>(
    `SELECT search_id, user_id FROM saved_search_shares
     WHERE by_name = 1 AND search_id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(searchIds)],
  );
  const named = new Map<number, Set<number>>();
  for (const { search_id: searchId, user_id: userId } of rows) {
    named.set(searchId, (named.get(searchId) ?? new Set()).add(userId));
  }
  return named;
}

async function share(
  tx: Database,
  id: number,
  { sharedWith, named = [] }: SavedSearchInput,
): Promise<void> {
  const namedBefore = (await namedReaders(tx, [id])).get(id);
  await tx.run('DELETE FROM saved_search_shares WHERE search_id = ?', [id]);
  for (const userId of new Set(sharedWith)) {
    const isNamed = named.includes(userId) || namedBefore?.has(userId) === true;
    await tx.run('INSERT INTO saved_search_shares (search_id, user_id, by_name) VALUES (?, ?, ?)', [
      id,
      userId,
      isNamed ? 1 : 0,
    ]);
  }
}

export type NamedSavedSearch =
  | { readonly kind: 'found'; readonly key: string; readonly query: string }
  | { readonly kind: 'ambiguous-own' }
  | { readonly kind: 'ambiguous-shared' }
  | { readonly kind: 'missing' };

interface Found {
  readonly id: number;
  readonly query: string;
}

/** The caller's own first, then shared and public ones. */
export async function findSavedSearch(
  db: Database,
  userId: number,
  name: string,
): Promise<NamedSavedSearch> {
  const own = await db.all<Found>(
    'SELECT id, query FROM saved_searches WHERE owner_id = ? AND name = ? ORDER BY id LIMIT 2',
    [userId, name],
  );
  if (own.length > 1) return { kind: 'ambiguous-own' };
  if (own[0]) return found(own[0]);
  const others = await db.all<Found>(
    `SELECT id, query FROM saved_searches WHERE name = ? AND owner_id <> ? AND (is_public = 1 OR EXISTS (
       SELECT 1 FROM saved_search_shares WHERE search_id = saved_searches.id AND user_id = ?)) ORDER BY id LIMIT 2`,
    [name, userId, userId],
  );
  if (others.length > 1) return { kind: 'ambiguous-shared' };
  return others[0] ? found(others[0]) : { kind: 'missing' };
}

function found({ id, query }: Found): NamedSavedSearch {
  return { kind: 'found', key: String(id), query };
}

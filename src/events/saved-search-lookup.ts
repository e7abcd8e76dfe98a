/** Finds saved searches by name: the caller's own first, then shared and public ones. */
import type { Database } from '../store/database.ts';

export type NamedSavedSearch =
  | { readonly kind: 'found'; readonly key: string; readonly query: string }
  | { readonly kind: 'ambiguous-own' }
  | { readonly kind: 'ambiguous-shared' }
  | { readonly kind: 'missing' };

interface Found {
  readonly id: number;
  readonly query: string;
}

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

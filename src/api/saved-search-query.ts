/**
 * Query parameters of the list of saved searches: those of the event lists where they have a meaning here.
 */
import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { SavedSearchPlace } from '../events/saved-searches.ts';
import type { FieldErrors } from '../events/intake/validation.ts';
import type { Context } from '../http/context.ts';
import { type Read, readWhole } from './event-query.ts';
import { jsonReply } from '../http/reply/reply.ts';

const MAX_LIMIT = 1_000;

/** What a list of saved searches shows. */
interface SavedSearchQuery {
  readonly search: string;
  /** Null: all. */
  readonly limit: number | null;
  readonly offset: number;
  readonly after: SavedSearchPlace | null;
  readonly counts: boolean;
  /** Makes the cursor that goes on behind a search. */
  readonly cursorAfter: (last: SavedSearchPlace) => string;
}

const query = { in: 'query' } as const;

/** The parameters, as the API describes them. */
export const savedSearchListParameters = [
  { ...query, name: 'search', description: 'Terms in name or query', schema: Type.String() },
  {
    ...query,
    name: 'limit',
    description: 'Most searches; all of them without it',
    schema: Type.Integer({ minimum: 1, maximum: MAX_LIMIT }),
  },
  {
    ...query,
    name: 'offset',
    description: 'Searches passed over',
    schema: Type.Integer({ minimum: 0 }),
  },
  {
    ...query,
    name: 'cursor',
    description: 'Where the page before ended, from its `Link` header',
    schema: Type.String(),
  },
  {
    ...query,
    name: 'count',
    description: '1: tell the number of all in `X-Total-Count`',
    schema: Type.String(),
  },
] as const;

/** The parameters of a request. */
export function readSavedSearchQuery(context: Context): Read<SavedSearchQuery> {
  const errors: FieldErrors = {};
  const search = context.queryValue('search') ?? '';
  const limit = readWhole(context, 'limit', { min: 1, max: MAX_LIMIT, otherwise: null }, errors);
  const offset =
    readWhole(context, 'offset', { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 }, errors) ??
    0;
  const cursor = context.queryValue('cursor') || null;
  const after = cursor === null ? null : placeOf(cursor, search);
  if (after === undefined || (cursor !== null && context.queryValue('offset') !== null))
    errors['cursor'] = ['Invalid cursor.'];
  if (Object.keys(errors).length > 0) return { reply: jsonReply(errors, { status: 400 }) };
  return {
    value: {
      search,
      limit,
      offset,
      after: after ?? null,
      counts: context.queryValue('count') === '1',
      cursorAfter: ({ name, id }) =>
        Buffer.from(JSON.stringify([name, id, tieOf(search)])).toString('base64url'),
    },
  };
}

/** Ties a cursor to its filter. */
function tieOf(search: string): string {
  return createHash('sha256').update(search).digest('base64url').slice(0, 16);
}

function placeOf(cursor: string, search: string): SavedSearchPlace | undefined {
  try {
    const [name, id, tie] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof name !== 'string' || !Number.isSafeInteger(id) || tie !== tieOf(search))
      return undefined;
    return { name, id: id as number };
  } catch {
    // Not one of ours.
    return undefined;
  }
}

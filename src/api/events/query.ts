import { createHash } from 'node:crypto';
import { parseTime } from '../../events/event-time.ts';
import type { MemberFilters, Selection } from '../../events/read/selection.ts';
import { ALL_EVENTS, MAX_TERMS, searchTerms } from '../../events/read/selection.ts';
import type { FieldErrors } from '../../events/intake/validation.ts';
import type { Context } from '../../http/context.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { jsonReply } from '../../http/reply/reply.ts';

const MEMBERS = ['index', 'sourcetype', 'source', 'host'] as const;
const ORDERINGS = ['id', '-id', 'created', '-created'];
const MAX_LIMIT = 10_000;
const FILTERS = [
  ...MEMBERS,
  'created',
  'updated',
  'created_after',
  'created_before',
  'search',
  'format',
];

export const LIST_PARAMETERS: readonly string[] = [
  ...FILTERS,
  'ordering',
  'limit',
  'offset',
  'cursor',
  'count',
];
export const FILTER_PARAMETERS: readonly string[] = FILTERS;

/** Or the answer that says what is wrong. */
export type Read<Value> = { readonly value: Value } | { readonly reply: Reply };

export function readSelection(context: Context, errors: FieldErrors): Selection {
  const members: Record<string, string> = {};
  for (const name of MEMBERS) {
    const value = context.queryValue(name);
    if (value !== null && value !== '') members[name] = value;
  }
  const terms = searchTerms(context.queryValue('search') ?? '');
  if (terms.length > MAX_TERMS) errors['search'] = [`Too many terms (maximum ${MAX_TERMS}).`];
  return {
    ...ALL_EVENTS,
    members: members as MemberFilters,
    created: readTime(context, 'created', errors),
    updated: readTime(context, 'updated', errors),
    createdAfter: readTime(context, 'created_after', errors),
    createdBefore: readTime(context, 'created_before', errors),
    terms: terms.slice(0, MAX_TERMS),
  };
}

/** Null without NUL. */
export function nulReply(context: Context): Reply | null {
  const search = context.queryValue('search');
  if (search === null || !search.includes('\0')) return null;
  return jsonReply(['Null characters are not allowed.'], { status: 400 });
}

function readTime(context: Context, name: string, errors: FieldErrors): number | null {
  const text = context.queryValue(name);
  if (text === null || text.trim() === '') return null;
  // An offset typed into an address has its plus turned into a space.
  const micros = parseTime(text) ?? parseTime(text.replace(/ (\d{2}:?\d{2})$/, '+$1'));
  if (micros === null) errors[name] = ['Enter a valid date/time.'];
  return micros;
}

export function readWhole(
  context: Context,
  name: string,
  options: { readonly min: number; readonly max: number; readonly otherwise: number | null },
  errors: FieldErrors,
): number | null {
  const text = context.queryValue(name);
  if (text === null || text === '') return options.otherwise;
  const value = /^\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value >= options.min && value <= options.max) return value;
  const range =
    options.max === Number.MAX_SAFE_INTEGER
      ? `Enter a whole number from ${options.min}.`
      : `Enter a whole number from ${options.min} to ${options.max}.`;
  errors[name] = [range];
  return null;
}

interface ListQuery {
  readonly selection: Selection;
  readonly isDescending: boolean;
  readonly limit: number | null;
  readonly offset: number;
  readonly afterId: number | null;
  readonly counts: boolean;
  readonly cursorAfter: (id: number) => string;
}

export function readListQuery(context: Context): Read<ListQuery> {
  const nul = nulReply(context);
  if (nul !== null) return { reply: nul };
  const errors: FieldErrors = {};
  const selection = readSelection(context, errors);
  const ordering = context.queryValue('ordering') || 'id';
  if (!ORDERINGS.includes(ordering))
    errors['ordering'] = [`Select a valid choice: ${ORDERINGS.join(', ')}.`];
  const limit = readWhole(context, 'limit', { min: 1, max: MAX_LIMIT, otherwise: null }, errors);
  const offset =
    readWhole(context, 'offset', { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 }, errors) ??
    0;
  const tie = tieOf(selection, ordering);
  const cursor = context.queryValue('cursor') || null;
  const afterId = cursor === null ? null : idOfCursor(cursor, tie);
  if (afterId === undefined || (cursor !== null && context.queryValue('offset') !== null)) {
    errors['cursor'] = ['Invalid cursor.'];
  }
  if (Object.keys(errors).length > 0) return { reply: jsonReply(errors, { status: 400 }) };
  return {
    value: {
      selection,
      isDescending: ordering.startsWith('-'),
      limit,
      offset,
      afterId: afterId ?? null,
      counts: context.queryValue('count') === '1',
      cursorAfter: (id) => Buffer.from(`${id}.${tie}`).toString('base64url'),
    },
  };
}

/** Ties a cursor to its filters and ordering. */
function tieOf(selection: Selection, ordering: string): string {
  return createHash('sha256')
    .update(JSON.stringify([selection, ordering]))
    .digest('base64url')
    .slice(0, 16);
}

function idOfCursor(cursor: string, tie: string): number | undefined {
  const [id = '', given] = Buffer.from(cursor, 'base64url').toString().split('.');
  return /^\d{1,15}$/.test(id) && given === tie ? Number(id) : undefined;
}

/** No header when there are none. */
export function ignoredHeader(context: Context, known: readonly string[]): Record<string, string> {
  const ignored = [...new Set(context.query.keys())].filter((name) => !known.includes(name));
  if (ignored.length === 0) return {};
  return { 'X-Ignored-Parameters': ignored.map(encodeURIComponent).join(',') };
}

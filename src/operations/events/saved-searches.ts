import type { AccountsApp, App } from '../../app.ts';
import type { Principal, Verb } from '../../accounts/rights/principal.ts';
import { findUser, getUser, namesOfUsers } from '../../accounts/identity/users.ts';
import { AppError } from '../../base/errors.ts';
import type { SavedSearch, SavedSearchPlace } from '../../events/saved-searches.ts';
import {
  countOwnSearches,
  createSavedSearch as create,
  deleteSavedSearch as remove,
  getSavedSearch as get,
  listSavedSearches as list,
  namedReaders as findNamed,
  updateSavedSearch as update,
} from '../../events/saved-searches.ts';
import { searchTerms } from '../../events/read/selection.ts';
import { foldedText } from '../../events/read/term.ts';
import type { FieldErrors } from '../../events/intake/validation.ts';
import { type Origin, record } from '../access.ts';
import type { Administrator } from '../administration.ts';
import { NO_EVENT_PERMISSION } from './event-access.ts';
import { readSavedSearch, type SavedSearchRequest } from './saved-search-request.ts';

export interface SavedSearchView {
  readonly id: number;
  readonly name: string;
  readonly query: string;
  readonly view: string;
  readonly shared_with: readonly number[];
  readonly is_public: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Errors are by field. */
export type SavedSearchResult =
  { readonly view: SavedSearchView } | { readonly errors: FieldErrors };

/** With the longest queries 2 MiB. */
const READ_AT_ONCE = 32;
/** Each name is looked up, and a form could contain hundreds of thousands. */
const MAX_READERS = 500;

export type SavedSearchKind = 'own' | 'shared' | 'public';

interface SavedSearchList {
  /** Terms that name or query must contain. */
  readonly search: string;
  /** Absent: all that the caller sees. */
  readonly kind?: SavedSearchKind | null;
  /** The last one of the page before; absent: from the start. */
  readonly after?: SavedSearchPlace | null;
  readonly offset?: number;
}

export interface ListedSavedSearch {
  readonly view: SavedSearchView;
  readonly isOwn: boolean;
  readonly isShared: boolean;
}

/** By name, then id; read a few at a time as they are taken. Throws `permission-denied` with the first. */
export async function* eachSavedSearch(
  { db }: App,
  caller: Principal,
  { search, kind = null, after = null, offset = 0 }: SavedSearchList,
): AsyncGenerator<ListedSavedSearch> {
  requireScope(caller, 'read');
  const viewer = { userId: caller.userId, everything: caller.isSuperuser };
  const terms = searchTerms(search).map(foldedText);
  let toSkip = offset;
  for (let place = after; ;) {
    const rows = await list(db, viewer, { after: place, limit: READ_AT_ONCE });
    for (const one of rows) {
      const found = listed(one, caller);
      const { isOwn, isShared } = found;
      const is = { own: isOwn, shared: isShared && !isOwn, public: one.isPublic };
      if ((kind !== null && !is[kind]) || !holds(one, terms) || toSkip-- > 0) continue;
      yield found;
    }
    place = rows.at(-1) ?? null;
    if (rows.length < READ_AT_ONCE || place === null) return;
    // Lets other requests run: a query may have 64 KiB.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export async function listSavedSearches(
  services: App,
  caller: Principal,
  which: SavedSearchList,
  most: number,
): Promise<ListedSavedSearch[]> {
  const found: ListedSavedSearch[] = [];
  for await (const one of eachSavedSearch(services, caller, which)) {
    found.push(one);
    if (found.length === most) break;
  }
  return found;
}

export async function countSavedSearches(
  services: App,
  caller: Principal,
  search: string,
): Promise<number> {
  let count = 0;
  for await (const _one of eachSavedSearch(services, caller, { search })) count++;
  return count;
}

/** What is deleted with an account: its searches, and how many of them others lose. */
export function searchesOfUser(
  { db }: AccountsApp,
  _admin: Administrator,
  userId: number,
): Promise<{ readonly all: number; readonly seen: number }> {
  return countOwnSearches(db, userId);
}

function holds({ name, query }: SavedSearch, terms: readonly string[]): boolean {
  if (terms.length === 0) return true;
  const texts = [foldedText(name), foldedText(query)];
  return terms.every((term) => texts.some((text) => text.includes(term)));
}

/** Throws `not-found` for one the caller does not see. */
export async function getSavedSearch(
  services: App,
  caller: Principal,
  id: number,
): Promise<SavedSearchView> {
  const { view } = await getListedSearch(services, caller, id);
  return view;
}

/** Throws `not-found` for one the caller does not see. */
export async function getListedSearch(
  { db }: App,
  caller: Principal,
  id: number,
): Promise<ListedSavedSearch> {
  requireScope(caller, 'read');
  const found = await get(db, id);
  if (found === null || !isSeenBy(found, caller)) throw noSearch();
  return listed(found, caller);
}

function listed(search: SavedSearch, caller: Principal): ListedSavedSearch {
  return {
    view: viewOf(search, caller),
    isOwn: search.ownerId === caller.userId,
    isShared: search.sharedWith.includes(caller.userId),
  };
}

/**
 * Audited. More than `events.search.saved_per_user` is an error of the input. With an `id` it restores a deleted search; if it
 * exists again it is left as it is. Whether the caller had deleted it must be checked before.
 */
export async function createSavedSearch(
  services: App,
  caller: Principal,
  origin: Origin,
  { id, ...request }: SavedSearchRequest & { readonly id?: number },
): Promise<SavedSearchResult> {
  requireScope(caller, 'write');
  const read = await readSavedSearch(services.db, request, null, false);
  if ('errors' in read) return read;
  const { saved_per_user: most } = services.config.events.search;
  const owner = { id: caller.userId, most };
  const made = await create(
    services.db,
    owner,
    read.inputFor(null),
    services.clock.now(),
    id ?? null,
  );
  if (made === null) {
    const text = `You have ${most} saved searches, the most one user may have; delete some first.`;
    return { errors: { non_field_errors: [text] } };
  }
  if (made.isNew) await auditChange(services, caller, origin, 'create', made.search.id);
  return { view: viewOf(made.search, caller) };
}

/** Audited. Throws `not-found` for another user's. */
export async function updateSavedSearch(
  services: App,
  caller: Principal,
  origin: Origin,
  request: SavedSearchRequest & { readonly id: number; readonly isPartial: boolean },
): Promise<SavedSearchResult> {
  requireScope(caller, 'write');
  const old = await requireOwn(services, caller, request.id);
  const read = await readSavedSearch(services.db, request, old, request.isPartial);
  if ('errors' in read) return read;
  const changed = await update(services.db, old.id, read.inputFor, services.clock.now());
  if (changed === null) throw noSearch();
  await auditChange(services, caller, origin, 'update', old.id);
  return { view: viewOf(changed, caller) };
}

/** Audited. Throws `not-found` for another user's. */
export async function deleteSavedSearch(
  services: App,
  caller: Principal,
  origin: Origin,
  id: number,
): Promise<void> {
  requireScope(caller, 'write');
  await requireOwn(services, caller, id);
  await remove(services.db, id);
  await auditChange(services, caller, origin, 'delete', id);
}

type Readers =
  | { readonly ids: readonly number[]; readonly named: readonly number[] }
  | { readonly unknown: readonly string[] };

/**
 * Names must match exactly; an id, also as `#17`, stands for its user where nobody has that name. Reveals whether a
 * user exists, as the API does. Throws `bad-request` for more than `MAX_READERS` names.
 */
export async function findReaders(
  { db }: App,
  caller: Principal,
  names: readonly string[],
): Promise<Readers> {
  requireScope(caller, 'write');
  if (names.length > MAX_READERS) {
    throw new AppError(
      'bad-request',
      `A search can be shared with ${MAX_READERS} people by name; for more, let everybody see it.`,
    );
  }
  const ids: number[] = [];
  const named: number[] = [];
  const unknown: string[] = [];
  for (const name of names) {
    const called = await findUser(db, name);
    const id = /^#?(\d{1,15})$/.exec(name)?.[1];
    const user = called ?? (id === undefined ? null : await getUser(db, Number(id)));
    if (user === null) unknown.push(name);
    else ids.push(user.id);
    if (called !== null) named.push(called.id);
  }
  return unknown.length > 0 ? { unknown } : { ids, named };
}

/**
 * By id of the search, as texts that `findReaders` takes: the names their owner typed, and `#17` for users given by
 * id, since an owner could otherwise list all names by counting up ids. Superusers get every name, other users none.
 */
export async function readersOf(
  { db }: App,
  { isSuperuser }: Principal,
  searches: readonly Pick<ListedSavedSearch, 'view' | 'isOwn'>[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const told = searches
    .filter(({ isOwn }) => isOwn || isSuperuser)
    .map(({ view }) => ({ id: view.id, readers: view.shared_with }));
  const named = isSuperuser
    ? new Map(told.map(({ id, readers }) => [id, new Set(readers)]))
    : await findNamed(
        db,
        told.map(({ id }) => id),
      );
  const names = await namesOfUsers(db, [
    ...new Set([...named.values()].flatMap((ids) => [...ids])),
  ]);
  const textOf = (id: number, reader: number): string =>
    (named.get(id)?.has(reader) ? names.get(reader) : undefined) ?? `#${reader}`;
  return new Map(
    told.map(({ id, readers }) => [id, readers.map((reader) => textOf(id, reader)).sort()]),
  );
}

/** A scoped key needs the verb on everything. */
export function requireScope(caller: Principal, verb: Verb): void {
  const { scopes } = caller;
  if (scopes === null || scopes.some((scope) => scope.verb === verb && scope.pattern === null))
    return;
  throw new AppError('permission-denied', NO_EVENT_PERMISSION);
}

async function requireOwn({ db }: App, caller: Principal, id: number): Promise<SavedSearch> {
  const found = await get(db, id);
  if (found === null || found.ownerId !== caller.userId) throw noSearch();
  return found;
}

function isSeenBy(
  { ownerId, isPublic, sharedWith }: SavedSearch,
  { userId, isSuperuser }: Principal,
): boolean {
  return isSuperuser || isPublic || ownerId === userId || sharedWith.includes(userId);
}

function viewOf(search: SavedSearch, { userId, isSuperuser }: Principal): SavedSearchView {
  const seesAll = isSuperuser || search.ownerId === userId;
  return {
    id: search.id,
    name: search.name,
    query: search.query,
    view: search.view,
    shared_with: seesAll ? search.sharedWith : search.sharedWith.filter((id) => id === userId),
    is_public: search.isPublic,
    created_at: micros(search.createdAt),
    updated_at: micros(search.updatedAt),
  };
}

/** From milliseconds to the microseconds of event times. */
function micros(text: string): string {
  return text.replace('Z', '000Z');
}

function auditChange(
  services: App,
  user: Principal,
  origin: Origin,
  verb: 'create' | 'update' | 'delete',
  id: number,
): Promise<void> {
  const done = { create: 'Created', update: 'Updated', delete: 'Deleted' }[verb];
  const details = `${done} saved search ${id}`;
  return record(services, { user, origin }, `${verb}_saved_search`, 'savedsearch', details);
}

function noSearch(): AppError {
  return new AppError('not-found', 'No SavedSearch matches the given query.');
}

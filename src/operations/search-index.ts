/**
 * The search index, as administrators see and rebuild it. A rebuild changes nothing anybody stored, so it leaves no entry in the
 * audit.
 */
import { AppError } from '../base/errors.ts';
import type { RebuildState } from '../search/rebuilds.ts';
import type { Search } from '../search/search.ts';
import type { Administrator } from './administration.ts';

/** What administering the index needs. */
export interface SearchIndexServices {
  readonly search: Pick<Search, 'documents' | 'pending' | 'rebuilds'>;
}

/** How the index stands. */
export interface SearchIndexView {
  /** Rows, sections, pages and files that can be found. */
  readonly documents: number;
  /** Resources that wait or are being read. */
  readonly pending: number;
  /** The rebuild that runs, else the last one; null when there was none since the start of the server. */
  readonly rebuild: RebuildState | null;
}

/** How the index stands. */
export function describeIndex(
  { search }: SearchIndexServices,
  _admin: Administrator,
): SearchIndexView {
  const { documents, pending, rebuilds } = search;
  return { documents, pending, rebuild: rebuilds.state };
}

/** Starts to read what changed, or with `isForced` everything. Throws `conflict` while a rebuild runs. */
export function startRebuild(
  { search }: SearchIndexServices,
  _admin: Administrator,
  isForced: boolean,
): void {
  if (search.rebuilds.start(isForced)) return;
  throw new AppError('conflict', 'The search index is being rebuilt already');
}

/** Stops a rebuild soon; without one nothing happens. */
export function stopRebuild({ search }: SearchIndexServices, _admin: Administrator): void {
  search.rebuilds.stop();
}

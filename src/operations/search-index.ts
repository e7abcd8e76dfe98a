/** A rebuild changes nothing that anybody stored, so it is not audited. */
import type { App } from '../app.ts';
import { AppError } from '../base/errors.ts';
import type { RebuildState } from '../fulltext/rebuilds.ts';
import type { Administrator } from './administration.ts';

export interface SearchIndexView {
  readonly documents: number;
  readonly pending: number;
  /** The running rebuild, else the last one since the start of the server. */
  readonly rebuild: RebuildState | null;
}

export function describeIndex({ search }: App, _admin: Administrator): SearchIndexView {
  const { documents, pending, rebuilds } = search;
  return { documents, pending, rebuild: rebuilds.state };
}

/** Reads what changed, or with `isForced` everything. Throws `conflict` while a rebuild runs. */
export function startRebuild({ search }: App, _admin: Administrator, isForced: boolean): void {
  if (search.rebuilds.start(isForced)) return;
  throw new AppError('conflict', 'The search index is being rebuilt already');
}

/** Does nothing when none runs. */
export function stopRebuild({ search }: App, _admin: Administrator): void {
  search.rebuilds.stop();
}

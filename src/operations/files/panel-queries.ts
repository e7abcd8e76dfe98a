/** What the panels of a dashboard run for one reader: the queries behind names, and where a range of time goes. */
import type { App } from '../../app.ts';
import {
  type Grants,
  grantsCoverEvents,
  grantsTouchEvents,
  loadGrants,
} from '../../accounts/rights/permissions.ts';
import type { Principal } from '../../accounts/rights/principal.ts';
import { TimeSlice } from '../../base/scheduling/time-slice.ts';
import type { Dashboard, DashboardPanel } from '../../docroot/dashboard.ts';
import { findSavedSearch } from '../../events/saved-searches.ts';
import { startOf, termsAdder } from '../../language/syntax/refine.ts';
import { isSql } from '../../language/syntax/sql-statement.ts';
import { mayAccess } from '../access.ts';
import { withDefaultAccess } from '../events/event-access.ts';

export interface PanelQuery {
  /** Up to the place of terms such as `earliest={earliest}`. */
  readonly query: string;
  /** What comes after those terms; null: it has no range of time. */
  readonly rest: string | null;
  readonly is_sql: boolean;
  /** Why this reader sees nothing; then the others are empty. */
  readonly problem: string | null;
}

/** The same whether it is there or not. */
const NOT_YOURS = 'You may not see what this panel shows, or it is not there.';
const NO_NAME = 'No saved search of this name is yours or shared with you.';
const TWO_NAMES = 'Several saved searches have this name; one of them needs another.';
/** In no query that a file holds. */
const MARK = '\uFDD2';

/** By `<row>/<panel>`, and by `variables/<place>` for choices. */
export async function panelQueries(
  services: App,
  caller: Principal,
  { variables = [], rows }: Dashboard,
): Promise<Record<string, PanelQuery>> {
  // Whoever follows a link runs nothing in the name of its maker.
  if (caller.link !== undefined) return refusedAll(rows);
  const grants = await loadGrants(services.db, caller);
  const slice = new TimeSlice();
  const found: Record<string, PanelQuery> = {};
  for (const [place, { query }] of variables.entries()) {
    if (query !== undefined) found[`variables/${place}`] = ofQuery(services, grants, query, true);
  }
  for (const [index, row] of rows.entries()) {
    for (const [place, panel] of row.panels.entries()) {
      // A query of 16 KiB takes 8 ms to be parsed.
      if (slice.isOver) await slice.rest();
      const made = await ofPanel(services, caller, grants, panel);
      if (made !== null) found[`${index}/${place}`] = made;
    }
  }
  return found;
}

function refusedAll(rows: Dashboard['rows']): Record<string, PanelQuery> {
  return Object.fromEntries(
    rows.flatMap(({ panels }, index) =>
      panels.flatMap(({ text }, at) =>
        text === undefined ? [[`${index}/${at}`, refused(NOT_YOURS)] as const] : [],
      ),
    ),
  );
}

async function ofPanel(
  services: App,
  caller: Principal,
  grants: Grants,
  { query, savedsearch, dataset, time }: DashboardPanel,
): Promise<PanelQuery | null> {
  const isTimed = time !== 'none';
  if (query !== undefined) return ofQuery(services, grants, query, isTimed);
  if (savedsearch !== undefined) {
    const found = await findSavedSearch(services.db, caller.userId, savedsearch);
    if (found.kind === 'found') return ofQuery(services, grants, found.query, isTimed);
    return refused(found.kind === 'missing' ? NO_NAME : TWO_NAMES);
  }
  if (dataset === undefined) return null;
  const resource = services.registry.lookup('dataset', dataset);
  const mayRead = resource?.kind.dataset !== undefined && mayAccess(grants, resource, 'read');
  return mayRead ? null : refused(NOT_YOURS);
}

function ofQuery(services: App, grants: Grants, written: string, isTimed: boolean): PanelQuery {
  if (isSql(written)) return { query: written, rest: null, is_sql: true, problem: null };
  const { first, isSearch } = startOf(written);
  if (isSearch && !maySee(withDefaultAccess(services, grants), first)) return refused(NOT_YOURS);
  const [query, rest] = isTimed ? termsAdder(written)(MARK).split(MARK) : [written];
  return { query: query!.trimEnd(), rest: rest?.trimStart() ?? null, is_sql: false, problem: null };
}

/** No right to any index, or to one that every event must be in: no events would be shown as if there were none. */
function maySee(grants: Grants, terms: string): boolean {
  if (!grantsTouchEvents(grants, 'read')) return false;
  if (/[()]|\b(?:OR|NOT)\b/.test(terms)) return true;
  const named = [...terms.matchAll(/(?:^|\s)index="?([\w.-]+)"?(?=\s|$)/g)];
  return named.every(([, index]) => grantsCoverEvents(grants, index!, 'read'));
}

function refused(problem: string): PanelQuery {
  return { query: '', rest: null, is_sql: false, problem };
}

/**
 * `GET /ui/<dataset>/?summary=facets` and `?summary=chart`: what the page of a dataset shows beside its rows, as JSON for
 * its script. Part of the pages, not of the API.
 */
import type { App } from '../../app.ts';
import { invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import { CHART_MEASURES, CHART_TYPES } from '../../tables/read/chart-series.ts';
import { parseListParameters, wordParameter } from '../../tables/read/list-parameters.ts';
import type { SummaryWish } from '../../tables/read/summary-jobs.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { jsonReply, type Reply } from '../../http/reply/reply.ts';
import { summariseRows } from '../../operations/files/datasets.ts';

const SUMMARIES = ['facets', 'chart'] as const;

/** Whether the page is asked for a summary instead of itself. */
export function wantsSummary(context: Context): boolean {
  return context.queryValue('summary') !== null;
}

/**
 * Of `facets`: `ColumnFacts` of `column`. Of `chart`: `ChartSeries` of `x` and `y` by `type` and `measure`. Both of the rows
 * that match `filter` and `q`.
 */
export async function datasetSummaryReply(
  services: App,
  context: Context,
  resource: Resource,
): Promise<Reply> {
  const issues: ValidationIssue[] = [];
  const summary = wordParameter(context.query, 'summary', SUMMARIES, issues);
  const type = wordParameter(context.query, 'type', CHART_TYPES, issues) ?? 'bar';
  const measure = wordParameter(context.query, 'measure', CHART_MEASURES, issues) ?? 'count';
  if (issues.length > 0) throw invalidRequest(...issues);
  const isChart = summary === 'chart';
  const wish: SummaryWish = isChart ? { kind: 'chart', type, measure } : { kind: 'facts' };
  const columns = (isChart ? ['x', 'y'] : ['column']).map((name) => context.queryValue(name));
  const answer = await summariseRows(services, resource, {
    parameters: parseListParameters(restrictionOf(context)),
    columns: columns.filter((column): column is string => column !== null && column !== ''),
    wish,
    signal: context.request.signal,
  });
  return jsonReply(answer);
}

function restrictionOf(context: Context): URLSearchParams {
  const restriction = new URLSearchParams();
  for (const name of ['filter', 'q']) {
    const value = context.queryValue(name);
    if (value !== null) restriction.set(name, value);
  }
  return restriction;
}

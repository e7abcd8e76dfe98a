/** Every path without a built-in route. */
import {
  allowedMoment,
  changeMany,
  datasetRow,
  datasetRows,
  datasetSchema,
  requireChangesAllowed,
  requireRead,
  type RowAddress,
  verbOf,
} from '../../api/files/datasets.ts';
import { changesReply } from '../../api/files/changes.ts';
import { AppError, invalidRequest, type ValidationIssue } from '../../base/errors.ts';
import type { Area } from '../../docroot/registry/names.ts';
import { isForm } from '../../http/body/form-body.ts';
import type { Context } from '../../http/context.ts';
import { handlerAnswer } from '../../http/handler-exchange.ts';
import {
  emptyReply,
  type Answer,
  jsonReply,
  redirectReply,
  type Reply,
} from '../../http/reply/reply.ts';
import { historyReply } from '../../api/files/history.ts';
import { requireAccess } from '../../operations/access.ts';
import { findResource } from '../../operations/files/history.ts';
import { findByPath } from '../../operations/files/content.ts';
import { READ_METHODS, requireWritable, summariseRows } from '../../operations/files/datasets.ts';
import { dashboardReply } from './dashboard.tsx';
import { folderAddress } from '../addresses.ts';
import { contentReply } from './content-reply.ts';
import { folderReply } from './landing.tsx';
import { ASK } from '../events/explorer-state.ts';
import { datasetPageReply } from './dataset.ts';
import { explorerReply } from '../events/events.tsx';
import { historyFormReply, historyPageReply } from './history.tsx';
import { fileLayoutFormReply, fileLayoutReply } from './file-layout.tsx';
import { mediaPageReply } from './media.tsx';
import { textEditorReply } from './text-editor.tsx';
import { rowFormReply, rowPageReply } from './row.ts';
import { CHART_MEASURES, CHART_TYPES } from '../../tables/read/chart-series.ts';
import { parseListParameters, wordParameter } from '../../tables/read/list-parameters.ts';
import type { SummaryWish } from '../../tables/read/summary-jobs.ts';
import type { Resource } from '../../docroot/registry/registry.ts';

/** Missing and forbidden files below these are answered alike. */
const HIDING: ReadonlySet<string> = new Set(['events', 'savedsearches']);
const AREAS: ReadonlyMap<string, Area> = new Map([
  ['api', 'dataset'],
  ['schema', 'dataset'],
  ['ui', 'ui'],
  ['media', 'media'],
]);

export async function answerPath(context: Context): Promise<Answer> {
  const [first, second, ...below] = context.segments;
  const isHiding = first === 'api' && HIDING.has(second!) && below.length > 0;
  if (!isHiding) return answer(context);
  try {
    return await answer(context);
  } catch (error) {
    const isHidden =
      error instanceof AppError && ['not-found', 'permission-denied'].includes(error.code);
    throw isHidden ? new AppError('not-found', 'Not found.') : error;
  }
}

async function answer(context: Context): Promise<Answer> {
  const { services } = context;
  const [family, ...rest] = context.segments;
  const name = rest.join('/');
  if (context.isMatchable && name !== '') {
    const area = AREAS.get(family!);
    if (family === 'api') {
      const answer = handlerAnswer(context);
      if (answer !== null) return answer;
    }
    // A path that is no name of the family may be the path of a file.
    const isInFamily = area !== undefined && services.registry.lookup(area, name) !== null;
    if (isInFamily && family === 'api') return datasetRows(context, name);
    if (isInFamily && family === 'schema') return datasetSchema(context, name);
    if (!isInFamily && family === 'api') {
      const row = addressedRow(context, rest);
      if (row !== null) return datasetRow(context, row);
      const isLink = context.caller?.link !== undefined;
      if (!isLink && rest.length > 1 && isBelow(context, rest, 'history'))
        return historyReply(context, rest.slice(0, -1).join('/'));
      if (!isLink && isBelow(context, rest, 'changes'))
        return changesReply(context, rest.slice(0, -1).join('/'));
    }
  }
  return fileAnswer(context, name);
}

/** What the service adds below a name of `/api`, where no file has that path. */
function isBelow(
  { services: { registry }, segments }: Context,
  names: readonly string[],
  what: string,
): boolean {
  const isFile = registry.lookup('content', segments.join('/')) !== null;
  return names.at(-1) === what && !isFile;
}

/** The row of a dataset that a path below `/api` means; null where it means a file, or nothing. */
function addressedRow(
  { services: { registry }, segments }: Context,
  names: readonly string[],
): RowAddress | null {
  const id = names.at(-1)!;
  if (names.length < 2 || !/^(?:0|[1-9][0-9]*)$/.test(id)) return null;
  const resource = registry.lookup('dataset', names.slice(0, -1).join('/'));
  const isFile = registry.lookup('content', segments.join('/')) !== null;
  if (isFile || resource?.kind.dataset === undefined) return null;
  return { resource, id, name: names.join('/'), path: segments.join('/') };
}

/** A miss is 404 for callers allowed to know, else 403. */
async function fileAnswer(context: Context, nameBelow: string): Promise<Answer> {
  const { services, caller, origin, method, segments } = context;
  const { registry } = services;
  const path = segments.join('/');
  const area = nameBelow === '' ? null : (AREAS.get(segments[0]!) ?? null);
  const name = area === null ? path : nameBelow;
  const verb = verbOf(method);
  if (!context.isMatchable) {
    await requireAccess(services, caller, origin, { name, resource: null, verb });
    throw new AppError('not-found', 'Not Found');
  }
  const isOfHistory = area === 'ui' && context.queryValue('history') !== null;
  if (isOfHistory && (verb === 'read' ? method !== 'OPTIONS' : isForm(context.body))) {
    // Of every file, also of those without a page below `/ui`.
    const file = await findResource(services, caller, origin, name);
    if (verb === 'read') return historyPageReply(context, file);
    if (method === 'POST') return historyFormReply(context, file);
  }
  if (area === 'ui' && context.queryValue('edit') !== null && caller !== null && !isOfHistory) {
    if (verb === 'read' ? method !== 'OPTIONS' : method === 'POST' && isForm(context.body)) {
      const file =
        registry.lookup('ui', name) ?? registry.original(name) ?? registry.lookup('content', name);
      return textEditorReply(context, file?.rel ?? name);
    }
  }
  if (verb === 'read' && method !== 'OPTIONS' && context.wantsHtml && (area ?? 'ui') === 'ui') {
    const answer = await folderAnswer(context, area === null ? path : name, area === null);
    if (answer !== null) return answer;
  }
  const forLinks = area === 'ui' ? 'rows' : 'file';
  const address = { area, name, path };
  const resource = await findByPath(services, caller, origin, address, verb, forLinks);
  if (area !== 'ui' || (resource.family === 'content' && resource.type !== 'dashboard')) {
    return contentReply(context, resource);
  }
  if (method === 'OPTIONS') return emptyReply(204, { Allow: READ_METHODS });
  const isJson = context.body.mediaType === 'application/json';
  if (method === 'POST' && resource.family === 'dataset' && (isJson || isForm(context.body))) {
    // The answering page shows the row, and the right to write does not include reading.
    await requireAccess(services, caller, origin, { name, resource, verb: 'read' });
    if (isJson) return changeMany(context, resource);
    if (context.queryValue('layout') !== null) return fileLayoutFormReply(context, resource);
    requireWritable(services, resource, method);
    requireChangesAllowed(context);
    return rowFormReply(context, resource);
  }
  requireRead(method);
  if (resource.type === 'dashboard') return dashboardReply(context, resource);
  if (resource.family === 'media') return mediaPageReply(context, resource);
  if (resource.view !== undefined) return datasetPageReply(context, resource);
  if (context.queryValue('row') !== null) return rowPageReply(context, resource);
  if (context.queryValue(ASK) !== null) return explorerReply(context, resource);
  if (context.queryValue('layout') !== null) return fileLayoutReply(context, resource);
  return wantsSummary(context)
    ? datasetSummaryReply(context, resource)
    : datasetPageReply(context, resource);
}

/** The page of a folder or workbook, where no file has the address; from its bare path the way there. */
async function folderAnswer(
  context: Context,
  name: string,
  isBare: boolean,
): Promise<Answer | null> {
  const { registry } = context.services;
  const { segments } = context;
  const path = segments.join('/');
  const isFile =
    (!isBare && registry.lookup('ui', name) !== null) ||
    registry.original(path) !== null ||
    registry.lookup('content', path) !== null ||
    registry.original(name) !== null;
  if (isFile) return null;
  const page = await folderReply(context, name);
  return page === null || !isBare ? page : redirectReply(folderAddress(name));
}

const SUMMARIES = ['facets', 'chart'] as const;

function wantsSummary(context: Context): boolean {
  return context.queryValue('summary') !== null;
}

/**
 * `GET /ui/<dataset>/?summary=`: JSON for the script of the page, not part of the API. Of `facets`: `ColumnFacts` of
 * `column`. Of `chart`: `ChartSeries` of `x` and `y` by `type` and `measure`. Both of the rows that match `filter` and `q`.
 */
async function datasetSummaryReply(context: Context, resource: Resource): Promise<Reply> {
  const { services } = context;
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
    moment: await allowedMoment(context, resource),
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

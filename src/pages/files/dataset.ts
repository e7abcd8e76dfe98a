/** Searched, filtered, sorted and paged by plain links and one form, so every view has an address. */
import type { App } from '../../app.ts';
import { AppError } from '../../base/errors.ts';
import { statFile } from '../../base/files/file-stamp.ts';
import { encodePath } from '../../base/paths.ts';
import { isCrowded, ownTurn } from '../../base/scheduling/time-slice.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { linkQuery } from '../../http/link-query.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import { allowedMoment } from '../../api/files/datasets.ts';
import { changeAt, type Moment } from '../../operations/files/versions.ts';
import { mayArrange } from '../../operations/files/companions.ts';
import { mayReadOriginal } from '../../operations/files/content.ts';
import { readOnlyReason } from '../../operations/files/resources.ts';
import {
  hintsOf,
  mayChangeRows,
  queryRows,
  visibleColumns,
} from '../../operations/files/datasets.ts';
import { assetNamed } from '../assets.ts';
import { ASK } from '../events/explorer-state.ts';
import { parseFilter, withMember } from '../grid/conditions.ts';
import { describeMember } from '../grid/filter-words.ts';
import type { GridData } from '../grid/model.ts';
import { formView } from '../grid/plain-form.ts';
import { rowsQuery } from '../grid/view.ts';
import { pageReply } from '../page-reply.ts';
import { cellText, rowsOf } from './page-rows.ts';
import { FORMAT_LABELS } from '../parts/export-menu.tsx';
import { datasetTitle } from '../addresses.ts';
import { fileLayoutReply, oneColumnReply, proposedLayout } from './file-layout.tsx';
import { readingPage } from './file-being-read.tsx';
import { Holdings, Lane } from '../../processes/lane.ts';
import type { Table } from '../../tables/copy/table.ts';
import { FORMATS } from '../../tables/read/format.ts';
import { type ListParameters, parseListParameters } from '../../tables/read/list-parameters.ts';
import { parseSort } from '../../tables/read/name-list.ts';
import type { Column } from '../../tables/types.ts';
import { type ColumnHead, type DatasetView, datasetPage } from './dataset-page.tsx';

const PAGE_ROWS = 50;
/** Pages made at the same time, and those of one user: of a wide table each takes 10 MB until it is sent. */
const pages = new Lane(8, 256, new Holdings(() => 4));
const MAX_WAIT_MS = 30_000;
/** Smaller files are read at once; the first reading of larger ones shows its progress. */
const LARGE_BYTES = 4 * 1024 * 1024;
const PATIENCE_MS = 1_000;
/** The API has the whole value. */
const MAX_CELL_TEXT = 200;
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/** A wrong filter or sort is shown on the page, with status 422. */
export async function datasetPageReply(context: Context, resource: Resource): Promise<Reply> {
  const { services } = context;
  const sent = sentViewForm(context);
  if (sent !== null) {
    return redirectReply(hrefWith(context, { ...sent, order: null, offset: null }), 303);
  }
  const target = services.datasets.targetOf(resource);
  const size = statFile(target.path, target.rel)?.size ?? 0;
  const rows = async (): Promise<Reply> => {
    try {
      return await pages.run(MAX_WAIT_MS, () => rowsReply(context, resource));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unreadable-file') throw error;
      if (!(await mayArrange(services, context.caller, resource))) throw error;
      return fileLayoutReply(context, resource, { status: error.status });
    }
  };
  if (size < LARGE_BYTES) return rows();
  // Reading continues between requests; a query would start again.
  const reading = services.tables.current(target);
  // The next request reports a failure.
  reading.catch(() => undefined);
  if ((await Promise.race([reading, Bun.sleep(PATIENCE_MS)])) !== undefined) {
    return rows();
  }
  const progress = services.tables.progress(target);
  const view = { name: resource.canonical, file: datasetTitle(resource), size, progress };
  return pageReply(context, readingPage, view, {
    status: 202,
    headers: { Refresh: '1', 'Cache-Control': 'no-store' },
  });
}

async function rowsReply(context: Context, resource: Resource): Promise<Reply> {
  const { services } = context;
  const given = new URLSearchParams(context.query);
  for (const name of ['limit', 'cursor', 'format']) given.delete(name);
  const moment = await allowedMoment(context, resource, 'then');
  if (moment !== null) given.delete('at');
  const startAt = moment === null ? await rowsBefore(context, resource) : null;
  const table = await services.tables.current(services.datasets.targetOf(resource));
  const all = visibleColumns(resource, table);
  const instead =
    resource.view || moment !== null
      ? null
      : await oneColumnReply(context, resource, table.columns);
  if (instead !== null) return instead;
  const { columns } = parseListParameters(given);
  const cellRows = Math.floor(MAX_CELLS / Math.max(1, columns.length || all.length));
  const limit = Math.min(PAGE_ROWS, Math.max(1, cellRows));
  if (startAt !== null) given.set('offset', String(startAt - (startAt % limit)));
  const page = { ...parseListParameters(given), limit };
  try {
    return await reply(context, resource, page, { startAt, moment });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid-query') throw error;
    const plain = { ...page, filter: '', sort: '', columns: [] };
    return reply(context, resource, plain, { problem: error.message, moment });
  }
}

/** Parameters that move rows. */
const OTHER_PLACES = ['q', 'filter', 'sort', 'offset'];

/** Null without `?at=`. */
async function rowsBefore(context: Context, resource: Resource): Promise<number | null> {
  const { services } = context;
  const id = Number(context.queryValue('at') ?? Number.NaN);
  const isElsewhere = OTHER_PLACES.some((name) => (context.queryValue(name) ?? '') !== '');
  if (!Number.isSafeInteger(id) || id < 1 || isElsewhere) return null;
  const filter = JSON.stringify({ _row_id: { $lt: id } });
  const parameters = parseListParameters(new URLSearchParams({ filter, limit: '1' }));
  const { signal } = context.request;
  return queryRows(services, resource, parameters, 'json', async ({ table, prepared }) => {
    const page = await services.reading.run(table, prepared, { signal });
    await rowsOf(page);
    return page.total;
  });
}

interface Extras {
  readonly problem?: string | null;
  readonly startAt?: number | null;
  /** The rows as they were. */
  readonly moment?: Moment | null;
}

async function reply(
  context: Context,
  resource: Resource,
  parameters: ListParameters & { readonly limit: number },
  { problem = null, startAt = null, moment = null }: Extras,
): Promise<Reply> {
  const { services } = context;
  const { signal } = context.request;
  const [{ table, prepared }, page] = await queryRows(
    services,
    resource,
    parameters,
    'json',
    async (query) => {
      const read = await services.reading.run(query.table, query.prepared, { signal });
      return [query, read] as const;
    },
    moment,
  );
  const rows = await rowsOf(page);
  if (isCrowded()) await ownTurn();
  const shown = prepared.plan.shape.columns.map(({ name }) => name);
  const columns = visibleColumns(resource, table);
  const isFixed = resource.view !== undefined;
  const isShared = context.caller?.link !== undefined;
  const names = columns.reduce((sum, { name }) => sum + name.length, 0);
  if (names > MAX_NAMES) {
    const text = `The names of the columns of '${resource.rel}' are too long for a page; use its API`;
    throw new AppError('too-large', text);
  }
  const { offset, limit } = parameters;
  const textLength = Math.min(
    MAX_CELL_TEXT,
    Math.max(20, Math.floor(MAX_CELLS_TEXT / Math.max(1, rows.length * shown.length))),
  );
  const whole = keptQuery(context);
  const links = shown.length + rows.length + MAX_CONDITIONS;
  // Where links cannot carry the view, columns are sorted by the form.
  const repeated = whole.toString().length > MAX_REPEATED / links ? null : whole;
  const order = isFixed ? [] : orderOf(parameters, table.columns);
  const heads = new Map(
    columns.map((column) => [
      column.name,
      headOf(column, order, context, isFixed ? null : repeated),
    ]),
  );
  const mayWrite = moment === null && (await mayChangeRows(services, context.caller, resource));
  const layoutHref =
    moment === null && (await mayArrange(services, context.caller, resource))
      ? `/ui/${encodePath(resource.canonical)}/?layout=1`
      : null;
  const historyHref =
    mayWrite || moment !== null ? `/ui/${encodePath(resource.canonical)}/?history=1` : null;
  const source = isFixed ? null : resource.kind.dataset?.source?.(table.state.dialect);
  const { uncalculated = 0 } = source ?? {};
  const view: DatasetView = {
    name: resource.canonical,
    q: parameters.q,
    filter: context.queryValue('filter') ?? '',
    sort: parameters.sort,
    conditions: conditionsOf(context),
    kept: [...whole].filter(([name]) => !['sort', 'order', 'offset'].includes(name)),
    order,
    columns: shown.map((name) => heads.get(name)!),
    rows: rows.map((row) => {
      const id = cellText(row, '_row_id');
      const cells = shown.map((name) => shortText(cellText(row, name), textLength));
      const href = hrefWith(context, { row: id, done: null }, repeated ?? new URLSearchParams());
      return { id, href, cells };
    }),
    readOnly: isShared || moment !== null ? null : readOnlyReason(services, resource),
    then: moment && (await thenOf(services, resource, moment)),
    uncalculated,
    calculateHref:
      layoutHref === null || uncalculated === 0
        ? null
        : await proposedLayout(services, resource, { formulas: 'calculate' }),
    newHref: mayWrite ? hrefWith(context, { row: 'new', done: null }) : null,
    position: positionText(parameters, rows.length, page.total),
    ...pagingOf(context, offset, rows.length, limit, page.total),
    links: linksOf(resource, context, await mayReadOriginal(services, context.caller, resource)),
    total: isFixed ? null : totalText(resource, table),
    hints: layoutHref === null ? [] : await hintLinks(services, resource, table),
    problem,
    grid: {
      ...gridOf(table, resource, mayWrite),
      layoutHref,
      historyHref,
      startAt,
      isShared,
      isFixed,
      // A link names nobody.
      username: isShared ? '' : context.user.username,
    },
  };
  return pageReply(context, datasetPage, view, { status: problem === null ? 200 : 422 });
}

/** What a state of the past is called, and where the change before it is listed. */
async function thenOf(
  services: App,
  resource: Resource,
  moment: Moment,
): Promise<NonNullable<DatasetView['then']>> {
  const id = await changeAt(services, resource, moment);
  const page = `/ui/${encodePath(resource.canonical)}/`;
  const name = 'time' in moment ? moment.time : `change ${id}`;
  return { name, presentHref: page, historyHref: `${page}?history=1&change=${id}` };
}

/** Nothing about writing for readers. */
function gridOf(
  table: Table,
  resource: Resource,
  mayWrite: boolean,
): Omit<GridData, 'username' | 'startAt' | 'layoutHref' | 'historyHref' | 'isShared' | 'isFixed'> {
  const { size } = table.state.stamp;
  const writable = new Set(mayWrite ? table.writableColumns : []);
  const name = encodePath(resource.canonical);
  return {
    file: datasetTitle(resource),
    isLarge: size > MAX_KEPT_BYTES,
    api: `/api/${name}/`,
    page: `/ui/${name}/`,
    mayWrite,
    hasNull: table.head.blank === 'null',
    chartScript: assetNamed('grid-chart.js').path,
    columns: visibleColumns(resource, table).map((column) => ({
      name: column.name,
      type: column.type,
      ...(column.format && { format: column.format }),
      isWritable: writable.has(column),
    })),
  };
}

async function hintLinks(
  services: App,
  resource: Resource,
  table: Table,
): Promise<DatasetView['hints']> {
  if (table.head.companionSchema !== null) return [];
  return Promise.all(
    hintsOf(table).map(async ({ columns, options }) => ({
      columns: columns.slice(0, MAX_HINTED).join(', ') + (columns.length > MAX_HINTED ? ', …' : ''),
      meaning: Object.entries(options)
        .map(([name, value]) => HINTS[`${name} ${value}`]!)
        .join(' and '),
      href: await proposedLayout(services, resource, options),
    })),
  );
}

/** Columns named in a hint. */
const MAX_HINTED = 5;
const HINTS: Readonly<Record<string, string>> = {
  'units auto': 'numbers with their unit',
  'decimal ,': 'numbers with a decimal comma',
  'thousands ,': 'numbers with commas between thousands',
  'thousands .': 'whole numbers with points between thousands',
  'date_order dmy': 'dates, day first',
  'date_order mdy': 'dates, month first',
};

function totalText({ kind }: Resource, { state }: Table): string | null {
  const total = kind.dataset?.source?.(state.dialect)?.total_row;
  if (total === undefined) return null;
  const values = Object.entries(total.values).map(([name, value]) => `${name}: ${String(value)}`);
  const place =
    total.row === undefined ? 'The last row of the file' : `Row ${total.row} of the sheet`;
  return `${place} is the total, none of the rows here. ${values.join(', ')}`;
}

function shortText(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

function orderOf(
  { sort, order }: Pick<ListParameters, 'sort' | 'order'>,
  columns: readonly Column[],
): DatasetView['order'] {
  const sortable = [...columns, { name: '_row_id' }];
  return parseSort(sort, order, sortable).map(({ column, descending }) => ({
    column: sortable[column]!.name,
    isDescending: descending,
  }));
}

/** Each part with the address of the view without it. */
function conditionsOf(context: Context): DatasetView['conditions'] {
  const filter = context.queryValue('filter') ?? '';
  const members = Object.entries(parseFilter(filter) ?? {});
  const shown = members.slice(0, MAX_CONDITIONS).map(([column, member]) => {
    const text = describeMember(column, member);
    if (filter.length > MAX_LINKED_FILTER) return { text, href: null };
    const rest = withMember(filter, column, null);
    const href = hrefWith(context, { filter: rest === '' ? null : rest, offset: null });
    return { text, href };
  });
  const more = members.length - shown.length;
  return more === 0 ? shown : [...shown, { text: `and ${more} more`, href: null }];
}

function headOf(
  { name, type }: Column,
  order: DatasetView['order'],
  context: Context,
  kept: URLSearchParams | null,
): ColumnHead {
  const step = order.find((one) => one.column === name);
  const sorted = step === undefined ? null : step.isDescending ? 'descending' : 'ascending';
  const token = /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
  const next = sorted === 'ascending' ? `-${token}` : token;
  return {
    name,
    type,
    sorted,
    sortHref: kept && hrefWith(context, { sort: next, order: null, offset: null }, kept),
  };
}

function pagingOf(
  context: Context,
  offset: number,
  shown: number,
  most: number,
  total: number,
): Pick<DatasetView, 'previousHref' | 'nextHref'> {
  const before = Math.max(0, offset - most);
  const after = offset + shown;
  return {
    previousHref:
      offset > 0 ? hrefWith(context, { offset: before === 0 ? null : String(before) }) : null,
    nextHref: after < total ? hrefWith(context, { offset: String(after) }) : null,
  };
}

function positionText({ offset, q, filter }: ListParameters, shown: number, total: number): string {
  if (total === 0) return q === '' && filter === '' ? 'No rows yet' : 'No rows match';
  const all = `${total.toLocaleString('en')} ${total === 1 ? 'row' : 'rows'}`;
  if (shown === 0) return `No rows from here on, of ${all}`;
  return `${(offset + 1).toLocaleString('en')}–${(offset + shown).toLocaleString('en')} of ${all}`;
}

/** Passed on from page to page: filters of 64 KiB are legal. */
export const MAX_KEPT = 64 * 1024;
const MAX_REPEATED = 512 * 1024;
export const MAX_CONDITIONS = 50;
/** Past it each condition has no link to the view without it. */
const MAX_LINKED_FILTER = 4 * 1024;
/** A wide table shows fewer rows; the grid loads more. */
export const MAX_CELLS = 10_000;
/** Characters of all cells. */
const MAX_CELLS_TEXT = 256 * 1024;
/** A page needs them a dozen times. */
const MAX_NAMES = 128 * 1024;
const KEPT: ReadonlySet<string> = new Set(
  'limit offset cursor order format sort filter q columns pinned values chart x y measure row delete done then'.split(
    ' ',
  ),
);

function keptQuery(context: Context): URLSearchParams {
  return linkQuery(
    [...context.query].filter(([name]) => KEPT.has(name)),
    MAX_KEPT,
  );
}

/** Null removes a parameter. */
export function hrefWith(
  context: Context,
  changes: Readonly<Record<string, string | null>>,
  kept = keptQuery(context),
): string {
  const query = new URLSearchParams(kept);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  return query.size === 0 ? context.path : `${context.path}?${query}`;
}

function linksOf(resource: Resource, context: Context, hasOriginal: boolean): DatasetView['links'] {
  const name = encodePath(resource.canonical);
  const query = keptQuery(context);
  for (const paging of ['offset', 'limit', 'cursor']) query.delete(paging);
  const then = query.get('then');
  query.delete('then');
  if (then !== null) query.set('at', then);
  const formats = FORMATS.map((format) => {
    query.set('format', format);
    return { label: FORMAT_LABELS[format], href: `/api/${name}/?${query}` };
  });
  const original = { label: 'Original', href: `/${encodePath(resource.rel)}` };
  return [
    ...formats,
    ...(hasOriginal ? [original] : []),
    { label: 'Schema', href: `/schema/${name}/` },
    ...(context.caller?.link === undefined ? [{ label: 'Ask', href: `/ui/${name}/?${ASK}=` }] : []),
  ];
}

/** Null when the form was not sent. */
function sentViewForm(
  context: Context,
): { readonly filter: string | null; readonly sort: string | null } | null {
  const { query } = context;
  if (!query.has('where') && !query.has('by')) return null;
  const { filter, sort } = formView(query, context.queryValue('filter') ?? '');
  return {
    filter: filter === '' ? null : filter,
    sort: rowsQuery({ q: '', filter: '', sort }).get('sort'),
  };
}

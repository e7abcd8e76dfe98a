/** @jsxImportSource @kitajs/html */
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
import { mayArrange } from '../../operations/files/companions.ts';
import { mayReadOriginal } from '../../operations/files/content.ts';
import { readOnlyReason } from '../../operations/files/resources.ts';
import { hintsOf, mayChangeRows, queryRows } from '../../operations/files/datasets.ts';
import { assetNamed } from '../assets.ts';
import { ASK } from '../events/asked.ts';
import { parseFilter, withMember } from '../grid/conditions.ts';
import { describeMember, shortWords } from '../grid/filter-words.ts';
import type { GridData } from '../grid/model.ts';
import { FORM_OPERATORS, formView } from '../grid/plain-form.ts';
import { rowsQuery } from '../grid/view.ts';
import { pageReply } from '../page-reply.ts';
import { cellText, rowsOf } from './page-rows.ts';
import { FORMAT_LABELS } from '../parts/export-menu.tsx';
import { HiddenFields, SearchBox } from '../parts/forms.tsx';
import { Problem } from '../parts/messages.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { datasetTitle, trailTo } from '../addresses.ts';
import { fileLayoutReply, oneColumnReply, proposedLayout } from './file-layout.tsx';
import type { Page } from '../frame.tsx';
import { readingPage } from './file-being-read.tsx';
import { Holdings, Lane } from '../../processes/lane.ts';
import type { Table } from '../../tables/copy/table.ts';
import { FORMATS } from '../../tables/read/format.ts';
import { type ListParameters, parseListParameters } from '../../tables/read/list-parameters.ts';
import { parseSort } from '../../tables/read/name-list.ts';
import type { Column } from '../../tables/types.ts';

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
export async function datasetPageReply(
  services: App,
  context: Context,
  resource: Resource,
): Promise<Reply> {
  const sent = sentViewForm(context);
  if (sent !== null) {
    return redirectReply(hrefWith(context, { ...sent, order: null, offset: null }), 303);
  }
  const target = services.datasets.targetOf(resource);
  const size = statFile(target.path, target.rel)?.size ?? 0;
  const rows = async (): Promise<Reply> => {
    try {
      return await pages.run(MAX_WAIT_MS, () => rowsReply(services, context, resource));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unreadable-file') throw error;
      if (!(await mayArrange(services, context.caller, resource))) throw error;
      return fileLayoutReply(services, context, resource, { status: error.status });
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

async function rowsReply(services: App, context: Context, resource: Resource): Promise<Reply> {
  const given = new URLSearchParams(context.query);
  for (const name of ['limit', 'cursor', 'format']) given.delete(name);
  const startAt = await rowsBefore(services, context, resource);
  const table = await services.tables.current(services.datasets.targetOf(resource));
  const instead = await oneColumnReply(services, context, resource, table.columns);
  if (instead !== null) return instead;
  const { columns } = parseListParameters(given);
  const cellRows = Math.floor(MAX_CELLS / Math.max(1, columns.length || table.columns.length));
  const limit = Math.min(PAGE_ROWS, Math.max(1, cellRows));
  if (startAt !== null) given.set('offset', String(startAt - (startAt % limit)));
  const page = { ...parseListParameters(given), limit };
  try {
    return await reply(services, context, resource, page, { startAt });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid-query') throw error;
    const plain = { ...page, filter: '', sort: '', columns: [] };
    return reply(services, context, resource, plain, { problem: error.message });
  }
}

/** Parameters that move rows. */
const OTHER_PLACES = ['q', 'filter', 'sort', 'offset'];

/** Null without `?at=`. */
async function rowsBefore(
  services: App,
  context: Context,
  resource: Resource,
): Promise<number | null> {
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
}

async function reply(
  services: App,
  context: Context,
  resource: Resource,
  parameters: ListParameters & { readonly limit: number },
  { problem = null, startAt = null }: Extras,
): Promise<Reply> {
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
  );
  const rows = await rowsOf(page);
  if (isCrowded()) await ownTurn();
  const shown = prepared.plan.shape.columns.map(({ name }) => name);
  const names = table.columns.reduce((sum, { name }) => sum + name.length, 0);
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
  const order = orderOf(parameters, table.columns);
  const heads = new Map(
    table.columns.map((column) => [column.name, headOf(column, order, context, repeated)]),
  );
  const mayWrite = await mayChangeRows(services, context.caller, resource);
  const layoutHref = (await mayArrange(services, context.caller, resource))
    ? `/ui/${encodePath(resource.canonical)}/?layout=1`
    : null;
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
    readOnly: readOnlyReason(services, resource),
    uncalculated: resource.kind.dataset?.source?.(table.state.dialect)?.uncalculated ?? 0,
    newHref: mayWrite ? hrefWith(context, { row: 'new', done: null }) : null,
    position: positionText(parameters, rows.length, page.total),
    ...pagingOf(context, offset, rows.length, limit, page.total),
    links: linksOf(resource, context, await mayReadOriginal(services, context.caller, resource)),
    total: totalText(resource, table),
    hints: layoutHref === null ? [] : await hintLinks(services, resource, table),
    problem,
    grid: { ...gridOf(table, resource, mayWrite), layoutHref, startAt },
  };
  return pageReply(context, datasetPage, view, { status: problem === null ? 200 : 422 });
}

/** Nothing about writing for readers. */
function gridOf(
  table: Table,
  resource: Resource,
  mayWrite: boolean,
): Omit<GridData, 'startAt' | 'layoutHref'> {
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
    columns: table.columns.map((column) => ({
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
  'limit offset cursor order format sort filter q columns pinned values chart x y measure row delete done'.split(
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
  const formats = FORMATS.map((format) => {
    query.set('format', format);
    return { label: FORMAT_LABELS[format], href: `/api/${name}/?${query}` };
  });
  const original = { label: 'Original', href: `/${encodePath(resource.rel)}` };
  return [
    ...formats,
    ...(hasOriginal ? [original] : []),
    { label: 'Schema', href: `/schema/${name}/` },
    { label: 'Ask', href: `/ui/${name}/?${ASK}=` },
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

const KEYS = [
  'Arrows Move between cells; Page Up, Page Down, Home, End go further',
  'Enter Edit the cell, or show the row',
  'Tab Keep the value and edit the next cell',
  'Esc Leave the cell as it was',
  'Shift+Arrows Select a block of cells',
  'Space Select the row, or the rows of the block',
  'Ctrl+A Select all rows',
  'Ctrl+C Copy the cell, the block or the selected rows',
  'Ctrl+X Cut the cell, the block or the selected rows',
  'Ctrl+V Paste over the cells from here on, or add rows of a spreadsheet',
  'Ctrl+D Fill the block with its first row, or the cell with the one above; its corner is pulled for more',
  'Delete Empty the cell or the block, or delete the selected rows',
  'Ctrl+Z Undo',
  'Ctrl+Y Redo',
  'Shift+Enter Show the row',
  'Alt+↓ Open the menu of the column',
];
const WRITING_KEYS = /^(?:Tab|Esc|Ctrl\+[VDX]|Delete|Ctrl\+[ZY])/;

interface ColumnHead {
  readonly name: string;
  readonly type: string;
  /** Null when the address would be too long. */
  readonly sortHref: string | null;
  readonly sorted: 'ascending' | 'descending' | null;
}

interface TableRow {
  readonly id: string;
  readonly href: string;
  readonly cells: readonly string[];
}

interface DatasetView {
  readonly name: string;
  readonly q: string;
  readonly filter: string;
  readonly sort: string;
  /** Null when the address would be too long. */
  readonly conditions: readonly { readonly text: string; readonly href: string | null }[];
  readonly kept: readonly (readonly [name: string, value: string])[];
  readonly order: readonly { readonly column: string; readonly isDescending: boolean }[];
  readonly columns: readonly ColumnHead[];
  readonly rows: readonly TableRow[];
  /** Without script; null for readers. */
  readonly newHref: string | null;
  /** `1–50 of 3,376 rows`. */
  readonly position: string;
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  readonly links: readonly { readonly label: string; readonly href: string }[];
  /** The row of totals in words. */
  readonly total: string | null;
  /** What columns of text may be, and the page where that is said. */
  readonly hints: readonly {
    readonly columns: string;
    readonly meaning: string;
    readonly href: string;
  }[];
  readonly problem: string | null;
  readonly readOnly: string | null;
  /** Cells without a result. */
  readonly uncalculated: number;
  readonly grid: GridData;
}

function uncalculatedText(count: number): string {
  const [cells, them] =
    count === 1
      ? ['1 cell is not calculated and shows its formula', 'it']
      : [`${count.toLocaleString('en')} cells are not calculated and show their formulas`, 'them'];
  return `${cells}: Excel or LibreOffice calculates ${them} when the file is opened and saved there.`;
}

export const datasetPage: Page<DatasetView> = {
  name: 'dataset',
  layout: 'wide',
  title: ({ name }) => name.slice(name.lastIndexOf('/') + 1),
  styles: ['uplot.css', 'grid.css'],
  scripts: ['grid.js'],
  trail: ({ name }) => trailTo(name),
  content: (view, frame) => (
    <>
      {view.readOnly !== null && (
        <p class="fine" safe>
          {view.readOnly}
        </p>
      )}
      {view.uncalculated > 0 && (
        <p class="notice" safe>
          {uncalculatedText(view.uncalculated)}
        </p>
      )}
      {view.total !== null && (
        <p class="fine" safe>
          {view.total}
        </p>
      )}
      {view.hints.length > 0 && (
        <p class="notice">
          {view.hints.map(({ columns, meaning, href }) => (
            <span>
              <span safe>{columns}</span> may be <span safe>{meaning}</span>.{' '}
              <a href={href}>Read it so</a>{' '}
            </span>
          ))}
        </p>
      )}
      {view.grid.columns.length === 1 && view.grid.layoutHref !== null && (
        <p class="notice">
          This file reads as one column. <a href={view.grid.layoutHref}>See its lines and choose</a>
        </p>
      )}
      <div id="dataset" data-grid={JSON.stringify(view.grid)} data-keys={keysOf(view.grid)}>
        <Search view={view} path={frame.path} />
        <ViewForm view={view} path={frame.path} />
        <Conditions view={view} />
        <Problem text={view.problem} />
        <p class="fine" role="status" safe>
          {view.position}
        </p>
        {view.rows.length === 0 && (view.q !== '' || view.filter !== '') && (
          <p>
            <a href={frame.path}>Show all rows</a>
          </p>
        )}
        <Rows view={view} />
        <PageLinks previousHref={view.previousHref} nextHref={view.nextHref} />
        {view.newHref !== null && (
          <p class="below-rows">
            <a class="button quiet" href={view.newHref}>
              Add a row
            </a>{' '}
            <span class="fine">The number of a row leads to where it is changed or deleted.</span>
          </p>
        )}
        <p class="fine downloads">
          {view.links.map(({ label, href }) => (
            <a href={href} safe>
              {label}
            </a>
          ))}
          {view.grid.layoutHref !== null && <a href={view.grid.layoutHref}>How it is read</a>}
        </p>
      </div>
    </>
  ),
};

function keysOf({ mayWrite }: GridData): string {
  return KEYS.filter((key) => mayWrite || !WRITING_KEYS.test(key))
    .map((key) => (mayWrite ? key : key.replace('Edit the cell, or show', 'Show')))
    .join('\n');
}

function Search({ view, path }: { view: DatasetView; path: string }) {
  return (
    <form class="filter query" method="get" action={path} role="search">
      {view.sort !== '' && <input type="hidden" name="sort" value={view.sort} />}
      <SearchBox
        label="Rows with these words"
        name="q"
        value={view.q}
        placeholder="Search words"
        autocomplete={undefined}
      />
      <SearchBox
        label="Filter as a JSON object"
        type="text"
        name="filter"
        value={view.filter}
        placeholder={'Filter, e.g. {"price":{"$gt":50}}'}
        spellcheck="false"
      />
      <button class="quiet" type="submit">
        Apply
      </button>
    </form>
  );
}

/** The server turns them into API parameters. */
function ViewForm({ view, path }: { view: DatasetView; path: string }) {
  const names = view.grid.columns.map(({ name }) => name);
  if (names.length === 0) return '';
  const steps = [...view.order, null, null, null].slice(0, Math.max(3, view.order.length + 1));
  const isListed = names.length * steps.length > MAX_OPTIONS;
  return (
    <details class="view-form">
      <summary>Filter and sort</summary>
      <form method="get" action={path}>
        <HiddenFields fields={view.kept} />
        <fieldset>
          <legend>Only rows where</legend>
          <ColumnSelect
            {...{ names, isListed }}
            name="where"
            label="Column"
            chosen=""
            none="no column"
          />
          <select name="is" aria-label="Condition">
            {FORM_OPERATORS.map(([value, label]) => (
              <option value={value} safe>
                {label}
              </option>
            ))}
          </select>
          <input type="text" name="value" aria-label="Value" autocomplete="off" />
        </fieldset>
        {isListed && <ColumnNames names={names} />}
        {steps.map((step, index) => (
          <fieldset>
            <legend>{index === 0 ? 'Sort by' : 'then by'}</legend>
            <ColumnSelect
              name="by"
              label={index === 0 ? 'Sort by' : `Then by (${index + 1})`}
              {...{ names, isListed }}
              chosen={step?.column ?? ''}
              none="as in the file"
            />
            <select name="way" aria-label={`Direction ${index + 1}`}>
              <option value="asc">upwards ↑</option>
              <option value="desc" selected={step?.isDescending === true}>
                downwards ↓
              </option>
            </select>
          </fieldset>
        ))}
        <button class="quiet" type="submit">
          Show
        </button>
      </form>
    </details>
  );
}

/** With more options the names are listed once in the page, and boxes suggest them. */
const MAX_OPTIONS = 2_000;

function ColumnNames({ names }: { names: readonly string[] }) {
  return (
    <datalist id="column-names">
      {names.map((value) => (
        <option {...{ value }}></option>
      ))}
    </datalist>
  );
}

function ColumnSelect(props: {
  name: string;
  label: string;
  names: readonly string[];
  chosen: string;
  none: string;
  isListed: boolean;
}) {
  const { name, label, names, chosen, none, isListed } = props;
  if (isListed) {
    return (
      <input name={name} aria-label={label} value={chosen} placeholder={none} list="column-names" />
    );
  }
  const isOther = chosen !== '' && !names.includes(chosen);
  return (
    <select name={name} aria-label={label}>
      <option value="" safe>
        {none}
      </option>
      {(isOther ? [...names, chosen] : names).map((one) => (
        <option value={one} selected={one === chosen} safe>
          {one}
        </option>
      ))}
    </select>
  );
}

function Conditions({ view }: { view: DatasetView }) {
  if (view.conditions.length === 0) return '';
  return (
    <ul class="conditions" aria-label="Conditions">
      {view.conditions.map(({ text, href }) => (
        <li>
          <span title={text} safe>
            {shortWords(text)}
          </span>{' '}
          {href !== null && (
            <a {...{ href }} aria-label={`Remove the filter ${shortWords(text)}`}>
              Remove
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function Rows({ view }: { view: DatasetView }) {
  return (
    <div class="scroll" tabindex="0" role="region" aria-label={`Rows of ${view.name}`}>
      <table class="rows">
        <thead>
          <tr>
            <th scope="col" class="number">
              #
            </th>
            {view.columns.map((column) => (
              <th
                scope="col"
                class={isNumeric(column) ? 'number' : undefined}
                aria-sort={column.sorted ?? undefined}
              >
                <SortLink column={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {view.rows.map(({ id, href, cells }) => (
            <tr>
              <td class="number fine">
                <a href={href} aria-label={`Row ${id}`} safe>
                  {id}
                </a>
              </td>
              {cells.map((cell, index) => (
                <td class={isNumeric(view.columns[index]!) ? 'number' : undefined} safe>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function SortLink({ column }: { column: ColumnHead }) {
  const { sortHref: href, type, name } = column;
  if (href === null) return <span safe>{name + arrowOf(column)}</span>;
  return (
    <a {...{ href }} title={type} safe>
      {name + arrowOf(column)}
    </a>
  );
}

function isNumeric({ type }: ColumnHead): boolean {
  return type === 'integer' || type === 'number';
}

function arrowOf({ sorted }: ColumnHead): string {
  if (sorted === null) return '';
  return sorted === 'ascending' ? ' ↑' : ' ↓';
}

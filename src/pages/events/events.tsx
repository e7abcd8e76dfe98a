/** @jsxImportSource @kitajs/html */
/**
 * A query, a span of time and their result, for events or for one dataset, which has no span. Every view has an address;
 * scripts add the editor, the histogram, the fields and the live tail.
 */
import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { searchReply } from '../../api/search-reply.ts';
import { AppError } from '../../base/errors.ts';
import type { Resource } from '../../docroot/registry/registry.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { askedFormat, formatHrefs, formatParameter } from '../../http/reply/list-file.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { ToldProblem } from '../../language/syntax/problem.ts';
import { startOf, withinTimes } from '../../language/syntax/refine.ts';
import {
  mayReadEvents as mayRead,
  mayWriteEvents as mayWrite,
} from '../../operations/events/event-access.ts';
import { isSqlStatement } from '../../language/syntax/sql-statement.ts';
import {
  describeLanguage,
  runSearch,
  type SearchResult,
} from '../../operations/events/searches.ts';
import {
  addressOf,
  type Asked,
  askedOf,
  beginning,
  datasetAddress,
  FIRST_SPAN,
  MAX_ROWS,
  pathOf,
  wholeQuery,
} from './explorer-state.ts';
import { getListedSearch, type ListedSavedSearch } from '../../operations/events/saved-searches.ts';
import { formOf, type ResultForm } from './result-view.ts';
import { orderOf, type Ran, run } from './run-query.ts';
import { mayUpload } from '../../operations/files/uploads.ts';
import { pageReply } from '../page-reply.ts';
import {
  EventQuery,
  EventQueryProblem,
  type EventQueryView,
  type QueryProblem,
} from './event-query.tsx';
import { EventResults, type EventResultsView } from './event-results.tsx';
import { ExportMenu } from '../parts/export-menu.tsx';
import { PostForm } from '../parts/forms.tsx';
import { Notice } from '../parts/messages.tsx';
import { Count } from '../parts/values.tsx';
import { trailTo } from '../addresses.ts';
import { printName } from '../../language/expressions/expression.ts';
import type { FrameView, Page } from '../frame.tsx';
import type { Format } from '../../tables/read/format.ts';

const MAX_EXAMPLES = 8;

export const eventsPageRoute = new Elysia({ name: 'events-page' })
  .use(lifecycle)
  .get('/events', ({ ask }) => explorerReply(ask, null), {
    checks: { access: 'user', cacheControl: PRIVATE },
    describes: {
      summary: 'Show the event explorer',
      tag: 'events',
      parameters: [
        { name: 'q', in: 'query', description: 'The query', schema: Type.String() },
        {
          name: 'earliest',
          in: 'query',
          description: 'Only events from then on, such as -24h; empty: all',
          schema: Type.String({ default: FIRST_SPAN }),
        },
        {
          name: 'latest',
          in: 'query',
          description: 'Only events before',
          schema: Type.String(),
        },
        {
          name: 'timezone',
          in: 'query',
          description: 'Zone of days and of times without offset; UTC unless given',
          schema: Type.String(),
        },
        formatParameter,
      ],
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
    },
  })
  .get('/sql', ({ ask }) => explorerReply(ask, null, true), {
    checks: { access: 'user', cacheControl: PRIVATE },
    describes: {
      summary: 'Show the page for SQL',
      tag: 'search',
      parameters: [
        { name: 'q', in: 'query', description: 'The statement', schema: Type.String() },
        {
          name: 'offset',
          in: 'query',
          description: 'Rows left out before the first',
          schema: Type.Integer({ minimum: 0, default: 0 }),
        },
        formatParameter,
      ],
      answers: { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } },
    },
  });

/** Throws `not-found` for an unknown format. */
export async function explorerReply(
  context: Context,
  dataset: Resource | null,
  isSql = false,
): Promise<Reply> {
  const asked = askedOf(context, dataset?.canonical ?? null, isSql);
  const full = isSql ? asked.q : withinTimes(asked.q, asked.earliest, asked.latest);
  const format = askedFormat(context);
  if (format === null) {
    const outcome = await run(context, full, asked);
    const isBegun = dataset !== null && asked.q.trim() === beginning(dataset.canonical).trim();
    const examples =
      isSql && asked.q.trim() === ''
        ? await tablesOf(context, asked)
        : isBegun && 'rows' in outcome
          ? await examplesOf(context, asked, dataset, outcome.rows)
          : [];
    return pageOf(context, asked, full, outcome, { examples });
  }
  const result = await runAs(context, full, asked, format);
  return result.kind === 'problem' && context.wantsHtml
    ? pageOf(context, asked, full, result.problem, { status: isSql ? 422 : 400 })
    : searchReply(context, result);
}

async function pageOf(
  context: Context,
  asked: Asked,
  full: string,
  outcome: Ran | ToldProblem,
  {
    status = 200,
    examples = [],
  }: { readonly status?: number; readonly examples?: EventsView['examples'] } = {},
): Promise<Reply> {
  const { services, user, baseUrl } = context;
  const view = {
    ...viewOf(asked, full, outcome),
    saved: await savedOf(context, asked),
    done: DONE[context.queryValue('done') ?? ''] ?? null,
    examples,
    mayReadEvents: await mayRead(services, user),
    mayCreateFiles: await mayUpload(services, user),
    sendsTo: (await mayWrite(services, user)) && !services.config.readonly ? baseUrl : null,
    formatHrefs: formatHrefs(asked.isSql ? '/sql' : '/events', wholeQuery(asked)),
    maxFileRows: services.config.events.search.export_max_rows,
  };
  return pageReply(context, eventsPage, view, { status });
}

const DONE: Readonly<Record<string, string>> = {
  saved: 'Saved.',
  updated: 'The saved search is as it is here now.',
};

/** Null when it is none, or is not seen any more. */
async function savedOf(
  { services, user }: Context,
  { view: { saved } }: Asked,
): Promise<ListedSavedSearch | null> {
  if (saved === undefined) return null;
  return getListedSearch(services, user, Number(saved)).catch((error: unknown) => {
    if (error instanceof AppError && error.status < 500) return null;
    throw error;
  });
}

function runAs(
  context: Context,
  query: string,
  asked: Asked,
  format: Format,
): Promise<SearchResult> {
  const { services, user, origin, request } = context;
  const order = orderOf(query, { ...asked, offset: 0 }, format, services.config);
  return runSearch(services, user, origin, order, request.signal);
}

function viewOf(
  asked: Asked,
  full: string,
  outcome: Ran | ToldProblem,
): Omit<
  EventsView,
  | 'done'
  | 'examples'
  | 'formatHrefs'
  | 'maxFileRows'
  | 'mayCreateFiles'
  | 'mayReadEvents'
  | 'saved'
  | 'sendsTo'
> {
  const { dataset, isSql, values, q, earliest, latest, timezone, view } = asked;
  // A statement has no terms.
  const { first, isSearch, isOnlySearch: isCountable } = startOf(isSql ? '|' : q);
  const terms = isSearch ? first || '*' : null;
  const allTimeHref =
    earliest + latest === '' ? null : addressOf({ ...asked, earliest: '', latest: '' });
  const common = {
    dataset,
    isSql,
    values,
    q,
    earliest,
    latest,
    timezone,
    view,
    full,
    terms,
    isCountable,
    allTimeHref,
  };
  if ('error' in outcome) {
    return {
      ...common,
      problem: problemOf(asked, full, outcome),
      notices: [],
      lines: null,
      lineColumns: [],
      isTable: false,
      columns: [],
      rows: [],
      figures: null,
      otherForm: null,
      moreHref: null,
      pages: [],
      isChartable: false,
    };
  }
  const { rows, meta } = outcome;
  const isBlank = isSql && q.trim() === '';
  const columns = meta.columns.map(({ name, type }) => ({ name, type }));
  const names = new Set(columns.map(({ name }) => name));
  const isEvents = ['id', 'data', 'created'].every((name) => names.has(name));
  return {
    ...common,
    problem: null,
    notices: isBlank
      ? []
      : meta.notices.filter((notice) => !/^Result cut at \d+ rows$/.test(notice)),
    ...formOf(rows, columns, asked, isEvents),
    figures: isBlank ? null : figuresOf(meta),
    moreHref:
      meta.truncated && asked.limit < MAX_ROWS
        ? addressOf({ ...asked, limit: Math.min(asked.limit * 5, MAX_ROWS) })
        : null,
    pages: isSql ? pagesOf(asked, meta) : [],
    isChartable:
      !isEvents &&
      rows.length > 1 &&
      columns.length > 1 &&
      columns.some(({ type }) => type === 'number'),
  };
}

function pagesOf(
  asked: Asked,
  { count, truncated }: Ran['meta'],
): readonly { readonly label: string; readonly href: string }[] {
  const at = (offset: number): string => addressOf({ ...asked, offset });
  const previous = { label: 'Previous rows', href: at(Math.max(0, asked.offset - asked.limit)) };
  const next = { label: 'Next rows', href: at(asked.offset + count) };
  return [...(asked.offset > 0 ? [previous] : []), ...(truncated ? [next] : [])];
}

/** Some of those the reader may read. */
async function tablesOf(
  { services, user }: Context,
  asked: Asked,
): Promise<EventsView['examples']> {
  const { sources } = await describeLanguage(services, user);
  const tables = sources.filter((name) => name !== 'events' && name !== 'audit');
  return tables.slice(0, MAX_EXAMPLES).map((name) => {
    const query = `SELECT * FROM "${name.replaceAll('"', '""')}"`;
    return { query, href: addressOf({ ...asked, q: query }) };
  });
}

/** `rows` are some of the dataset. */
async function examplesOf(
  { services }: Context,
  asked: Asked,
  dataset: Resource,
  rows: Ran['rows'],
): Promise<EventsView['examples']> {
  const { columns } = await services.tables.current(services.datasets.targetOf(dataset));
  const different = ({ name }: { readonly name: string }): number =>
    new Set(rows.map((row) => row[name])).size;
  // What groups rows has few values; what is summed has many.
  const [group] = columns
    .filter(({ type, format }) => type === 'string' && !format)
    .toSorted((a, b) => different(a) - different(b));
  const [figure] = columns
    .filter(({ type }) => type === 'integer' || type === 'number')
    .toSorted((a, b) => different(b) - different(a));
  const dates = columns.find(({ format }) => format !== undefined);
  const [text, number, time] = [group, figure, dates].map((one) => one && printName(one.name));
  const stages = [
    text && `stats count BY ${text} | sort -count | head 10`,
    text && number && `stats sum(${number}), avg(${number}) BY ${text}`,
    time && `timechart field=${time.replaceAll("'", '"')} ${number ? `sum(${number})` : 'count'}`,
    !time && number && `sort -${number} | head 10`,
  ];
  return stages.flatMap((stage) =>
    stage
      ? [
          {
            query: stage,
            href: addressOf({ ...asked, q: beginning(dataset.canonical) + stage }),
          },
        ]
      : [],
  );
}

function figuresOf({ count, truncated, scanned, elapsed_ms: elapsed }: Ran['meta']): ResultFigures {
  return { rows: count, isCut: truncated, scanned, elapsedMs: elapsed };
}

/** The place of a problem counts in the query with its times; shown is the query as typed. */
function problemOf(asked: Asked, full: string, problem: ToldProblem): QueryProblem {
  const { length, suggestion = null, allowed = [] } = problem;
  const [told = problem.error] = problem.error.split('\n');
  const typed = placeIn(asked.q, full, problem);
  const points = [...(typed === null ? full : asked.q)];
  const offset = typed ?? problem.offset;
  const before = points.slice(0, offset).join('');
  const wrong = points.slice(offset, offset + length).join('');
  const after = points.slice(offset + length).join('');
  const message = told.replace(/ \[(?:stage|line) \d+, column \d+\]$/, '');
  const isWord = suggestion !== null && [suggestion, wrong].every((text) => /^[\w.-]+$/.test(text));
  // A whole statement stands for another whole query.
  const isMeant = isWord || (suggestion !== null && wrong.includes(' '));
  return {
    before,
    wrong,
    after,
    message,
    suggestion: isMeant || !message.includes(suggestion ?? message) ? suggestion : null,
    suggestionHref:
      isMeant && typed !== null ? addressOf({ ...asked, q: before + suggestion + after }) : null,
    sqlHref:
      !asked.isSql && isSqlStatement(asked.q)
        ? `/sql?${new URLSearchParams({ q: asked.q })}`
        : null,
    allowed,
  };
}

/** Null when the problem is in the times. */
function placeIn(q: string, full: string, { offset, length }: ToldProblem): number | null {
  const [typed, ran] = [[...q], [...full]];
  let same = 0;
  while (same < typed.length && typed[same] === ran[same]) same++;
  if (offset + length <= same) return offset;
  const moved = offset - (ran.length - typed.length);
  const isSame = (index: number): boolean => typed[moved + index] === ran[offset + index];
  return moved >= 0 &&
    moved + length <= typed.length &&
    ran.slice(offset).every((_, i) => isSame(i))
    ? moved
    : null;
}

interface ResultFigures {
  readonly rows: number;
  readonly isCut: boolean;
  readonly scanned: number;
  readonly elapsedMs: number;
}

interface EventsView extends EventQueryView, EventResultsView, Pick<ResultForm, 'otherForm'> {
  readonly saved: ListedSavedSearch | null;
  /** What has just been done. */
  readonly done: string | null;
  /** With its times, as it ran. */
  readonly full: string;
  readonly problem: QueryProblem | null;
  readonly notices: readonly string[];
  /** Null: nothing ran, `problem` says why. */
  readonly figures: ResultFigures | null;
  readonly moreHref: string | null;
  /** Rows before and behind the shown ones. */
  readonly pages: readonly { readonly label: string; readonly href: string }[];
  readonly formatHrefs: Readonly<Record<Format, string>>;
  readonly maxFileRows: number;
  readonly mayCreateFiles: boolean;
  readonly isCountable: boolean;
  readonly isChartable: boolean;
}

export const eventsPage: Page<EventsView> = {
  name: 'events',
  layout: 'full',
  title: ({ dataset, isSql, saved }) =>
    saved?.view.name ??
    (isSql ? 'SQL' : dataset === null ? 'Events' : `Ask about ${lastOf(dataset)}`),
  trail: ({ dataset, saved }) =>
    dataset === null
      ? saved === null
        ? []
        : [{ label: 'Saved searches', href: '/savedsearches' }]
      : [...trailTo(dataset), { label: lastOf(dataset), href: datasetAddress(dataset) }],
  styles: ['uplot.css', 'charts.css', 'events.css'],
  scripts: ['events.js', 'query-editor.js'],
  content: (view, frame) => (
    <div
      id="explorer"
      data-keys={view.isSql ? 'Ctrl+Enter Run' : 'Enter Search\nShift+Enter New line in the query'}
      data-sql={String(view.isSql)}
      data-terms={view.terms ?? ''}
      data-searches={String(view.terms !== null && view.mayReadEvents)}
      data-reads={String(view.mayReadEvents)}
      data-earliest={view.earliest}
      data-latest={view.latest}
    >
      <Notice text={view.done} />
      <EventQuery view={view} />
      {view.problem !== null && <EventQueryProblem problem={view.problem} isSql={view.isSql} />}
      <div class="explorer">
        <aside id="fields" aria-label="Fields" hidden></aside>
        <div class="results">
          <div id="histogram" class="histogram" hidden></div>
          <Tools view={view} frame={frame} />
          {view.notices.map((notice) => (
            <p class="notice" safe>
              {notice}
            </p>
          ))}
          <p id="tail-status" class="fine" role="status" hidden></p>
          <div class="event-lines" data-columns={String(view.lineColumns.length)}>
            <ol id="tail" class="lines" aria-label="Live events" hidden></ol>
          </div>
          <div id="chart-place"></div>
          <div id="found">{view.problem === null && <EventResults view={view} />}</div>
          {(view.moreHref !== null || view.pages.length > 0) && (
            <p class="more">
              {view.pages.map(({ label, href }) => (
                <>
                  <a class="button quiet" href={href} safe>
                    {label}
                  </a>{' '}
                </>
              ))}
              {view.moreHref !== null && (
                <a class="button quiet" href={view.moreHref}>
                  Show more
                </a>
              )}
            </p>
          )}
        </div>
      </div>
    </div>
  ),
};

function lastOf(dataset: string): string {
  return dataset.slice(dataset.lastIndexOf('/') + 1);
}

function Tools({ view, frame }: { view: EventsView; frame: FrameView }) {
  return (
    <div class="tools">
      <p class="fine" role="status" id="figures">
        {view.figures === null ? (
          view.isSql ? (
            'Nothing was read'
          ) : (
            'Nothing was searched'
          )
        ) : (
          <Figures {...view} figures={view.figures} />
        )}
      </p>
      {view.otherForm !== null && (
        <a class="button quiet small" href={view.otherForm.href} safe>
          {view.otherForm.label}
        </a>
      )}
      {view.problem === null && !view.isSql && <Watch />}
      {view.isChartable && (
        <button
          type="button"
          class={isDrawn(view) ? 'quiet small drawn' : 'quiet small'}
          id="chart"
          hidden
          data-key="c"
        >
          Chart
        </button>
      )}
      <details class="menu-button" id="history" hidden>
        <summary class="button quiet small">History</summary>
        <ul class="plain-list"></ul>
      </details>
      {view.problem === null && <Keep view={view} frame={frame} />}
    </div>
  );
}

/** The reader chose the chart, or the rows are a series over time. */
function isDrawn({ view: { chart = '' }, rows }: EventsView): boolean {
  return chart === '' ? rows.every(([first]) => first?.kind === 'time') : chart !== '0';
}

function Watch() {
  return (
    <>
      <button type="button" class="quiet small" id="pause" hidden data-key="p">
        Pause
      </button>
      <button
        type="button"
        class="quiet small"
        id="live"
        data-action="Watch events live"
        hidden
        data-key="l"
      >
        Watch live
      </button>
    </>
  );
}

/** Longer ones do not fit into an address everywhere. */
const MAX_LINKED_QUERY = 2_000;

function Keep({ view, frame }: { view: EventsView; frame: FrameView }) {
  return (
    <>
      {view.saved?.isOwn === true && (
        <PostForm
          frame={frame}
          to="/savedsearches"
          does="update"
          fields={[
            ['id', view.saved.view.id],
            ['name', view.saved.view.name],
            ...savedFields(view),
          ]}
        >
          <button
            type="submit"
            class="quiet small"
            title={`Save it as “${view.saved.view.name}” again`}
          >
            Update
          </button>
        </PostForm>
      )}
      <details class="menu-button">
        <summary class="button quiet small">{view.saved === null ? 'Save' : 'Save as'}</summary>
        <PostForm
          class="stack"
          frame={frame}
          to="/savedsearches"
          does="create"
          fields={savedFields(view)}
        >
          <label>
            Name
            <input name="name" required maxlength="255" autocomplete="off" />
          </label>
          <label class="check">
            <input type="checkbox" name="is_public" value="true" /> Everybody may see it
          </label>
          <button type="submit">Save this search</button>
        </PostForm>
      </details>
      <button
        type="button"
        class="quiet small"
        id="add-to-dashboard"
        data-may-create={String(view.mayCreateFiles)}
        hidden
      >
        Add to dashboard
      </button>
      {view.q !== '' && view.q.length <= MAX_LINKED_QUERY && (
        <a
          class="button quiet small"
          href={`/ui/alerts/new?${new URLSearchParams({ query: view.q })}`}
        >
          Alert on this
        </a>
      )}
      <ExportMenu
        json={view.formatHrefs.json}
        query={view.full}
        files={view.formatHrefs}
        note={<FileRows view={view} />}
      />
    </>
  );
}

/** Where it is saved from, and as what; the script sends what is typed and chosen since. */
function savedFields(view: EventsView): (readonly [name: string, value: string])[] {
  const { saved: _, refresh: __, ...shown } = view.view;
  return [
    ['query', view.full],
    ['language', view.isSql ? 'sql' : ''],
    ['page', pathOf(view)],
    [
      'view',
      String(
        new URLSearchParams({
          ...shown,
          ...(view.isTable && { form: 'table' }),
          ...(view.timezone !== 'UTC' && { timezone: view.timezone }),
        }),
      ),
    ],
  ];
}

/** As far as known here; the script asks for the full count. */
function FileRows({ view: { figures, maxFileRows, isCountable } }: { view: EventsView }) {
  if (figures !== null && !figures.isCut) {
    const { rows } = figures;
    const isWhole = rows <= maxFileRows;
    return (
      <>
        {isWhole ? 'all ' : 'the first '}
        {!isWhole && <Count value={maxFileRows} />}
        {isWhole ? '' : ' of '}
        <Count value={rows} />
        {rows === 1 ? ' row' : ' rows'}
      </>
    );
  }
  return (
    <span id={isCountable ? 'file-rows' : undefined} data-most={String(maxFileRows)}>
      up to <Count value={maxFileRows} /> rows
    </span>
  );
}

interface FiguresProps {
  readonly figures: ResultFigures;
  readonly isSql: boolean;
  readonly isCountable: boolean;
}

function Figures({ figures, isCountable, isSql }: FiguresProps) {
  const { rows, isCut, scanned, elapsedMs } = figures;
  return (
    <>
      {isCut ? 'first ' : ''}
      <Count value={rows} />
      {isCut && isCountable && <span id="matched"></span>}
      {rows === 1 ? ' row · ' : ' rows · '}
      {!isSql && (
        <>
          <Count value={scanned} />
          {' scanned · '}
        </>
      )}
      <Count value={elapsedMs} />
      {' ms'}
    </>
  );
}

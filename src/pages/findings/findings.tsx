/** @jsxImportSource @kitajs/html */
/** What alerts found, to be filtered, looked through and changed many at once. */
import { Elysia } from 'elysia';
import { AppError } from '../../base/errors.ts';
import { FINDINGS_PAGE } from '../../findings/finding-message.ts';
import { SEVERITIES, type Severity, STATUSES } from '../../findings/finding.ts';
import { FINDING_SORTS, type FindingLine } from '../../findings/store.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { askedFormat, formatHrefs, formatParameter, listFile } from '../../http/reply/list-file.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import {
  type FindingChangeRequest,
  type FindingFilter,
  listFindings,
  MAX_CHANGED_FINDINGS,
  severitiesOf,
  statusesOf,
  updateFindings,
} from '../../operations/findings.ts';
import { ALERTS_PAGE } from '../alerts/alerts.tsx';
import { addressWith } from '../addresses.ts';
import { problemText } from '../form-request.ts';
import type { FrameView, Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { text } from '../parts/cells.tsx';
import { ExportMenu } from '../parts/export-menu.tsx';
import { PostForm, SearchBox, Select } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { PageLinks } from '../parts/page-links.tsx';
import { type Column, Rows, type SortLink } from '../parts/table.tsx';
import { Count, UtcTime } from '../parts/values.tsx';

const SHOWN_AT_ONCE = 50;
const MAX_OFFSET = 10_000;
/** In the first place, what is to be done. */
const FIRST_SORT = '-last_seen';
const html = { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } };

export const findingsPageRoute = new Elysia({ name: 'findings-page' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', cacheControl: PRIVATE, isExemptFromReadOnly: true } })
  .get(FINDINGS_PAGE, ({ ask }) => show(ask), {
    describes: {
      summary: 'Show what alerts found',
      tag: 'findings',
      parameters: [formatParameter],
      answers: html,
      errors: [400, 404],
    },
  })
  .post(FINDINGS_PAGE, ({ ask }) => take(ask), {
    describes: {
      summary: 'Take a form: change several findings',
      tag: 'findings',
      body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
      answers: { 303: { description: 'Done; back to the page', schema: null } },
      errors: [400, 403, 404, 409],
    },
  });

interface FindingsView {
  readonly filters: Readonly<Record<'status' | 'severity' | 'owner' | 'search', string>>;
  readonly items: readonly FindingLine[];
  readonly total: number;
  readonly first: number;
  readonly address: string;
  readonly sorts: Readonly<Record<string, SortLink>>;
  readonly previousHref: string | null;
  readonly nextHref: string | null;
  readonly dataHref: string;
  readonly files: Readonly<Record<string, string>>;
  readonly notice: string | null;
  readonly problem: string | null;
}

async function show(context: Context, refusal: AppError | null = null): Promise<Reply> {
  const { services, user } = context;
  const format = askedFormat(context);
  const filters = filtersOf(context);
  const sort = sortOf(context);
  const offset = Math.min(
    Number(/^\d{1,6}$/.exec(context.queryValue('offset') ?? '')?.[0] ?? 0),
    MAX_OFFSET,
  );
  const query = new URLSearchParams({
    sort,
    limit: String(format === null ? SHOWN_AT_ONCE : MAX_CHANGED_FINDINGS),
    offset: String(format === null ? offset : 0),
  });
  let problem = refusal;
  let filter: FindingFilter = {};
  try {
    filter = filterOf(filters);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    problem ??= error;
  }
  const { items, total } = await listFindings(services, user, { query }, filter);
  if (format !== null) return listFile('findings', format, items);
  const asked = { ...filters, ...(sort !== FIRST_SORT && { sort }) };
  const at = (place: number, more: Readonly<Record<string, string>> = {}): string =>
    addressWith(FINDINGS_PAGE, { ...asked, ...more, ...(place > 0 && { offset: String(place) }) });
  const shown = new URLSearchParams(asked);
  const view: FindingsView = {
    filters,
    items: items as unknown as readonly FindingLine[],
    total,
    first: offset + 1,
    address: at(offset),
    sorts: Object.fromEntries(
      FINDING_SORTS.map((name): [string, SortLink] => {
        const isDown = sort === `-${name}`;
        const sorted = isDown ? 'descending' : sort === name ? 'ascending' : null;
        return [name, { href: at(0, { sort: isDown ? name : `-${name}` }), sorted }];
      }),
    ),
    previousHref: offset === 0 ? null : at(Math.max(0, offset - SHOWN_AT_ONCE)),
    nextHref: offset + SHOWN_AT_ONCE < total ? at(offset + SHOWN_AT_ONCE) : null,
    dataHref: `/api/findings?${new URLSearchParams(Object.entries(filters).filter(([, one]) => one !== ''))}`,
    files: formatHrefs(FINDINGS_PAGE, shown),
    notice: doneText(context.queryValue('done')),
    problem: problem === null ? null : problemText(problem),
  };
  return pageReply(context, findingsPage, view, problem ?? {});
}

function filtersOf(context: Context): FindingsView['filters'] {
  const of = (name: string): string => (context.queryValue(name) ?? '').trim();
  return {
    // What is to be done, unless all is asked for.
    status: context.queryValue('status') === null ? 'open' : of('status'),
    severity: of('severity'),
    owner: of('owner'),
    search: of('search'),
  };
}

function filterOf({ status, severity, owner, search }: FindingsView['filters']): FindingFilter {
  return {
    ...(status !== '' && { statuses: statusesOf(status) }),
    ...(severity !== '' && { severities: severitiesOf(severity) }),
    ...(owner !== '' && { owner: owner === NOBODY ? '' : owner }),
    ...(search !== '' && { search }),
  };
}

function sortOf(context: Context): string {
  const text = context.queryValue('sort') ?? '';
  const isKnown = FINDING_SORTS.some((name) => name === text.replace(/^-/, ''));
  return isKnown ? text : FIRST_SORT;
}

function doneText(done: string | null): string | null {
  const count = Number(/^\d{1,5}$/.exec(done ?? '')?.[0] ?? 0);
  if (count === 0) return null;
  return count === 1 ? 'One finding is changed.' : `${count} findings are changed.`;
}

async function take(context: Context): Promise<Reply> {
  const { services, user, origin } = context;
  const fields = (await context.form()) ?? new Map<string, string>();
  const ids = [...fields.keys()].flatMap((name) => /^finding-(\d{1,15})$/.exec(name)?.[1] ?? []);
  try {
    if (ids.length === 0) throw new AppError('bad-request', 'Select the findings to be changed');
    const change = changeOf(fields);
    if (Object.keys(change).length === 0)
      throw new AppError('bad-request', 'Choose what to change: a status, a severity or an owner');
    const changed = await updateFindings(services, user, origin, ids.map(Number), change);
    const kept = new URLSearchParams(context.linkQuery);
    kept.set('done', String(changed.length));
    return redirectReply(`${FINDINGS_PAGE}?${kept}`, 303);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    return show(context, error);
  }
}

/** Of the fields of a form; empty ones change nothing, `-` as an owner means nobody. Throws `bad-request`. */
export function changeOf(fields: ReadonlyMap<string, string>): FindingChangeRequest {
  const field = (name: string): string => (fields.get(name) ?? '').trim();
  const [status] = statusesOf(field('status'));
  const [severity] = severitiesOf(field('severity'));
  const owner = field('owner');
  return {
    ...(status !== undefined && { status }),
    ...(severity !== undefined && { severity }),
    ...(owner !== '' && { owner: owner === NOBODY ? null : owner }),
  };
}

export const NOBODY = '-';

const STATUS_FILTERS = [
  ['open', 'Open'],
  ['', 'Any status'],
  ...STATUSES.map((name) => [name, name] as const),
] as const;
const SEVERITY_FILTERS = [
  ['', 'Any severity'],
  ['high,critical', 'high and critical'],
  ...SEVERITIES.toReversed().map((name) => [name, name] as const),
] as const;
const STATUS_CHOICES = [['', 'Status…'], ...STATUSES.map((name) => [name, name] as const)] as const;
const SEVERITY_CHOICES = [
  ['', 'Severity…'],
  ...SEVERITIES.map((name) => [name, name] as const),
] as const;

/** Said by its word and its number of bars, not by a colour alone. */
export function SeverityMark({ severity }: { severity: Severity }) {
  return (
    <span class={`kind severity ${severity}`} safe>
      {severity}
    </span>
  );
}

const columns: readonly Column<FindingLine>[] = [
  {
    label: 'Select',
    look: 'hidden',
    cell: ({ id, alert, key }) => (
      <td class="pick">
        <input
          type="checkbox"
          form="bulk"
          name={`finding-${id}`}
          value="on"
          aria-label={`Select ${alert}${key === '' ? '' : ` ${key}`}`}
        />
      </td>
    ),
  },
  {
    label: 'Severity',
    sort: 'severity_rank',
    cell: ({ severity }) => (
      <td>
        <SeverityMark severity={severity} />
      </td>
    ),
  },
  {
    label: 'Finding',
    sort: 'alert',
    cell: ({ id, alert, key }) => (
      <td class="text">
        <a href={`${FINDINGS_PAGE}/${id}`} safe>
          {alert}
        </a>
        {key !== '' && (
          <>
            <br />
            <span class="fine" safe>
              {key}
            </span>
          </>
        )}
      </td>
    ),
  },
  text('Status', 'status'),
  text('Owner', ({ owner }) => owner ?? '', { sort: 'owner' }),
  {
    label: 'Last seen',
    sort: 'last_seen',
    cell: ({ last_seen: at }) => (
      <td class="nowrap">
        <UtcTime at={at} />
      </td>
    ),
  },
  {
    label: 'Count',
    look: 'number',
    sort: 'count',
    cell: ({ count }) => (
      <td class="number">
        <Count value={count} />
      </td>
    ),
  },
];

export const findingsPage: Page<FindingsView> = {
  name: 'findings',
  layout: 'wide',
  title: () => 'Findings',
  styles: ['findings.css'],
  scripts: ['findings.js'],
  content: (view, frame) => (
    <>
      <Problem text={view.problem} />
      <Notice text={view.notice} />
      <p class="tools">
        <a class="button quiet small" href={ALERTS_PAGE}>
          Alerts
        </a>
      </p>
      <Filters filters={view.filters} />
      <Bulk view={view} frame={frame} />
      <div id="list">
        <div class="counted">
          <p class="fine" role="status" safe>
            {countText(view)}
          </p>
          <ExportMenu json={view.dataHref} files={view.files} />
        </div>
        {view.items.length === 0 ? (
          <Empty {...view} />
        ) : (
          <Rows
            label="Findings"
            columns={columns}
            items={view.items}
            sorts={view.sorts}
            around={null}
            lookOf={({ is_open: isOpen }) => (isOpen ? undefined : 'closed')}
          />
        )}
        <PageLinks previousHref={view.previousHref} nextHref={view.nextHref} />
      </div>
    </>
  ),
};

function Filters({ filters }: Pick<FindingsView, 'filters'>) {
  return (
    <form class="filter query" method="get" action={FINDINGS_PAGE} role="search" data-live="list">
      <label>
        Status
        <Select name="status" choices={STATUS_FILTERS} chosen={filters.status} />
      </label>
      <label>
        Severity
        <Select name="severity" choices={SEVERITY_FILTERS} chosen={filters.severity} />
      </label>
      <label>
        Owner
        <input
          name="owner"
          value={filters.owner}
          placeholder="- for nobody"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
        />
      </label>
      <SearchBox
        label="Words in alert, key or notes"
        name="search"
        value={filters.search}
        placeholder="Words in alert, key or notes"
        data-key="f"
      />
      <button class="quiet" type="submit">
        Filter
      </button>
    </form>
  );
}

/** The boxes of the rows belong to it. */
function Bulk({ view, frame }: { view: FindingsView; frame: FrameView }) {
  return (
    <PostForm id="bulk" class="bulk" frame={frame} to={view.address}>
      <label class="check all" hidden>
        <input type="checkbox" data-all aria-label="Select all that are shown" />
        <span data-picked>All</span>
      </label>
      <label>
        <span class="visually-hidden">New status</span>
        <Select name="status" choices={STATUS_CHOICES} chosen="" />
      </label>
      <label>
        <span class="visually-hidden">New severity</span>
        <Select name="severity" choices={SEVERITY_CHOICES} chosen="" />
      </label>
      <label>
        <span class="visually-hidden">New owner</span>
        <input
          name="owner"
          placeholder={frame.username === null ? 'Owner…' : `Owner… (you: ${frame.username})`}
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
        />
      </label>
      <button type="submit">Change the selected</button>
    </PostForm>
  );
}

function countText({ items, total, first, nextHref, previousHref }: FindingsView): string {
  const noun = total === 1 ? 'finding' : 'findings';
  if (previousHref === null && nextHref === null) return `${total} ${noun}`;
  if (items.length === 0) return `No more of ${total} findings`;
  return `Findings ${first} to ${first + items.length - 1} of ${total}`;
}

function Empty({ filters: { status, severity, owner, search } }: FindingsView) {
  const isFiltered = severity !== '' || owner !== '' || search !== '';
  if (isFiltered || (status !== 'open' && status !== '')) {
    return (
      <p class="empty">
        No finding matches. <a href={`${FINDINGS_PAGE}?status=`}>Show all of them</a>
      </p>
    );
  }
  return (
    <p class="empty">
      Nothing is open. What alerts find in events and datasets that you may read stands here.{' '}
      {status === 'open' && <a href={`${FINDINGS_PAGE}?status=`}>Show closed ones</a>}
    </p>
  );
}

/** @jsxImportSource @kitajs/html */
/** One finding: what caused it, who works on it, what was done. */
import { Elysia } from 'elysia';
import { AppError } from '../../base/errors.ts';
import { FINDINGS_PAGE } from '../../findings/finding-message.ts';
import { SEVERITIES, STATUSES } from '../../findings/finding.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import {
  type FindingEntry,
  findingHistory,
  type FindingView,
  getFinding,
  MAX_NOTES,
  updateFindings,
} from '../../operations/findings.ts';
import { problemText } from '../form-request.ts';
import type { FrameView, Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { text } from '../parts/cells.tsx';
import { PostForm, Select } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { type Column, Rows } from '../parts/table.tsx';
import { Count, Fact, UtcTime } from '../parts/values.tsx';
import { changeOf, NOBODY, SeverityMark } from './findings.tsx';

const html = { 200: { description: 'A page for people', mediaType: 'text/html', schema: null } };

export const findingPageRoute = new Elysia({ name: 'finding-page' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', cacheControl: PRIVATE, isExemptFromReadOnly: true } })
  .get(`${FINDINGS_PAGE}/:id`, ({ ask }) => show(ask), {
    describes: { summary: 'Show a finding', tag: 'findings', answers: html, errors: [404] },
  })
  .post(`${FINDINGS_PAGE}/:id`, ({ ask }) => take(ask), {
    describes: {
      summary: 'Take a form: change a finding',
      tag: 'findings',
      body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
      answers: { 303: { description: 'Done; back to the page', schema: null } },
      errors: [400, 403, 404, 409, 412],
    },
  });

interface OneFindingView {
  readonly finding: FindingView;
  readonly history: readonly FindingEntry[];
  readonly notice: string | null;
  readonly problem: string | null;
  /** Of a refused form. */
  readonly entered: ReadonlyMap<string, string> | null;
}

async function show(
  context: Context,
  refused: {
    readonly error: AppError;
    readonly entered: ReadonlyMap<string, string>;
  } | null = null,
): Promise<Reply> {
  const { services, user } = context;
  const id = context.intParameter('id');
  const view: OneFindingView = {
    finding: await getFinding(services, user, id),
    history: await findingHistory(services, user, id),
    notice: context.queryValue('done') === null ? null : 'The change is saved.',
    problem: refused === null ? null : problemText(refused.error),
    entered: refused?.entered ?? null,
  };
  return pageReply(context, findingPage, view, refused?.error ?? {});
}

async function take(context: Context): Promise<Reply> {
  const { services, user, origin } = context;
  const id = context.intParameter('id');
  const fields = (await context.form()) ?? new Map<string, string>();
  try {
    const version = Number(/^\d{1,15}$/.exec(fields.get('version') ?? '')?.[0] ?? -1);
    const notes = fields.get('notes')?.replaceAll('\r\n', '\n');
    if (notes !== undefined && notes.length > MAX_NOTES)
      throw new AppError('bad-request', `Notes have at most ${MAX_NOTES} characters`);
    const owner = (fields.get('owner') ?? '').trim();
    const change = {
      ...changeOf(new Map([...fields, ['owner', owner === '' ? NOBODY : owner]])),
      ...(notes !== undefined && { notes }),
    };
    await updateFindings(services, user, origin, [id], change, version);
    return redirectReply(`${FINDINGS_PAGE}/${id}?done=1`, 303);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    if (error.code === 'not-found') throw error;
    return show(context, { error, entered: fields });
  }
}

const historyColumns: readonly Column<FindingEntry>[] = [
  {
    label: 'When',
    cell: ({ at }) => (
      <td class="nowrap">
        <UtcTime at={at} />
      </td>
    ),
  },
  text('Who', ({ user }) => user ?? 'the alert'),
  text(
    'What',
    ({ action, details }) => `${SAID[action] ?? action}${details === null ? '' : `: ${details}`}`,
    {
      isLong: true,
    },
  ),
];

const SAID: Readonly<Record<string, string>> = {
  create_finding: 'fired',
  resolve_finding: 'ended',
  update_finding: 'changed',
};

function titleOf({ alert, key }: FindingView): string {
  return key === '' ? alert : `${alert}: ${key}`;
}

export const findingPage: Page<OneFindingView> = {
  name: 'finding',
  layout: 'wide',
  title: ({ finding }) => titleOf(finding),
  styles: ['findings.css'],
  scripts: ['findings.js'],
  trail: () => [{ label: 'Findings', href: FINDINGS_PAGE }],
  content: (view, frame) => (
    <>
      <Problem text={view.problem} />
      <Notice text={view.notice} />
      <div class="finding">
        <section aria-label="What it is">
          <Summary finding={view.finding} />
          <Cause finding={view.finding} />
        </section>
        <Work view={view} frame={frame} />
      </div>
      <h2>History</h2>
      <Rows label="History" columns={historyColumns} items={view.history} around={null} />
    </>
  ),
};

function Summary({ finding }: Pick<OneFindingView, 'finding'>) {
  const { severity, status, owner, count, alert_source: source } = finding;
  return (
    <dl class="facts">
      <Fact name="Severity">
        <SeverityMark severity={severity} />
      </Fact>
      <Fact name="Status">
        <span safe>{status}</span>
      </Fact>
      <Fact name="Owner">
        <span safe>{owner ?? 'nobody'}</span>
      </Fact>
      <Fact name="First seen">
        <UtcTime at={finding.first_seen} />
      </Fact>
      <Fact name="Last seen">
        <UtcTime at={finding.last_seen} />
      </Fact>
      {finding.closed_at !== null && (
        <Fact name="Closed">
          <UtcTime at={finding.closed_at} />
        </Fact>
      )}
      <Fact name="Times">
        <Count value={count} />
      </Fact>
      {source !== '' && (
        <Fact name="Defined in">
          <span safe>{source}</span>
        </Fact>
      )}
    </dl>
  );
}

function Cause({ finding }: Pick<OneFindingView, 'finding'>) {
  const { query, columns, rows, row_count: count, links } = finding;
  const shown: readonly Column<FindingView['rows'][number]>[] = columns.map((name) =>
    text(name, (row) => cellText(row[name]), { isLong: true }),
  );
  return (
    <>
      <h2>What caused it</h2>
      <pre class="query-text" safe>
        {query}
      </pre>
      <p class="tools">
        <a class="button quiet" href={links.events}>
          Show the events
        </a>{' '}
        <a class="button quiet" href={links.query}>
          Run the query
        </a>{' '}
        <span class="fine" safe>
          {count > rows.length ? `The first ${rows.length} of ${count} rows` : ''}
        </span>
      </p>
      {rows.length === 0 ? (
        <p class="empty">It has no rows: something was missing, or there were none.</p>
      ) : (
        <Rows label="Rows that caused it" columns={shown} items={rows} around={null} />
      )}
    </>
  );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function Work({ view, frame }: { view: OneFindingView; frame: FrameView }) {
  const { finding, entered } = view;
  const value = (name: string, otherwise: string): string => entered?.get(name) ?? otherwise;
  return (
    <section aria-label="Work on it">
      <h2>Work on it</h2>
      <PostForm
        class="stack"
        frame={frame}
        to={`${FINDINGS_PAGE}/${finding.id}`}
        fields={[['version', finding.version]]}
      >
        <label>
          Status
          <Select
            name="status"
            choices={STATUSES.map((name) => [name, name] as const)}
            chosen={value('status', finding.status)}
          />
        </label>
        <label>
          Severity
          <Select
            name="severity"
            choices={SEVERITIES.map((name) => [name, name] as const)}
            chosen={value('severity', finding.severity)}
          />
        </label>
        <label>
          Owner
          <input
            name="owner"
            value={value('owner', finding.owner ?? '')}
            placeholder={frame.username === null ? 'nobody' : `nobody (you: ${frame.username})`}
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
          />
        </label>
        <label>
          Notes
          <textarea name="notes" rows="6" maxlength={String(MAX_NOTES)} safe>
            {value('notes', finding.notes)}
          </textarea>
        </label>
        <button type="submit">Save</button>
      </PostForm>
    </section>
  );
}

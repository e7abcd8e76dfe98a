/** @jsxImportSource @kitajs/html */
/** One alert, or a new one: its form with a preview, and its runs. */
import type { PropsWithChildren } from '@kitajs/html';
import { Elysia } from 'elysia';
import type { AlertRun } from '../../alerts/store.ts';
import { AppError } from '../../base/errors.ts';
import { SEVERITIES } from '../../findings/finding.ts';
import type { Context } from '../../http/context.ts';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import { readOnlyMode } from '../../http/route.ts';
import { redirectReply, type Reply } from '../../http/reply/reply.ts';
import {
  type AlertView,
  approveAlert,
  createAlert,
  deleteAlert,
  getAlert,
  type LastRows,
  lastRowsOf,
  listAlertRuns,
  readDefinition,
  requireAllRights,
  runAlert,
  switchAlert,
  updateAlert,
} from '../../operations/alerts/alerts.ts';
import { type AlertPreview, previewAlert } from '../../operations/alerts/preview.ts';
import { problemText } from '../form-request.ts';
import type { FrameView, Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { text } from '../parts/cells.tsx';
import { PostButton, PostForm, Select } from '../parts/forms.tsx';
import { Notice, Problem } from '../parts/messages.tsx';
import { type Column, Rows } from '../parts/table.tsx';
import { Count, Fact, UtcTime } from '../parts/values.tsx';
import { type AlertFields, definitionOf, fieldsOf } from './alert-fields.ts';
import { ALERTS_PAGE, htmlAnswer, STATE_WORDS } from './alerts.tsx';

const NEW = `${ALERTS_PAGE}/new`;
const SHOWN_RUNS = 20;
const taken = {
  body: { mediaType: 'application/x-www-form-urlencoded', schema: null },
  answers: {
    200: { description: 'A preview', mediaType: 'text/html', schema: null },
    303: { description: 'Done; back to the page', schema: null },
  },
} as const;

export const alertPageRoute = new Elysia({ name: 'alert-page' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', cacheControl: PRIVATE, decidesReadOnly: true } })
  .get(NEW, ({ ask }) => showNew(ask), {
    describes: { summary: 'Show the form of a new alert', tag: 'findings', answers: htmlAnswer },
  })
  .post(NEW, ({ ask }) => take(ask, null), {
    describes: {
      summary: 'Take the form of a new alert',
      tag: 'findings',
      ...taken,
      errors: [400, 403, 422],
    },
  })
  .get(`${ALERTS_PAGE}/:id`, ({ ask }) => showOne(ask, ask.intParameter('id')), {
    describes: { summary: 'Show an alert', tag: 'findings', answers: htmlAnswer, errors: [404] },
  })
  .post(`${ALERTS_PAGE}/:id`, ({ ask }) => take(ask, ask.intParameter('id')), {
    describes: {
      summary: 'Take a form of an alert',
      tag: 'findings',
      ...taken,
      errors: [400, 403, 404, 409, 412, 422],
    },
  });

interface OneAlertView {
  /** Null: it is not made yet. */
  readonly alert: AlertView | null;
  readonly runs: readonly AlertRun[];
  readonly rows: LastRows | null;
  readonly fields: AlertFields;
  readonly preview: AlertPreview | null;
  readonly notice: string | null;
  readonly problem: string | null;
}

interface More {
  readonly entered?: AlertFields;
  readonly preview?: AlertPreview;
  readonly error?: AppError;
}

const NOTICES: Readonly<Record<string, string>> = {
  save: 'The alert is saved.',
  enable: 'The alert is on.',
  disable: 'The alert is off.',
  approve: 'It runs with your rights, as long as its file stays as it is.',
  run: 'It was run; see below.',
};

/** Taken from the explorer and from saved searches. */
const FIRST_FIELDS: AlertFields = {
  schedule: 'every 5m',
  window: '5m',
  when: 'rows',
  test: 'more_than',
  value: '0',
};

async function showNew(context: Context, more: More = {}): Promise<Reply> {
  const of = (name: string): AlertFields => {
    const value = context.queryValue(name)?.trim() ?? '';
    return value === '' ? {} : { [name]: value };
  };
  const asked = { ...of('query'), ...of('savedsearch'), ...of('title') };
  const fields = more.entered ?? { ...FIRST_FIELDS, ...asked };
  const view = { alert: null, runs: [], rows: null, fields, notice: null };
  return reply(context, view, more);
}

async function showOne(context: Context, id: number, more: More = {}): Promise<Reply> {
  const { services, user } = context;
  const alert = await getAlert(services, user, id);
  const runs = await listAlertRuns(services, user, id, { before: null, limit: SHOWN_RUNS });
  const rows = await lastRowsOf(services, user, id);
  const fields = more.entered ?? (alert.definition === null ? {} : fieldsOf(alert.definition));
  const notice = NOTICES[context.queryValue('done') ?? ''] ?? null;
  return reply(context, { alert, runs, rows, fields, notice }, more);
}

function reply(
  context: Context,
  view: Omit<OneAlertView, 'preview' | 'problem'>,
  { preview = undefined, error = undefined }: More,
): Promise<Reply> | Reply {
  const shown = {
    ...view,
    preview: preview ?? null,
    problem: error === undefined ? null : problemText(error),
  };
  return pageReply(context, alertPage, shown, error ?? {});
}

async function take(context: Context, id: number | null): Promise<Reply> {
  const { services, user } = context;
  const fields = (await context.form()) ?? new Map<string, string>();
  const action = fields.get('action') ?? '';
  const isForm = action === 'save' || action === 'preview';
  const entered = isForm ? { entered: Object.fromEntries(fields) } : {};
  const show = (more: More): Promise<Reply> =>
    id === null ? showNew(context, more) : showOne(context, id, more);
  try {
    requireAllRights(user);
    if (services.config.readonly && action !== 'preview') throw readOnlyMode();
    if (action === 'preview') {
      const definition = await readDefinition(services, user, definitionOf(fields));
      const preview = await previewAlert(services, user, definition, context.request.signal);
      return await show({ ...entered, preview });
    }
    return await act(context, id, action, fields);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500 || !context.wantsHtml) throw error;
    if (error.code === 'not-found') throw error;
    return show({ ...entered, error });
  }
}

async function act(
  context: Context,
  id: number | null,
  action: string,
  fields: ReadonlyMap<string, string>,
): Promise<Reply> {
  const { services, user, origin } = context;
  const done = (to: number): Reply => redirectReply(`${ALERTS_PAGE}/${to}?done=${action}`, 303);
  if (id === null) {
    if (action !== 'save') throw new AppError('bad-request', 'The form asks for nothing known');
    return done((await createAlert(services, user, origin, definitionOf(fields))).id);
  }
  switch (action) {
    case 'save': {
      const version = Number(/^\d{1,15}$/.exec(fields.get('version') ?? '')?.[0] ?? -1);
      const change = { id, body: definitionOf(fields), version };
      return done((await updateAlert(services, user, origin, change)).id);
    }
    case 'enable':
    case 'disable':
      await switchAlert(services, user, origin, { id, isOn: action === 'enable' });
      return done(id);
    case 'approve':
      await approveAlert(services, user, origin, { id, hash: fields.get('hash') ?? '' });
      return done(id);
    case 'run':
      await runAlert(services, user, origin, id);
      return done(id);
    case 'delete':
      await deleteAlert(services, user, origin, id);
      return redirectReply(`${ALERTS_PAGE}?done=delete`, 303);
    default:
      throw new AppError('bad-request', 'The form asks for nothing known');
  }
}

export const alertPage: Page<OneAlertView> = {
  name: 'alert',
  layout: 'wide',
  title: ({ alert }) => alert?.title ?? 'New alert',
  styles: ['findings.css'],
  scripts: ['findings.js'],
  trail: () => [{ label: 'Alerts', href: ALERTS_PAGE }],
  content: (view, frame) => (
    <>
      <Problem text={view.problem} />
      <Notice text={view.notice} />
      {view.alert !== null && <Facts alert={view.alert} frame={frame} />}
      {view.preview !== null && <Preview preview={view.preview} />}
      {view.alert?.source == null ? <Form view={view} frame={frame} /> : <Definition view={view} />}
      {view.alert !== null && <Runs view={view} />}
    </>
  ),
};

function Facts({ alert, frame }: { readonly alert: AlertView; readonly frame: FrameView }) {
  const { id, state, problem, source, owner, may_change: mayChange, missed, hash } = alert;
  const to = `${ALERTS_PAGE}/${id}`;
  return (
    <>
      <dl class="facts">
        <Fact name="State">
          <span safe>{STATE_WORDS[state]}</span>
        </Fact>
        <Fact name="Runs with the rights of">
          <span safe>{owner ?? 'nobody'}</span>
        </Fact>
        <Fact name="Next run">
          <UtcTime at={alert.next_run} none="none" isExact />
        </Fact>
        <Fact name="Missed">
          <Count value={missed} />
        </Fact>
        {source !== null && (
          <Fact name="Defined in">
            <a href={`/${source.split('/').map(encodeURIComponent).join('/')}`} safe>
              {source}
            </a>
          </Fact>
        )}
      </dl>
      {problem !== null && (
        <p class="problem" safe>
          {problem}
        </p>
      )}
      {mayChange && (
        <div class="bulk">
          {state === 'unapproved' && (
            <PostButton
              frame={frame}
              to={to}
              does="approve"
              fields={[['hash', hash ?? '']]}
              label="Approve: run it with my rights"
              look=""
            />
          )}
          {(state === 'on' || state === 'off' || state === 'stopped') && (
            <>
              <PostButton frame={frame} to={to} does="run" label="Run now" />{' '}
              {state === 'on' ? (
                <PostButton frame={frame} to={to} does="disable" label="Turn off" />
              ) : (
                <PostButton frame={frame} to={to} does="enable" label="Turn on" />
              )}
            </>
          )}{' '}
          {source === null && <PostButton frame={frame} to={to} does="delete" label="Delete" />}{' '}
          <a
            class="button quiet small"
            href={`/ui/findings?${new URLSearchParams({ search: alert.title })}`}
          >
            What it found
          </a>
        </div>
      )}
    </>
  );
}

/** Changed in its file, so only shown here. */
function Definition({ view: { alert } }: { readonly view: OneAlertView }) {
  const { definition, source } = alert!;
  return (
    <>
      <h2>Definition</h2>
      <p class="fine">
        It is changed in <span safe>{source}</span>, and nowhere else.
      </p>
      {definition !== null && (
        <pre class="query-text" safe>
          {JSON.stringify(definition, null, 2)}
        </pre>
      )}
    </>
  );
}

const CONDITIONS = [
  ['', 'No condition: only run it'],
  ['rows', 'Number of rows'],
  ['value', 'A column of any row'],
  ['change', 'Change against the run before'],
  ['no data', 'No rows at all'],
] as const;
const TESTS = [
  ['more_than', 'is more than'],
  ['less_than', 'is less than'],
  ['equals', 'equals'],
  ['not_equals', 'does not equal'],
] as const;
const DIRECTIONS = [
  ['', 'in either direction'],
  ['up', 'upwards'],
  ['down', 'downwards'],
] as const;
const SEVERITY_CHOICES = SEVERITIES.map((name) => [name, name] as const);

function Form({ view, frame }: { readonly view: OneAlertView; readonly frame: FrameView }) {
  const { alert, fields } = view;
  if (alert !== null && !alert.may_change) return '';
  const of = (name: string): string => fields[name] ?? '';
  const to = alert === null ? NEW : `${ALERTS_PAGE}/${alert.id}`;
  const version = fields['version'] ?? String(alert?.version ?? '');
  return (
    <>
      {alert !== null && <h2>Definition</h2>}
      <PostForm class="stack alert-form" frame={frame} to={to} fields={[['version', version]]}>
        <Text label="Title" name="title" value={of('title')} required />
        <Area label="Query" name="query" value={of('query')} rows="3" />
        <Text label="or the name of a saved search" name="savedsearch" value={of('savedsearch')} />
        <div class="bulk">
          <Text
            label="Schedule"
            name="schedule"
            value={of('schedule')}
            placeholder="every 5m, or 0 8 * * mon-fri"
            required
          />
          <Text label="Time zone" name="timezone" value={of('timezone')} placeholder="UTC" />
          <Text label="Window" name="window" value={of('window')} placeholder="5m; none: all" />
          <Text label="Delay" name="delay" value={of('delay')} placeholder="30s" />
        </div>
        <div class="bulk">
          <Labelled label="Condition">
            <Select name="when" choices={CONDITIONS} chosen={of('when')} />
          </Labelled>
          <Text label="Column" name="column" value={of('column')} />
          <Labelled label="Test">
            <Select name="test" choices={TESTS} chosen={of('test')} />
          </Labelled>
          <Text label="Value" name="value" value={of('value')} />
          <Labelled label="Of a change">
            <Select name="direction" choices={DIRECTIONS} chosen={of('direction')} />
          </Labelled>
          <label class="check">
            <input type="checkbox" name="percent" value="on" checked={of('percent') === 'on'} />
            in percent
          </label>
        </div>
        <div class="bulk">
          <Labelled label="Severity">
            <Select
              name="severity"
              choices={SEVERITY_CHOICES}
              chosen={of('severity') || 'medium'}
            />
          </Labelled>
          <Text
            label="A finding for each"
            name="by"
            value={of('by')}
            placeholder="columns, with commas"
          />
          <Text label="Quiet for" name="throttle" value={of('throttle')} placeholder="1h" />
          <Text label="After runs in a row" name="for" value={of('for')} placeholder="1" />
          <Text
            label="Ends after runs without it"
            name="resolve"
            value={of('resolve')}
            placeholder="by hand"
          />
        </div>
        <details open={of('mute') !== '' || of('deliveries') !== ''}>
          <summary>Mute windows and deliveries (JSON)</summary>
          <Area label="Mute" name="mute" value={of('mute')} rows="3" />
          <Area label="Deliveries" name="deliveries" value={of('deliveries')} rows="5" />
        </details>
        <p class="tools">
          <button type="submit" name="action" value="save">
            Save
          </button>{' '}
          <button type="submit" class="quiet" name="action" value="preview">
            Preview the last week
          </button>
        </p>
      </PostForm>
    </>
  );
}

function Labelled({ label, children }: PropsWithChildren<{ readonly label: string }>) {
  return (
    <label>
      <span safe>{label}</span>
      {children}
    </label>
  );
}

function Text({ label, ...input }: JSX.HtmlInputTag & { readonly label: string }) {
  return (
    <Labelled label={label}>
      <input autocomplete="off" spellcheck="false" {...input} />
    </Labelled>
  );
}

interface AreaProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly rows: string;
}

function Area({ label, name, value, rows }: AreaProps) {
  return (
    <Labelled label={label}>
      <textarea class="code" name={name} rows={rows} spellcheck="false" safe>
        {value}
      </textarea>
    </Labelled>
  );
}

const firingColumns: readonly Column<AlertPreview['firings'][number]>[] = [
  {
    label: 'When',
    cell: ({ at }) => (
      <td class="nowrap">
        <UtcTime at={at} isExact />
      </td>
    ),
  },
  text('For', ({ key }) => key),
  text('Rows', ({ rows }) => String(rows)),
];

function Preview({ preview }: { readonly preview: AlertPreview }) {
  const {
    fired,
    looked_at: looked,
    runs,
    failed,
    error,
    limit,
    quiet,
    resolved,
    firings,
  } = preview;
  return (
    <section aria-label="Preview">
      <h2 safe>
        {fired === 1 ? 'It would have fired once' : `It would have fired ${fired} times`}
      </h2>
      <p role="status" safe>
        {`${looked} of the ${runs} runs of the last week were looked at; ${resolved} ended by themselves, ${quiet} were throttled or muted, ${failed} runs failed.${limit === null ? '' : ` ${limit}.`}${error === null ? '' : ` The last failure: ${error}`}`}
      </p>
      {firings.length > 0 && (
        <Rows
          label="When it would have fired"
          columns={firingColumns}
          items={firings}
          around={null}
        />
      )}
    </section>
  );
}

const runColumns: readonly Column<AlertRun>[] = [
  {
    label: 'For',
    cell: ({ slot }) => (
      <td class="nowrap">
        <UtcTime at={slot} isExact />
      </td>
    ),
  },
  text('Kind', ({ kind }) => kind),
  text('State', ({ state }) => state),
  text('Took', ({ duration_ms: ms }) => (ms === null ? '' : `${ms} ms`)),
  text('Rows', ({ row_count: rows }) => String(rows ?? '')),
  text('Found', ({ fired }) => String(fired)),
  text('Ended', ({ resolved }) => String(resolved)),
  text('Quiet', ({ quiet }) => String(quiet)),
  text('Missed before', ({ missed }) => String(missed)),
  text('Error', ({ error }) => error ?? '', { isLong: true }),
];

function Runs({ view: { runs, rows } }: { readonly view: OneAlertView }) {
  return (
    <>
      {rows !== null && <LastRowsTable rows={rows} />}
      <h2>Runs</h2>
      {runs.length === 0 ? (
        <p class="empty">It has not run yet.</p>
      ) : (
        <Rows label="Runs" columns={runColumns} items={runs} around={null} />
      )}
    </>
  );
}

function LastRowsTable({ rows: { columns, rows, row_count: count } }: { readonly rows: LastRows }) {
  const shown: readonly Column<LastRows['rows'][number]>[] = columns.map((name) =>
    text(name, (row) => cellText(row[name]), { isLong: true }),
  );
  return (
    <>
      <h2>Last rows</h2>
      <p class="fine" safe>
        {count > rows.length ? `The first ${rows.length} of ${count} rows` : `${count} row(s)`}
      </p>
      {rows.length > 0 && <Rows label="Last rows" columns={shown} items={rows} around={null} />}
    </>
  );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

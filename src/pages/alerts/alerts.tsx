/** @jsxImportSource @kitajs/html */
/** All alerts that the reader sees, with their state and their last run. */
import { Elysia } from 'elysia';
import { lifecycle } from '../../http/lifecycle.ts';
import { PRIVATE } from '../../http/reply/headers.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Context } from '../../http/context.ts';
import { type AlertView, listAlerts } from '../../operations/alerts/alerts.ts';
import type { Page } from '../frame.tsx';
import { pageReply } from '../page-reply.ts';
import { text } from '../parts/cells.tsx';
import { Notice } from '../parts/messages.tsx';
import { type Column, Rows } from '../parts/table.tsx';
import { UtcTime } from '../parts/values.tsx';

export const ALERTS_PAGE = '/ui/alerts';
export const htmlAnswer = {
  200: { description: 'A page for people', mediaType: 'text/html', schema: null },
};

export const alertsPageRoute = new Elysia({ name: 'alerts-page' })
  .use(lifecycle)
  .guard({ checks: { access: 'user', cacheControl: PRIVATE } })
  .get(ALERTS_PAGE, ({ ask }) => show(ask), {
    describes: { summary: 'Show the alerts', tag: 'findings', answers: htmlAnswer },
  });

interface AlertsView {
  readonly alerts: readonly AlertView[];
  readonly isMore: boolean;
  readonly notice: string | null;
}

async function show(context: Context): Promise<Reply> {
  const { services, user } = context;
  const { alerts, isMore } = await listAlerts(services, user);
  const notice = context.queryValue('done') === 'delete' ? 'The alert is deleted.' : null;
  return pageReply(context, alertsPage, { alerts, isMore, notice });
}

/** In words, because a colour alone tells not everybody. */
export const STATE_WORDS: Readonly<Record<AlertView['state'], string>> = {
  on: 'on',
  off: 'off',
  stopped: 'stopped',
  unapproved: 'waits for approval',
  broken: 'broken',
  gone: 'gone',
};

const columns: readonly Column<AlertView>[] = [
  {
    label: 'Alert',
    cell: ({ id, title, source }) => (
      <td class="text">
        <a href={`${ALERTS_PAGE}/${id}`} safe>
          {title}
        </a>
        {source !== null && (
          <>
            <br />
            <span class="fine" safe>
              {source}
            </span>
          </>
        )}
      </td>
    ),
  },
  {
    label: 'State',
    cell: ({ state, problem }) => (
      <td>
        <span class={state === 'on' ? 'kind' : 'kind off'} title={problem ?? undefined} safe>
          {STATE_WORDS[state]}
        </span>
      </td>
    ),
  },
  text('Severity', ({ definition }) =>
    definition?.when === undefined ? 'search only' : (definition.severity ?? 'medium'),
  ),
  text('Schedule', ({ definition }) => definition?.schedule ?? ''),
  text('Owner', ({ owner }) => owner ?? 'nobody'),
  {
    label: 'Next run',
    cell: ({ next_run: at }) => (
      <td class="nowrap">
        <UtcTime at={at} none="" />
      </td>
    ),
  },
  {
    label: 'Last run',
    cell: ({ last_run: run }) => (
      <td class="nowrap">
        <UtcTime at={run?.ended_at ?? run?.started_at ?? null} />
        {run?.state === 'failed' && (
          <>
            {' '}
            <span class="kind off" title={run.error ?? undefined}>
              failed
            </span>
          </>
        )}
      </td>
    ),
  },
];

export const alertsPage: Page<AlertsView> = {
  name: 'alerts',
  layout: 'wide',
  title: () => 'Alerts',
  styles: ['findings.css'],
  scripts: ['findings.js'],
  content: ({ alerts, isMore, notice }) => (
    <>
      <Notice text={notice} />
      <p class="tools">
        <a class="button" href={`${ALERTS_PAGE}/new`}>
          New alert
        </a>{' '}
        <a class="button quiet" href="/ui/findings">
          What they found
        </a>
      </p>
      {alerts.length === 0 ? (
        <p class="empty">
          There are no alerts yet: searches that run on a schedule and tell when something is wrong.
        </p>
      ) : (
        <Rows label="Alerts" columns={columns} items={alerts} around={null} />
      )}
      {isMore && (
        <p class="fine">
          These are the first 200; <a href="/api/alerts/">the API</a> has them all.
        </p>
      )}
    </>
  ),
};

/** For superusers, and for any active API key, which is what a scraper holds. */
import { statfs } from 'node:fs/promises';
import type { AlertRunner } from '../alerts/runner.ts';
import { countAlerts } from '../alerts/store.ts';
import type { App } from '../app.ts';
import { Elysia } from 'elysia';
import { AppError } from '../base/errors.ts';
import type { Dispatcher } from '../deliveries/dispatcher.ts';
import type { QueueFigures } from '../deliveries/queue.ts';
import { countOpenFindings } from '../findings/store.ts';
import { bodyReply } from '../http/reply/reply.ts';
import { lifecycle } from '../http/lifecycle.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Viewer } from '../http/operation-description.ts';

/** Names of indexes: not for everybody with a key. */
const OF_INDEXES = /^svc_event_last_timestamp_seconds\{.*\n/gm;

export const metricsRoute = new Elysia({ name: 'metrics' }).use(lifecycle).get(
  '/metrics',
  async ({ ask: { user, services } }) => {
    if (!user.isSuperuser && user.apiKeyId === null) {
      throw new AppError('permission-denied', 'Superuser privileges required');
    }
    await services.metrics.look();
    const text = services.metrics.text();
    const shown = user.isSuperuser ? text : text.replace(OF_INDEXES, '');
    return bodyReply(shown, 'text/plain; version=0.0.4; charset=utf-8');
  },
  {
    checks: {
      access: 'user',
      hasJsonErrors: true,
      isListedFor: ({ caller }: Viewer) =>
        caller !== null && (caller.isSuperuser || caller.apiKeyId !== null),
    },
    describes: {
      summary: 'Read the metrics in the text format of Prometheus',
      tag: 'system',
      answers: { 200: { description: 'The metrics', mediaType: 'text/plain', schema: null } },
      errors: [403],
    },
  },
);

export function registerAlertMetrics(metrics: Metrics, { db }: App, runner: AlertRunner): void {
  let states: { state: string; n: number }[] = [];
  metrics.lookBefore(async () => {
    states = await countAlerts(db);
  });
  metrics.gauge('svc_alerts', 'Alerts by state.', () =>
    states.map(({ state, n }) => ({ labels: { state }, value: n })),
  );
  const counted = (name: string, help: string, value: () => number): void =>
    metrics.gauge(name, help, value, 'counter');
  metrics.gauge(
    'svc_alert_runs_total',
    'Runs of alerts by outcome.',
    () =>
      (['done', 'failed'] as const).map((outcome) => ({
        labels: { outcome },
        value: runner.figures[outcome],
      })),
    'counter',
  );
  metrics.summary('svc_alert_run_seconds', 'Time of the runs of alerts.', () => {
    const { done, failed, seconds } = runner.figures;
    return { sum: seconds, count: done + failed };
  });
  counted(
    'svc_alerts_fired_total',
    'Findings that alerts made or counted.',
    () => runner.figures.fired,
  );
  counted(
    'svc_alerts_resolved_total',
    'Findings that ended by themselves.',
    () => runner.figures.resolved,
  );
  counted(
    'svc_alert_missed_total',
    'Times of alerts that passed without a run.',
    () => runner.figures.missed,
  );
  metrics.gauge(
    'svc_alert_runs_waiting',
    'Runs of alerts that are due or under way.',
    () => runner.held,
  );
}

export function registerEventMetrics(
  metrics: Metrics,
  { events, ingestCounters, retention, searches, tails }: App,
): void {
  let newest: { index: string; newest: number | null }[] = [];
  metrics.lookBefore(async () => {
    newest = [];
    if (events.ingest.problem === null) newest = await events.indexTotals();
  });
  metrics.gauge('svc_event_last_timestamp_seconds', 'Time of the newest event, by index.', () =>
    newest.flatMap((one) =>
      one.newest === null ? [] : [{ labels: { index: one.index }, value: one.newest / 1e6 }],
    ),
  );
  metrics.gauge(
    'svc_events_total',
    'Events stored, by the way they came.',
    () =>
      ingestCounters.totals.stored.map(({ dialect, value }) => ({ labels: { dialect }, value })),
    'counter',
  );
  metrics.gauge(
    'svc_events_rejected_total',
    'Entries that were not stored; a request refused whole counts as one.',
    () =>
      ingestCounters.totals.rejected.map(({ dialect, reason, value }) => ({
        labels: { dialect, reason },
        value,
      })),
    'counter',
  );
  metrics.gauge(
    'svc_event_queue_events',
    'Events that wait to be written.',
    () => events.ingest.stats().events,
  );
  metrics.summary('svc_event_commit_seconds', 'Time of the commits of events.', () => {
    const { commitSeconds, commits } = events.ingest.stats();
    return { sum: commitSeconds, count: commits };
  });
  metrics.gauge(
    'svc_event_store_bytes',
    'Bytes of the event database in use, and of sealed events.',
    () => events.sizeIfOpen(),
  );
  metrics.gauge(
    'svc_events_sealed_total',
    'Events moved into Parquet files since the start.',
    () => events.sealing.count,
    'counter',
  );
  metrics.gauge(
    'svc_event_sealing_failed',
    '1 while events cannot be sealed, as on a full disk.',
    () => Number(events.sealing.problem !== null),
  );
  metrics.gauge(
    'svc_events_pruned_total',
    'Events deleted by retention.',
    () => [...retention.counts].map(([rule, value]) => ({ labels: { rule }, value })),
    'counter',
  );
  metrics.gauge(
    'svc_searches_total',
    'Queries run, by what came of them: rows, or the code of an error.',
    () => [...searches.outcomes].map(([outcome, value]) => ({ labels: { outcome }, value })),
    'counter',
  );
  metrics.summary('svc_search_seconds', 'Time until a query answered.', () => searches.times);
  metrics.gauge('svc_tail_streams', 'Live tails that are open.', () => tails.count);
}

export function registerDiskMetrics(metrics: Metrics, { config }: Pick<App, 'config'>): void {
  const folders = { published: config.docroot, state: config.state_dir };
  let free: { labels: { folder: string }; value: number }[] = [];
  metrics.lookBefore(async () => {
    free = [];
    const found = await Promise.allSettled(
      Object.entries(folders).map(async ([folder, path]) => {
        const { bavail, bsize } = await statfs(path);
        return { labels: { folder }, value: bavail * bsize };
      }),
    );
    free = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  });
  metrics.gauge('svc_disk_free_bytes', 'Bytes this process may still write.', () => free);
}

export function registerFindingMetrics(
  metrics: Metrics,
  { db, clock }: Pick<App, 'db' | 'clock'>,
  deliveries: Dispatcher,
): void {
  let queue: QueueFigures | null = null;
  let open: Awaited<ReturnType<typeof countOpenFindings>> = [];
  metrics.lookBefore(async () => {
    queue = null;
    open = [];
    [queue, open] = await Promise.all([deliveries.figures(), countOpenFindings(db)]);
  });
  metrics.gauge('svc_findings_open', 'Findings nobody has closed, by severity.', () =>
    open.map(({ severity, n }) => ({ labels: { severity }, value: n })),
  );
  metrics.gauge(
    'svc_deliveries_waiting',
    'Deliveries that wait to be sent.',
    () => queue?.waiting ?? null,
  );
  metrics.gauge('svc_deliveries_dead', 'Deliveries that were given up.', () => queue?.dead ?? null);
  metrics.gauge('svc_delivery_oldest_seconds', 'How long the oldest delivery has waited.', () => {
    if (queue === null) return null;
    return queue.oldest === null ? 0 : Math.max(0, (clock.now() - queue.oldest) / 1000);
  });
  metrics.gauge(
    'svc_deliveries_total',
    'Attempts to deliver, by channel and what came of them.',
    () =>
      (['sent', 'failed'] as const).flatMap((outcome) =>
        [...deliveries.counts[outcome]].map(([channel, value]) => ({
          labels: { channel, outcome },
          value,
        })),
      ),
    'counter',
  );
}
